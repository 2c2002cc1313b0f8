"""The texts that a new Python module is made from."""

from __future__ import annotations

from milepost.agents.patterns.new_module.functions import Type

MODULE = '''\
"""{description}"""

{names}

__version__ = "0.1.0"
'''

FUNCTION = '''

def {name}({parameters}) -> {returns}:
    """Return {told}."""
    return {expression}
'''

MAIN = '''\
"""The command line: python3 -m {name}."""

import argparse
import sys
from collections.abc import Sequence

import {name}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="{name}", description={name}.__doc__)
    parser.add_argument("--version", action="version", version={name}.__version__)
{body}
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

MAIN_WITHOUT_FUNCTIONS = """\
    parser.parse_args(arguments)
    parser.print_help()"""

MAIN_WITH_FUNCTIONS = """\
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
{parsers}
    asked = parser.parse_args(arguments)
    if asked.command is None:
        parser.print_help()
{calls}"""

SERVER = '''\
"""The service: GET /health, and a POST for each function, with JSON in and out."""

import json
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import {name}

Answer = tuple[int, dict[str, object]]
LARGEST_BODY = 1_000_000


class BadRequest(Exception):
    """Says what is wrong with a request."""


def answer(method: str, path: str, body: bytes) -> Answer:
    """Return the status and the content that answer a request."""
    if (method, path) == ("GET", "/health"):
        return 200, {{"status": "ok", "version": {name}.__version__}}
    call = CALLS.get(path)
    if call is None:
        return 404, {{"error": f"there is nothing at {{path}}"}}
    if method != "POST":
        return 405, {{"error": f"{{path}} takes only POST"}}
    try:
        given = json.loads(body)
        if not isinstance(given, dict):
            raise BadRequest("the body must be an object")
        return 200, {{"result": call(given)}}
    except (BadRequest, ValueError, RecursionError) as error:
        return 400, {{"error": str(error)}}
    except ArithmeticError as error:
        return 422, {{"error": str(error)}}


def make_server(port: int = 0) -> ThreadingHTTPServer:
    """Return a server that listens on this machine only; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


class Handler(BaseHTTPRequestHandler):
    """Reads a request and sends the answer."""

    timeout = 30

    def do_GET(self) -> None:
        self._reply(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self._send(413, {{"error": f"the body must be at most {{LARGEST_BODY}} bytes"}})
            return
        self._reply(self.rfile.read(int(length)))

    def log_message(self, format: str, *args: object) -> None:
        """Keep the requests to itself."""

    def _reply(self, body: bytes) -> None:
        status, content = answer(self.command, self.path, body)
        self._send(status, content)

    def _send(self, status: int, content: Mapping[str, object]) -> None:
        encoded = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

{readers}
Given = Mapping[str, object]
CALLS: dict[str, Callable[[Given], object]] = {calls}


def main() -> None:
    """Serve until interrupted, on the port that is given."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with make_server(port) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
'''

READERS: dict[Type, str] = {
    "text": """
def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a text")
    return value
""",
    "integer": """
def _integer(given: Mapping[str, object], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"{name} must be a whole number")
    return value
""",
    "number": """
def _number(given: Mapping[str, object], name: str) -> float:
    value = given.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadRequest(f"{name} must be a number")
    return value
""",
    "boolean": """
def _boolean(given: Mapping[str, object], name: str) -> bool:
    value = given.get(name)
    if not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false")
    return value
""",
}

TESTS = '''\
"""Tests of {name}."""

{imports}


class {title}Test(unittest.TestCase):
    def test_it_says_what_it_is_for(self) -> None:
        self.assertIn({description}, {name}.__doc__ or "")

    def test_its_version_is_numbers_between_dots(self) -> None:
        self.assertRegex({name}.__version__, r"^\\d+\\.\\d+\\.\\d+")
{tests}

if __name__ == "__main__":
    unittest.main()
'''

FUNCTION_TEST = """
    def test_{function}_gives_what_its_examples_say(self) -> None:
{asserts}
"""

CLI_TESTS = """
    def test_without_a_command_it_shows_its_help(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(main([]), 0)
        self.assertIn("usage: {name}", output.getvalue())

    def test_it_tells_its_version(self) -> None:
        with (
            contextlib.redirect_stdout(io.StringIO()) as output,
            self.assertRaises(SystemExit) as end,
        ):
            main(["--version"])
        self.assertEqual(end.exception.code, 0)
        self.assertEqual(output.getvalue().strip(), {name}.__version__)

    def test_an_unknown_option_is_misuse(self) -> None:
        with (
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit) as end,
        ):
            main(["--no-such-option"])
        self.assertEqual(end.exception.code, 2)
"""

CLI_FUNCTION_TEST = """
    def test_the_command_{function}_prints_what_the_function_gives(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(main([{words}]), 0)
        self.assertEqual(output.getvalue(), str({call}) + "\\n")
"""

API_TESTS = """
    def test_it_tells_its_health_over_the_network(self) -> None:
        with make_server() as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
                connection.request("GET", "/health")
                response = connection.getresponse()
                content = json.loads(response.read())
                connection.close()
            finally:
                server.shutdown()
                thread.join()
        self.assertEqual(response.status, 200)
        self.assertEqual(content, {{"status": "ok", "version": {name}.__version__}})

    def test_what_it_does_not_know_is_not_found(self) -> None:
        self.assertEqual(answer("GET", "/nowhere", b"")[0], 404)
"""

API_FUNCTION_TEST = """
    def test_{function}_is_served(self) -> None:
        self.assertEqual(
            answer("POST", "/{function}", {body}),
            (200, {{"result": {expected}}}),
        )
        self.assertEqual(answer("GET", "/{function}", b"")[0], 405)
        self.assertEqual(answer("POST", "/{function}", b"[]")[0], 400)
"""
