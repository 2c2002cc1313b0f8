"""Requirements files read as pip reads them, with what they include, and what in them is the project's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from milepost.sandbox.read_plain import plain_text

NAMES = re.compile(
    r"(requirements|(?:dev|test|tests|testing|ci)[-_.]requirements"
    r"|requirements[-_.](?:base|main|dev|develop|development|test|tests|testing|ci))\.(txt|pip)"
)
NAMES_IN_FOLDER = re.compile(r"(requirements|base|main|dev|develop|development|test|tests|testing|ci)\.(txt|pip)")
ARCHIVES = (".whl", ".tar.gz", ".zip")

_INCLUDE = re.compile(r"(-r|--requirement|-c|--constraint)[ =]?\s*(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)[ =]?\s*(.+)")
_LINKS = re.compile(r"(?:-f|--find-links)[ =]\s*(\S+)")
_COMMENT = re.compile(r"(^|\s)#.*$")
_LOCAL = re.compile(r"(?P<path>(?:file:)?\.{0,2}/[^\[;]*|\.{1,2})(?:\[(?P<extras>[^]]*)\])?\s*(?:;.*)?")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s;,\"']+", re.IGNORECASE)
_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalProject:
    """A folder of the checkout that is asked for as a package, with these of its extras."""

    folder: str
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What the requirements files of a folder ask for.

    `lines` and `constraints` are for pip. `local` are packages of the checkout itself. `archives` are files of the
    checkout that pip would install from, relative to its top. `sources` are the places packages come from that a line
    names: whoever chooses the place chooses the package.
    """

    lines: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    local: tuple[LocalProject, ...] = ()
    archives: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()

    @property
    def hashed(self) -> bool:
        return any("--hash" in line for line in self.lines)

    def __add__(self, other: Requirements) -> Requirements:
        return Requirements(
            lines=tuple(dict.fromkeys(self.lines + other.lines)),
            constraints=tuple(dict.fromkeys(self.constraints + other.constraints)),
            local=self.local + other.local,
            archives=tuple(dict.fromkeys(self.archives + other.archives)),
            sources=self.sources | other.sources,
            missing=self.missing + other.missing,
        )


def requirements_of(top: Path, folder: str) -> Requirements:
    """What the requirements files for running and testing in a folder of the checkout `top` ask for."""
    return sum((_read(top, file, 0) for file in files_in(top, folder)), start=Requirements())


def files_in(top: Path, folder: str) -> tuple[str, ...]:
    """The requirements files in a folder that are about running and testing; those about docs, say, are not."""
    place = top / folder
    own = sorted(path for path in _files(place) if NAMES.fullmatch(path.name))
    below = sorted(path for path in _files(place / "requirements") if NAMES_IN_FOLDER.fullmatch(path.name))
    return tuple(path.relative_to(top).as_posix() for path in (*own, *below))


def sources_in(text: str) -> frozenset[str]:
    """The places that addresses in a text lead to: host and path, without who asks or which version."""
    return frozenset(_place(found) for found in _URL.findall(text))


def inside(top: Path, path: PurePosixPath) -> str | None:
    """A path below the checkout's top, in its plain form; None for one that leads out of it, also by a link."""
    real_top = top.resolve()
    try:
        return (real_top / path).resolve().relative_to(real_top).as_posix()
    except (ValueError, OSError, RuntimeError):
        return None


def _read(top: Path, file: str, depth: int) -> Requirements:
    where = inside(top, PurePosixPath(file))
    text = _text(top / where) if where is not None and depth < _DEEPEST else None
    if text is None:
        return Requirements(missing=(file,))
    found = Requirements()
    for line in _lines(text):
        found = found + _line(top, PurePosixPath(file).parent, line, depth)
    return found


def _line(top: Path, folder: PurePosixPath, line: str, depth: int) -> Requirements:
    if include := _INCLUDE.fullmatch(line):
        included = _read(top, str(folder / include[2]), depth + 1)
        if include[1] in ("-r", "--requirement"):
            return included
        return replace(included, lines=(), constraints=included.lines + included.constraints, local=())
    if links := _LINKS.fullmatch(line):
        return _find_links(top, folder, links[1], line)
    editable = _EDITABLE.fullmatch(line)
    asked = (editable[1] if editable else line).strip()
    if local := _LOCAL.fullmatch(asked):
        return _local(top, local["path"].removeprefix("file:").strip(), local["extras"] or "")
    return Requirements(lines=(line,), sources=sources_in(line))


def _local(top: Path, path: str, extras: str) -> Requirements:
    """pip reads such a path from where it is started, the top of the project, not from where the file is."""
    where = None if path.startswith("/") else inside(top, PurePosixPath(path))
    missing = Requirements(missing=(path,))
    if where is None:
        return missing
    if (top / where).is_dir():
        named = tuple(name.strip() for name in extras.split(",") if name.strip())
        return Requirements(local=(LocalProject(folder="" if where == "." else where, extras=named),))
    return Requirements(lines=(f"./{where}",), archives=(where,)) if (top / where).is_file() else missing


def _find_links(top: Path, folder: PurePosixPath, place: str, line: str) -> Requirements:
    if "://" in place or place.startswith("/"):
        return Requirements(lines=(line,), sources=sources_in(line) or frozenset({place}))
    where = inside(top, folder / place)
    if where is None:
        return Requirements(missing=(place,))
    kept = tuple(path.relative_to(top.resolve()).as_posix() for path in sorted(_files(top.resolve() / where)))
    return Requirements(lines=(f"--find-links ./{where}",), archives=tuple(k for k in kept if k.endswith(ARCHIVES)))


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        if bare := _COMMENT.sub("", line).strip():
            yield bare


def _place(address: str) -> str:
    parts = urlsplit(address)
    return f"{(parts.hostname or '').lower()}{parts.path.partition('@')[0].rstrip('/')}"


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    except OSError:
        return []


def _text(path: Path) -> str | None:
    try:
        return plain_text(path)
    except OSError:
        return None
