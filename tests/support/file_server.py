"""A web server on this machine that serves the files of a directory, and misbehaves on request; and files for it."""

import gzip
import hashlib
import io
import random
import threading
import time
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from hietan.datasets.fetching.registry import Remote


class Handler(SimpleHTTPRequestHandler):
    """The first part of the path names a fault, one of FAULTS or cut, cut-once, wrong, gone, slow; or it is well."""

    def do_GET(self):
        _, fault, rest = self.path.split("/", 2)
        self.path = f"/{rest}"
        self.server.requests.append((fault, rest))
        if self.headers.get("User-Agent", "").startswith(("python-requests", "Python-urllib")):
            self.send_error(403)
        elif fault == "gone":
            self.send_error(404)
        elif fault == "slow":
            time.sleep(self.server.delay)
            self.send_error(500)
        elif fault in ("cut", "cut-once"):
            self.cut(again=fault == "cut")
        elif fault in FAULTS:
            FAULTS[fault](self)
        elif fault == "wrong":
            self.answer(b"something else")
        else:
            super().do_GET()

    def content(self):
        with open(self.translate_path(self.path), "rb") as file:
            return file.read()

    def cut(self, again):
        """Promise the whole file, send half of it and hang up."""
        content = self.content()
        if not again and ("cut-once", self.path[1:]) in self.server.requests[:-1]:
            return self.answer(content)
        self.answer(content[: len(content) // 2], promised=len(content))
        self.close_connection = True
        return None

    def answer(self, content, promised=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) if promised is None else promised))
        self.end_headers()
        self.wfile.write(content)

    def redirect(self, target):
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def without_length(self, content):
        """Send this and hang up: the end of the connection is the end of the file."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)
        self.close_connection = True

    def go_on(self, piece, pause, headers=()):
        """Send the same piece again and again, until the client hangs up."""
        self.send_response(302 if headers else 200)
        for header in dict(headers).items():
            self.send_header(*header)
        self.end_headers()
        while True:
            self.wfile.write(piece)
            time.sleep(pause)

    def trickle_header(self):
        """Send a header without end, byte by byte."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while True:
            self.wfile.write(b"x")
            time.sleep(0.05)

    def trickle_chunk(self):
        """Send the size of a chunk without end, byte by byte."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;")
        while True:
            self.wfile.write(b"x")
            time.sleep(0.05)

    def log_message(self, *arguments):
        pass


FAULTS = {
    "empty": lambda handler: handler.answer(b""),
    "empty-unsaid": lambda handler: handler.without_length(b""),
    "page": lambda handler: handler.answer(b"\n<!DOCTYPE html><html><body>Please log in.</body></html>\n"),
    "json": lambda handler: handler.answer(b'{"error": 404}'),
    "half": lambda handler: handler.without_length(handler.content()[: len(handler.content()) // 2 + 5]),
    "nothing": lambda handler: (handler.send_response(204), handler.end_headers()),
    "moved": lambda handler: handler.redirect(f"/well{handler.path}"),
    "circle": lambda handler: handler.redirect(f"/circle{handler.path}"),
    "elsewhere": lambda handler: handler.redirect("https://evil.example/file.txt"),
    "insecure": lambda handler: handler.redirect("http://github.com/file.txt"),
    "endless-moved": lambda handler: handler.go_on(b"x" * 65536, 0, {"Location": "/well/file.txt"}),
    "nowhere": lambda handler: handler.redirect("https://[evil/file.txt"),
    "disk": lambda handler: handler.redirect("file:///etc/hostname"),
    "huge": lambda handler: handler.answer(b"x" * 1000, promised=1 << 50),
    "endless": lambda handler: handler.go_on(b"a line of text\n" * 4096, 0),
    "trickle-header": Handler.trickle_header,
    "trickle-chunk": Handler.trickle_chunk,
    "trickle": lambda handler: handler.go_on(b"x", 0.05),
}


class Server(ThreadingHTTPServer):
    """One that keeps quiet about clients who hang up."""

    daemon_threads, block_on_close = True, False

    def handle_error(self, request, client_address):
        pass


@contextmanager
def serving(directory, delay=60.0):
    """The server, with its `address` and the list of `requests` it got as (fault, path)."""
    server = Server(("127.0.0.1", 0), partial(Handler, directory=str(directory)))
    server.requests, server.delay = [], delay
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ------------------------------------------------------------------------------------------ files to serve


def zipped(name, content):
    """An archive of one file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, content)
    return packed.getvalue()


PUBLISHED = {
    "ontology/go-basic.obo": b"format-version: 1.2\n\n[Term]\nid: GO:1\n",
    "annotations/gaf/CAEEL-mod.gaf.gz": gzip.compress(
        b"!gaf-version: 2.2\n" + random.Random(0).randbytes(99).hex().encode()
    ),
    "models_genes.zip": zipped("genage_models.csv", "symbol,organism\n"),
    "gene2go.gz": gzip.compress(b"#tax_id\tGeneID\tGO_ID\n"),
}
CONTENT = b"line of a file\n" * 5000
HASH = hashlib.sha256(CONTENT).hexdigest()


def remote(server, *faults, path="made-up/file.txt"):
    """The file with CONTENT, at an address for each fault."""
    return Remote(path, tuple(f"{server.address}/{fault}/file.txt" for fault in faults), "a test")
