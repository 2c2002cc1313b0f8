"""An application whose faults are put into one instance of it, or all, while it runs: GET /fault/KIND/VALUE."""

from __future__ import annotations

import http.client
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.deploying import Deployed, deployed

FAULTY = """
import http.client, os, random, socket, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
fault, held = {}, []
def spin():
    until = time.monotonic() + fault["spin"]
    while time.monotonic() < until: pass
class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status = 200
        if self.path.startswith("/fault/"):
            _, _, kind, value = self.path.split("/")
            fault[kind] = float(value)
            if kind == "dies": open("dies", "w").close()  # also those that are started later
            if kind == "spin":
                threading.Thread(target=spin, daemon=True).start()
        elif self.path == "/health":
            status = 500 if fault.get("ill") else 200
        else:
            if os.path.exists("dies"): os._exit(9)
            if fault.get("leak"): held.append(b"x" * int(fault["leak"]))
            if fault.get("slow"): time.sleep(fault["slow"])
            if fault.get("depends"):
                try: socket.create_connection(("127.0.0.1", int(fault["depends"])), 0.3).close()
                except OSError: status = 500
            if fault.get("busy"):
                until = time.thread_time() + fault["busy"]
                while time.thread_time() < until: pass
            if fault.get("fill"):
                try: print("x" * int(fault["fill"]), flush=True)
                except OSError: status = 507
            if random.random() < fault.get("errors", 0):
                status = 500
                print("ERROR it cannot be done", flush=True)
        body = b"done"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True
Server(("127.0.0.1", int(os.environ["PORT"])), Request).serve_forever()
"""
SETTINGS = f"""
[targets.local]
command = ["{sys.executable}", "-I", "-S", "app.py"]
health_path = "/health"
instances = [3, 5]
soak_s = 0.5
start_timeout_s = 30
"""


@contextmanager
def faulty(folder: Path, more: str = "") -> Iterator[Deployed]:
    """A project with this application, of which two releases were deployed."""
    with deployed(folder, SETTINGS + more) as project:
        project.place.write("app.py", FAULTY)
        project.deploy("one")
        project.deploy("two")
        yield project


def inject(project: Deployed, kind: str, value: float, *, only: int | None = None) -> None:
    """Put a fault into all instances of what is live, or into one of them."""
    target = project.target()
    instances = target.instances(target.shown()[0])
    for at, instance in enumerate(instances):
        if only is None or at == only:
            with closing(http.client.HTTPConnection("127.0.0.1", instance.port, timeout=10)) as connection:
                connection.request("GET", f"/fault/{kind}/{value}")
                connection.getresponse().read()
