"""Asks a vendor something and reads the answer; whatever is amiss becomes one line that says what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from milepost.core.errors import TargetRefused
from milepost.core.shipping import VendorCall, VendorCommand, VendorReply
from milepost.ship.targets.vendor import Steps
from milepost.ship.vendor_shell import TIMED_OUT

SIGN_IN = {
    "kubectl": "check the context and its account (kubectl auth whoami)",
    "skopeo": "sign in to the registry (skopeo login)",
    "aws": "sign in (aws sso login, or aws configure)",
    "gcloud": "sign in (gcloud auth login)",
    "az": "sign in (az login)",
    "api.heroku.com": "set HEROKU_API_KEY to a token of this account (heroku authorizations:create)",
    "api.digitalocean.com": "set DIGITALOCEAN_ACCESS_TOKEN to a token that may read and write apps",
    "api.vercel.com": "set VERCEL_TOKEN to a token of this account or team",
    "api.netlify.com": "set NETLIFY_AUTH_TOKEN to a personal access token",
}
_CREDENTIALS = re.compile(
    r"ExpiredToken|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidAccessKeyId|AuthFailure"
    r"|Unable to locate credentials|AccessDenied|PERMISSION_DENIED|UNAUTHENTICATED|invalid_grant|AADSTS\d"
    r"|az login|gcloud auth login|gcloud config set account|Unauthorized|unauthorized|AuthorizationFailed"
    r"|provide credentials|must be logged in|\(Forbidden\)|is forbidden|authentication required"
)
_QUOTA = re.compile(r"QuotaExceeded|quota exceeded|exceeded quota|[Qq]uota|LimitExceeded|TooMany\w+Exception")
_THROTTLED = re.compile(r"Throttling|Rate exceeded|Too Many Requests|TooManyRequests|RATE_LIMIT")
_TOO_OLD = re.compile(
    r"unrecognized arguments|unknown (?:shorthand )?flag|[Uu]nknown options|Invalid choice|invalid choice"
    r"|unknown command|is misspelled or not recognized"
)
_ABSENT = re.compile(
    r"\(NotFound\)|NotFound\b|not be found|[Nn]ot found|Cannot find|NOT_FOUND|No Environment found|does not exist"
)
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A part of what a vendor answered, and who it was."""

    of: str
    value: object

    def at(self, *path: str | int) -> Answer | None:
        """The part at a path; None where nothing, or null, is there."""
        value = self.value
        for step in path:
            match value, step:
                case dict(), str():
                    value = value.get(step)
                case list(), int():
                    value = value[step] if -len(value) <= step < len(value) else None
                case _:
                    value = None
        return None if value is None else Answer(of=self.of, value=value)

    def text(self, *path: str | int) -> str:
        """The text that must be there."""
        found = self.at(*path)
        if found is None or not isinstance(found.value, str) or not found.value:
            raise self.strange(*path)
        return found.value

    def maybe(self, *path: str | int) -> str:
        """The text at a path, empty where there is none."""
        found = self.at(*path)
        return found.value if found is not None and isinstance(found.value, str) else ""

    def number(self, *path: str | int) -> int:
        """The number at a path, 0 where there is none: vendors leave zeros out."""
        found = self.at(*path)
        return found.value if found is not None and isinstance(found.value, int) else 0

    def each(self, *path: str | int) -> tuple[Answer, ...]:
        """The parts of a list; none where there is no list, which is how vendors write an empty one."""
        found = self.at(*path)
        if found is None:
            return ()
        if not isinstance(found.value, list):
            raise self.strange(*path)
        return tuple(Answer(of=self.of, value=value) for value in found.value)

    def strange(self, *path: str | int) -> TargetRefused:
        place = ".".join(map(str, path)) or "what is documented"
        return TargetRefused(
            f"{self.of} answered in a shape that is not known: there is no {place} in it",
            "its interface may have changed: update milepost, or its client",
        )


def ask(call: VendorCall) -> Steps[Answer]:
    """What a vendor answers; TargetRefused where it does not do what it is asked."""
    reply = yield call
    if not reply.ok:
        raise refusal(call, reply)
    return _read(call, reply)


def ask_if_there(call: VendorCall) -> Steps[Answer | None]:
    """The same, and None where it says that there is no such thing."""
    reply = yield call
    if reply.ok:
        return _read(call, reply)
    if is_absent(call, reply):
        return None
    raise refusal(call, reply)


def tell(call: VendorCall, *also_done: int) -> Steps[VendorReply]:
    """Have a vendor do something whose answer is not read. The codes `also_done` say that it was done before."""
    reply = yield call
    if not reply.ok and reply.code not in also_done:
        raise refusal(call, reply)
    return reply


def is_absent(call: VendorCall, reply: VendorReply) -> bool:
    if isinstance(call, VendorCommand):
        return reply.code != TIMED_OUT and bool(_ABSENT.search(reply.text))
    return reply.code == 404


def refusal(call: VendorCall, reply: VendorReply) -> TargetRefused:
    """Why a call was not done, in a line, and what to do."""
    who = of(call)
    said = _line(reply.text)
    command = isinstance(call, VendorCommand)
    wait = f" for {reply.retry_after_s:.0f} s" if reply.retry_after_s else ""
    if command and reply.code == TIMED_OUT:
        return TargetRefused(f"{who} did not end within {call.timeout_s:.0f} s", "look at the target, then try again")
    if not command and reply.code == 0:
        return TargetRefused(
            f"the connection to {who} was cut ({said})", "what is there is found again: deploy once more"
        )
    if command and _TOO_OLD.search(reply.text):
        return TargetRefused(f"{who} does not know what it is asked, and is perhaps too old: {said}", f"update {who}")
    if reply.code == 429 or (command and _THROTTLED.search(reply.text)):
        return TargetRefused(f"{who} takes no more requests{wait}", "wait, then deploy once more")
    if reply.code == 402 or _QUOTA.search(reply.text):
        return TargetRefused(f"{who} refuses because of a quota: {said}", "raise the quota, or free what is not needed")
    if reply.code in (401, 403) or (command and _CREDENTIALS.search(reply.text)):
        return TargetRefused(
            f"{who} does not accept the credentials: {said}", SIGN_IN.get(who, "look at its credentials")
        )
    if not command and reply.code >= 500:
        return TargetRefused(f"{who} fails at the moment ({reply.code}): {said}", "wait, then deploy once more")
    return TargetRefused(f"{who} refuses ({reply.code}): {said}", "")


def of(call: VendorCall) -> str:
    return call.argv[0] if isinstance(call, VendorCommand) else urlsplit(call.url).hostname or call.url


def _read(call: VendorCall, reply: VendorReply) -> Answer:
    answer = Answer(of=of(call), value=reply.answer)
    if reply.answer is None and reply.text.strip():
        raise answer.strange()
    return answer


def _line(text: str) -> str:
    """What matters of what was said, in one line: the line that names an error, else the last."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"(?i)error|denied|refused|fail", line)] or lines[-1:]
    return telling[0][:_LONGEST_LINE] if telling else "it said nothing"
