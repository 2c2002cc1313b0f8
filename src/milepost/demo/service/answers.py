"""Answers `GET /1h30m` with its seconds."""

import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from durations.parse import parse


def seconds(text):
    return parse(text) if text else 0


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        try:
            status, body = 200, str(seconds(self.path.strip("/"))).encode()
        except ValueError:
            traceback.print_exc()
            status, body = 500, b"it cannot be told"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
