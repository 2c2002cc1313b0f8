"""Makes the calls that targets ask for: a client of the user's in the user's environment, or a documented request."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from milepost.core.errors import TargetRefused
from milepost.core.secrets.redact import Redactor, secrets_of
from milepost.core.shipping import SecretValue, VendorCall, VendorCommand, VendorReply, VendorRequest
from milepost.core.terminal_escapes import without_escapes
from milepost.ship.vendor_http import send

TIMED_OUT = 124
ATTEMPTS = 4
LONGEST_WAIT_S = 120.0
# What a client is heard saying; of more, the end.
MOST_HEARD = 32_000_000
MOST_SHOWN = 1_000_000
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})


class VendorShell:
    """Runs one call at a time. `folder` is where clients are started: one of ours, so that none reads a repository.

    `addresses` says where else an origin is, for tests with a server on loopback.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        folder: Path,
        *,
        pause: Callable[[float], None] = time.sleep,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = environ
        self._folder = folder
        self._addresses = addresses or {}
        self._hidden = set(secrets_of(environ))
        self.pause = pause

    def redact(self, text: str) -> str:
        """A text without the secrets of the environment and of the calls that were made, and fit for a terminal."""
        return Redactor(self._hidden)(without_escapes(text))

    def __call__(self, call: VendorCall) -> VendorReply:
        match call:
            case VendorCommand():
                return self._run(call)
            case VendorRequest():
                return self._send(call)
            case _:
                assert_never(call)

    def _run(self, command: VendorCommand) -> VendorReply:
        path = os.pathsep.join(part for part in self._environ.get("PATH", "").split(os.pathsep) if part.startswith("/"))
        program = shutil.which(command.argv[0], path=path)
        if program is None:
            raise TargetRefused(f"there is no {command.argv[0]!r} on PATH", "install it: docs/targets.md says which")
        given = None if command.stdin is None else self._written(command.stdin)
        started = subprocess.Popen(
            (program, *command.argv[1:]),
            env={**self._environ, "PATH": path, **dict(command.environment)},
            cwd=self._folder,
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = started.communicate(given, timeout=command.timeout_s)
            code = started.returncode
        except subprocess.TimeoutExpired:
            _kill(started)
            out, err = started.communicate()
            code = TIMED_OUT
        except BaseException:
            _kill(started)
            started.wait()
            raise
        heard = out[-MOST_HEARD:].decode(errors="replace")
        # Clients warn on standard error whatever they do; of one that failed it is what matters.
        said = heard if code in (0, TIMED_OUT) else err.decode(errors="replace") + heard
        return self._reply(ok=code == 0, code=code, said=said, answer=_json(heard))

    def _send(self, request: VendorRequest) -> VendorReply:
        token = self._value(request.token_from) if request.token_from else ""
        content = None if request.json is None else self._written(request.json)
        for attempt in range(ATTEMPTS):
            heard = send(request, token, content, self._addresses)
            said = heard.content.decode(errors="replace")
            reply = self._reply(
                ok=200 <= heard.status < 300,
                code=heard.status,
                said=said,
                answer=_json(said),
                retry_after_s=heard.retry_after_s,
            )
            wait = wait_before_retry(request.repeatable or request.method in _REPEATABLE, reply, attempt)
            if wait is None:
                return reply
            self.pause(wait)
        return reply

    def _reply(
        self, *, ok: bool, code: int, said: str, answer: object, retry_after_s: float | None = None
    ) -> VendorReply:
        text = self.redact(said[-MOST_SHOWN:])
        return VendorReply(ok=ok, code=code, text=text, retry_after_s=retry_after_s, answer=answer)

    def _written(self, value: object) -> bytes:
        """What is handed over with a call: JSON with the values of secrets in it, or a value by itself."""
        if isinstance(value, SecretValue):
            return self._value(value.variable).encode()
        return json.dumps(value, default=self._of_secret).encode()

    def _of_secret(self, value: object) -> str:
        if isinstance(value, SecretValue):
            return self._value(value.variable)
        raise TypeError(f"{value!r} cannot be sent")

    def _value(self, variable: str) -> str:
        value = self._environ.get(variable, "")
        if not value:
            raise TargetRefused(f"the variable {variable} is not set", f"export {variable} and try again")
        self._hidden.add(value)
        return value


def wait_before_retry(repeatable: bool, reply: VendorReply, attempt: int) -> float | None:
    """The seconds until a request is sent again; None when it is not.

    One that may have been done is never repeated, unless that changes nothing. A 429 says that nothing was done.
    """
    if reply.ok or attempt + 1 >= ATTEMPTS:
        return None
    refused_unseen = reply.code == 429
    failed = reply.code == 0 or reply.code >= 500
    if not (refused_unseen or (failed and repeatable)):
        return None
    wait = reply.retry_after_s if reply.retry_after_s is not None else 2.0**attempt
    return wait if wait <= LONGEST_WAIT_S else None


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _kill(started: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
