"""The check that a change adds no credentials; what it found is named by its place, never shown."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.secrets.redact import Redactor
from milepost.core.secrets.shapes import MASK, mask_tokens
from milepost.core.verdict import CheckResult
from milepost.verify.checks.files import listed
from milepost.verify.judging.paths import is_test_path

PIECE, OVERLAP = 2000, 400

_LOCK_FILES = re.compile(
    r"(.*\.lock|.*-lock\.(json|ya?ml)|go\.sum|.*\.sum|requirements.*\.txt|.*\.min\.js|.*\.map|.*\.svg)"
)
_IN_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"<>{}$]{1,100}:(?P<password>[^\s/@'\"<>{}$]{6,200})@")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(\\n|[\s\"'+])*[A-Za-z0-9+/=]{40,}")
_NAMED = re.compile(
    r"""(?ix) (?:(?:api|private|access|auth)[_-]?key|secret|passw(?:or)?d|token|credential)[\w\-]{0,40}
    ["']?\s*(?::\s*\w+\s*)?(?:=|:|=>|:=)\s*(?P<quote>["'`])(?P<value>[^"'`\s]{8,200})(?P=quote)"""
)
_ANYWHERE = PurePosixPath("text")
_WORD = re.compile(r"([a-z]+|[A-Z]+|[A-Z][a-z]+|)\d{0,4}")
_PLACEHOLDER = re.compile(
    r"(?i)example|changeme|change[_-]me|placeholder|your[_-]|dummy|fake|sample|redacted|not[_-]?a[_-]?real|test|xxx+|\*{3,}|\.\.\."
    r"|todo|insert|replace|^<.*>$|^\$|\{\{|\$\{|%\(|^0+$|^1234|1234567|abcdef|deadbeef|hunter2|secret$|^password|letmein|foobar|localhost"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsCheck:
    """`redact` knows the secrets of the user's environment, which have no shape to know them by."""

    change: Change
    redact: Callable[[str], str] = str

    def run(self, workspace: Workspace) -> CheckResult:
        found = tuple(place for file in self.change.files for place in leaks(file, self.redact))
        if found:
            summary = f"credentials in the change: {listed(found)}"
            return CheckResult(name="secrets", outcome="failed", summary=summary, log="\n".join(found))
        return CheckResult(name="secrets", outcome="passed", summary="no credentials in the change")


def leaks(file: ChangedFile, redact: Callable[[str], str] = str) -> Iterator[str]:
    """The places of credentials that a file has now and had not before, as `path:line (what)`."""
    if file.after is None or file.is_link or b"\0" in file.after[:8000]:
        return
    before = set(file.text_before.splitlines())
    path = PurePosixPath(file.path)
    if _PRIVATE_KEY.search(file.text_after) and not _PRIVATE_KEY.search(file.text_before):
        yield f"{file.path} (a private key)"
    for number, line in enumerate(file.text_after.splitlines(), start=1):
        if line in before or "PRIVATE KEY-----" in line:
            continue
        what = next(filter(None, (_leak(piece, path) for piece in _pieces(line))), "")
        if _by_shape(redact(line)) != _by_shape(line):
            what = "a secret from your environment"
        if what:
            yield f"{file.path}:{number} ({what})"


def without_credentials(text: str) -> str:
    """A text whose lines with what looks like a credential are masked, wherever they come from."""
    return "".join(_without_credential(line) for line in text.splitlines(keepends=True))


def _without_credential(line: str) -> str:
    if not any(_leak(piece, _ANYWHERE) for piece in _pieces(line)):
        return line
    end = line[len(line.rstrip("\r\n")) :]
    return f"{MASK}{end}"


def _by_shape(line: str) -> str:
    return Redactor()(line)


def _pieces(line: str) -> Iterator[str]:
    """A long line in pieces that overlap, so that none is searched for long."""
    for start in range(0, max(len(line), 1), PIECE - OVERLAP):
        yield line[start : start + PIECE]


def _leak(line: str, path: PurePosixPath) -> str:
    """What kind of credential a line holds, empty for none."""
    is_lock = _LOCK_FILES.fullmatch(path.name) is not None
    masked = mask_tokens(line)
    if masked != line:
        part = _masked_part(line, masked)
        if not _PLACEHOLDER.search(part) and (_is_random(part) or not is_test_path(str(path))):
            return "a token"
    found = _IN_ADDRESS.search(line)
    if found and _is_random(found["password"]) and not _PLACEHOLDER.search(found["password"]):
        return "a password in an address"
    if is_lock or is_test_path(str(path)):
        return ""
    named = _NAMED.search(line)
    if named and _is_random(named["value"]) and not _PLACEHOLDER.search(named["value"]):
        return "what looks like a password or key"
    if _is_environment(path):
        return _environment_value(line)
    return ""


def _masked_part(line: str, masked: str) -> str:
    """What the mask stands for: the part between the beginning and the end that both lines share."""
    start = masked.find(MASK)
    tail = masked[masked.rfind(MASK) + len(MASK) :]
    return line[start : len(line) - len(tail) if tail else None]


def _is_environment(path: PurePosixPath) -> bool:
    name = path.name
    is_example = re.search(r"example|sample|template|dist|defaults|test", name) is not None
    return (name == ".env" or name.startswith(".env.") or name.endswith(".env")) and not is_example


def _environment_value(line: str) -> str:
    found = re.match(
        r"\s*(?:export\s+)?(\w*(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIALS?)\w*)\s*=\s*[\"']?([^\s\"'#]{6,})", line
    )
    return "a secret in an environment file" if found and not _PLACEHOLDER.search(found[2]) else ""


def _is_random(value: str) -> bool:
    """Whether a text looks drawn, not written: long enough, of several kinds of characters, no words or code."""
    if len(value) < 12 or not re.fullmatch(r"[A-Za-z0-9+/=_\-.!@#$%^&*~]+", value):
        return False
    if all(_WORD.fullmatch(word) for word in re.split(r"[._\-/]", value)):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^A-Za-z0-9]"))
    counts = Counter(value)
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return kinds >= 2 and bool(re.search(r"\d", value)) and entropy >= 3.2
