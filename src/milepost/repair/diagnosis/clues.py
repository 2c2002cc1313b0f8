"""What the text of an error gives away: its telling line, its exception, and what is missing."""

from __future__ import annotations

import re

_EXCEPTION = re.compile(
    r"^[ \t|]*(?:E[ \t|]+)?(?:Uncaught |Caused by: |Exception in thread \S+ )?(?:[A-Za-z_]\w*\.)*"
    r"(?P<name>(?:[A-Z]\w*)?(?:Error|Exception|Warning|Exit|Interrupt|Expired|NotFound|Failed|Failure|Timeout|Fault|Group))"
    r"(?: \[\w+\])?(?::\s|:?$)",
    re.MULTILINE,
)
_COMPILER = re.compile(
    r"^(?:.*[:)]\s*)?(?:fatal )?error(?:\[E\d+\]| TS\d+)?:.*$|^\S+\.go:\d+(?::\d+)?: .*$|^panic: .*$"
    r"|^.*\bsyntax error\b.*$",
    re.MULTILINE,
)
_NOISE = re.compile(r"^(?:npm (?:ERR!|error)|Node\.js v\d|\^+$|~+$|-+$|=+$|make(?:\[\d+\])?: \*\*\*)")

_MISSING_MODULE = re.compile(
    r"""
      No\ module\ named\ (?P<python>['"]?[\w.-]+['"]?)
    | Cannot\ find\ (?:module|package)\ (?P<node>'[^'\n]+'|"[^"\n]+")
    | Failed\ to\ resolve\ import\ (?P<vite>"[^"\n]+"|'[^'\n]+')
    | Could\ not\ resolve\ (?P<bundler>"[^"\n]+")
    | unresolved\ imports?\ (?P<rust>`[^`\n]+`)
    | (?:undeclared\ crate\ or\ module|unresolved\ module\ or\ unlinked\ crate|can't\ find\ crate\ for
        |no\ matching\ package\ named)\ (?P<crate>`[^`\n]+`)
    | no\ required\ module\ provides\ package\ (?P<go>[^\s;:]+)
    | cannot\ find\ package\ (?P<gopath>"[^"\n]+")
    | package\ (?P<std>[\w./-]+)\ is\ not\ in\ (?:std|GOROOT)
    | package\ (?P<java>[\w.]+)\ does\ not\ exist
    """,
    re.VERBOSE,
)
_MISSING_FILE = re.compile(
    r"""
      No\ such\ file\ or\ directory:\ b?(?P<python>'[^'\n]+'|"[^"\n]+")
    | no\ such\ file\ or\ directory,\ \w+\ (?P<node>'[^'\n]+')
    | can't\ open\ file\ (?P<script>'[^'\n]+')
    | file\ or\ directory\ not\ found:\ (?P<pytest>\S+)
    | fatal\ error:\ (?P<header>\S+):\ No\ such\ file
    | not\ there\ afterwards:\ (?P<named>[^,\n]+)
    | (?:^|[\s:])(?P<shell>[^\s:'"]+):\ No\ such\ file\ or\ directory
    """,
    re.VERBOSE | re.MULTILINE,
)
_MISSING_PROGRAM = re.compile(
    r"""
      (?<![^\s:`'"])(?P<bash>[^\s:`'"]{1,200}):\ command\ not\ found
    | (?:^|:\s)(?P<dash>[^\s:`'"]+):\ not\ found\s*$
    | (?:^|[\s:])not\ found:\ (?P<ours>[^\s:`'"]+)\s*$
    | '(?P<path>[^'\n]+)'\ is\ not\ on\ PATH
    | exec:\ "(?P<exec>[^"\n]+)":\ executable\ file\ not\ found
    | spawn\ (?P<spawn>[^\s:]+)\ ENOENT
    """,
    re.VERBOSE | re.MULTILINE,
)
_SOURCE_PLACE = re.compile(
    r"""File\ "(?P<python>[^"\n]+)",\ line\ \d+
      | (?<![\w./@+-])(?P<place>[\w./@+-]{1,200}\.[A-Za-z]\w{0,4})(?=[:(]\d+)
      | -->\ (?P<rust>[^\s:]+):\d+""",
    re.VERBOSE,
)


def error_line(text: str) -> str:
    """The line that tells most: the last exception, else the first error of a compiler, else the last line."""
    if exceptions := list(_EXCEPTION.finditer(text)):
        return _line_at(text, exceptions[-1].start("name"))
    if error := _COMPILER.search(text):
        return _line_at(text, error.end() - 1)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.match(line.strip())]
    return lines[-1] if lines else ""


def exception_name(line: str) -> str:
    """The bare name of the exception that a line begins with; empty when it begins with none."""
    found = _EXCEPTION.match(line)
    return found["name"] if found else ""


def missing_module(text: str) -> str:
    """The module that an error names as missing, as it is written there; empty when it names none."""
    return _last(_MISSING_MODULE, text)


def missing_file(text: str) -> str:
    """The file that an error names as missing, as it is written there; empty when it names none."""
    return _last(_MISSING_FILE, text)


def missing_program(text: str) -> str:
    """The program that could not be found; empty when the text speaks of none."""
    return _last(_MISSING_PROGRAM, text)


def source_place(text: str) -> str:
    """The last source file that an error points to with a line; empty when it points to none."""
    return _last(_SOURCE_PLACE, text)


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = [next(filter(None, match.groups()), "") for match in pattern.finditer(text)]
    return found[-1].strip("'\"`").strip() if found else ""


def _line_at(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)].strip()
    return re.sub(r"^(?:E\s+)?[|\s]*", "", line)
