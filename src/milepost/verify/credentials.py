"""Credentials that a changed file has now and had not before: their places, and the file without them.

They are looked for in all that a commit keeps of a file: its lines, its bytes where they are no text, what either says
once it is decoded, its name, and where it is a link, what it points to.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from milepost.core.change import LARGEST_READ, ChangedFile, MaskedFile
from milepost.core.secrets.decoded_views import decoded_views
from milepost.core.secrets.redact import Redactor
from milepost.core.secrets.shapes import MASK, has_signs, mask_tokens, tokens_in
from milepost.verify.judging.paths import is_test_path

PIECE, OVERLAP = 2000, 400

_LOCK_FILES = re.compile(
    r"(.*\.lock|.*-lock\.(json|ya?ml)|go\.sum|.*\.sum|requirements.*\.txt|.*\.min\.js|.*\.map|.*\.svg)"
)
_IN_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"<>{}$]{1,100}:(?P<password>[^\s/@'\"<>{}$]{6,200})@", re.ASCII
)
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
_SUSPICIOUS = re.compile(r"(?i)key|secret|passw|token|credential|://")  # what no credential but a token is without
_FROM_ENVIRONMENT = "a secret from your environment"

# Knows the secrets of the user's environment, which have no shape to know them by.
Redact = Callable[[str], str]
_Found = tuple[str, str]  # of what kind it is, and itself


def leaks(file: ChangedFile, redact: Redact = str) -> Iterator[str]:
    """The places of credentials that a file has now and had not before, as `path:line (what)`."""
    if file.after is None:
        return
    shown = masked_name(file.path, redact)
    if file.is_new and shown != file.path:
        yield f"{shown} (a secret in its name)"
    if file.is_link:
        if _in_line(file.text_after, _ANYWHERE, redact):
            yield f"{shown} (a secret in what the link points to)"
        return
    if _is_text(file):
        yield from _in_text(file, shown, redact)
    else:
        yield from (f"{shown} ({what})" for what in _new_in(file, _in_bytes, redact))
    yield from (f"{shown} ({what}, encoded)" for what in _new_in(file, _in_views, redact))


def masked_file(file: ChangedFile, redact: Redact = str) -> MaskedFile | None:
    """The file as it may be kept, where it may not be as it is."""
    places = tuple(leaks(file, redact))
    if not places:
        return None
    path = masked_name(file.path, redact) if file.is_new else file.path
    content = file.after or b""
    if file.is_link:
        content = _without_credential(file.text_after, redact).encode()
    elif _is_text(file):
        content = _masked_text(file, redact).encode()
    clean = ChangedFile(path=file.path, before=file.before, after=content, mode=file.mode)
    if any(not place.endswith("in its name)") for place in leaks(clean, redact)):
        content = MASK.encode()
    return MaskedFile(path=path, content=content, places=places)


def masked_name(path: str, redact: Redact = str) -> str:
    """A path whose parts are masked as far as they are credentials."""
    return "/".join(_masked_part_of_name(part, redact) for part in path.split("/"))


def without_credentials(text: str) -> str:
    """A text whose lines with what looks like a credential are masked, wherever they come from."""
    lines = text.splitlines(keepends=True)
    return "".join(_without_credential(line) if _SUSPICIOUS.search(line) or has_signs(line) else line for line in lines)


def shown_text(text: str, redact: Redact) -> str:
    """A text as people and models may see it, which need not be one that was checked: a diff, a file of the base."""
    return without_credentials(redact(text))


def _is_text(file: ChangedFile) -> bool:
    content = file.after or b""
    return b"\0" not in content[:8000] and len(content) <= LARGEST_READ


def _in_text(file: ChangedFile, shown: str, redact: Redact) -> Iterator[str]:
    before = set(file.text_before.splitlines())
    path = PurePosixPath(file.path)
    if _PRIVATE_KEY.search(file.text_after) and not _PRIVATE_KEY.search(file.text_before):
        yield f"{shown} (a private key)"
    for number, line in enumerate(file.text_after.splitlines(), start=1):
        if line in before or "PRIVATE KEY-----" in line:
            continue
        if what := _in_line(line, path, redact):
            yield f"{shown}:{number} ({what})"


def _in_line(line: str, path: PurePosixPath, redact: Redact) -> str:
    """What kind of credential a line holds, empty for none."""
    if _is_known(line, redact):
        return _FROM_ENVIRONMENT
    return next(filter(None, (_leak(piece, path) for piece in _pieces(line))), "")


def _new_in(file: ChangedFile, find: Callable[[bytes, Redact], Iterator[_Found]], redact: Redact) -> list[str]:
    """The kinds of credentials that are found in what a file is now and were not in what it was."""
    after = set(find(file.after or b"", redact))
    return sorted({what for what, _ in after.difference(find(file.before or b"", redact))}) if after else []


def _in_views(content: bytes, redact: Redact) -> Iterator[_Found]:
    """The credentials in what bytes say once they are decoded."""
    return (found for view in decoded_views(content) for found in _in_bytes(view, redact))


def _in_bytes(content: bytes, redact: Redact) -> Iterator[_Found]:
    """The credentials in bytes that are no text, or too many to be read line by line."""
    text = content.decode("latin-1")
    if _is_known(text, redact):
        yield _FROM_ENVIRONMENT, ""
    if not has_signs(text):
        return
    if key := _PRIVATE_KEY.search(text):
        yield "a private key", key[0]
    for piece in _pieces(text):
        yield from (("a token", token) for token in _tokens_in(piece) if _is_random(token))


def _masked_text(file: ChangedFile, redact: Redact) -> str:
    before, path = set(file.text_before.splitlines()), PurePosixPath(file.path)
    text = mask_tokens(file.text_after) if _PRIVATE_KEY.search(file.text_after) else file.text_after
    lines = text.splitlines(keepends=True)
    return "".join(line if line.rstrip("\r\n") in before else _without_credential(line, redact, path) for line in lines)


def _without_credential(line: str, redact: Redact = str, path: PurePosixPath = _ANYWHERE) -> str:
    """A line without its credential: the whole of it masked where it is not certain which part that is."""
    if not _in_line(line, path, redact):
        return line
    end = line[len(line.rstrip("\r\n")) :]
    shown = Redactor()(redact(line.rstrip("\r\n")))
    return f"{MASK if _in_line(shown, path, redact) or shown == line.rstrip() else shown}{end}"


def _masked_part_of_name(part: str, redact: Redact) -> str:
    if _is_known(part, redact):
        return redact(part)
    return mask_tokens(part) if any(map(_is_random, _tokens_in(part))) else part


def _is_known(text: str, redact: Redact) -> bool:
    shown = redact(text)
    return shown != text and _by_shape(shown) != _by_shape(text)


def _by_shape(line: str) -> str:
    return Redactor()(line)


def _pieces(line: str) -> Iterator[str]:
    """A long line in pieces that overlap, so that none is searched for long."""
    for start in range(0, max(len(line), 1), PIECE - OVERLAP):
        yield line[start : start + PIECE]


def _tokens_in(line: str) -> list[str]:
    """What has the shape of a token in a line and is no placeholder."""
    return [token for token in tokens_in(line) if not _PLACEHOLDER.search(token)]


def _leak(line: str, path: PurePosixPath) -> str:
    """What kind of credential a piece of a line holds, by what it looks like; empty for none."""
    is_lock = _LOCK_FILES.fullmatch(path.name) is not None
    if any(_is_random(token) or not is_test_path(str(path)) for token in _tokens_in(line)):
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
