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

from hietan.datasets._fetching.registry import Remote


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

    def trickle(self):
        """Send a byte now and then, until the client hangs up."""
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"x")
            time.sleep(0.05)

    def log_message(self, *arguments):
        pass


FAULTS = {
    "empty": lambda handler: handler.answer(b""),
    "page": lambda handler: handler.answer(b"\n<!DOCTYPE html><html><body>Please log in.</body></html>\n"),
    "nothing": lambda handler: (handler.send_response(204), handler.end_headers()),
    "moved": lambda handler: handler.redirect(f"/well{handler.path}"),
    "circle": lambda handler: handler.redirect(f"/circle{handler.path}"),
    "insecure": lambda handler: handler.redirect(
        f"http://localhost:{handler.server.server_port}/well/file.txt"
    ),
    "trickle": Handler.trickle,
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
