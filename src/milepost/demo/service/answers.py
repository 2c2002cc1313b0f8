"""Answers `GET /1h30m` with its seconds."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from durations.parse import parse

FAILING = 0
asked = []


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        text = self.path.strip("/")
        asked.append(text)
        failed = FAILING and text and len(asked) % FAILING == 0
        body = str(parse(text) if text else 0).encode()
        self.send_response(500 if failed else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
