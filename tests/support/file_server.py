"""A web server on this machine that serves the files of a directory, and misbehaves on request."""

import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    """The first part of the path names a fault: /cut/..., /wrong/..., /gone/..., /slow/..., /well/..."""

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
        elif fault == "wrong":
            self.answer(b"something else")
        else:
            super().do_GET()

    def cut(self, again):
        """Promise the whole file, send half of it and hang up."""
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
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

    def log_message(self, *arguments):
        pass


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
