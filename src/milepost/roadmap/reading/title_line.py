"""What the line with the box says: the id of a task, its labels, its title, and what it depends on."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from milepost.roadmap.reading.ids import split_id
from milepost.roadmap.reading.titles import LONGEST_LINE, bold_start, perhaps_depends, plain, split_depends

_LABEL = re.compile(r"\[(?:(?P<parallel>P)|(?P<story>US-?[0-9]{1,4}))\](?=\s|$)\s*")
# Tags that other tools put behind a title, each a span of code.
_TAGS = re.compile(r"(?:\s*`(?:risk|est|estimate|effort|size|priority):[^`]*`)+$", re.IGNORECASE)
# Bold that only counts: the words after it are the title.
_COUNTING = re.compile(r"(?:step|phase|part|stage|milestone|sprint|week|day|item|story|epic)\s+\S+", re.IGNORECASE)
_NUMBERED = re.compile(r"T[0-9]{3,6}[A-D]?")
_PATH = r"(?:\.?[\w@+-][\w@.+-]*/)+[\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,5}"
_SOURCE = r"[\w-]+\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|h|cpp|sql|toml)"
_QUOTED_PATH = re.compile(rf"`(?:\./)?({_PATH}|{_SOURCE})`")
_LAST_PATHS = re.compile(
    r"\b(?:in|at|to|into|create|add|write|implement|update|edit|extend)\s+"
    rf"((?:\./)?{_PATH}(?:(?:,|,?\s+and)\s+(?:\./)?{_PATH})*)\.?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleLine:
    """A title line, taken apart.

    `wording` is all of it but id, labels and dependencies, which a derived id is made of; `rest` is what of that is not
    in the title: what follows a bold title, and tags. `perhaps` names what it depends on, if tasks are called so.
    `files` are only those that nobody could take for something else.
    """

    explicit: str
    title: str
    wording: str
    rest: str = ""
    depends: str = ""
    perhaps: str = ""
    parallel: bool = False
    story: str = ""
    files: tuple[str, ...] = ()


def title_line(written: str, series: Collection[str] = ()) -> TitleLine:
    """What a title line says; `series` are letters that this roadmap makes ids of."""
    written, beyond = written[:LONGEST_LINE], written[LONGEST_LINE:]
    line, depends = split_depends(plain(written))
    explicit, labels, wording = _split(line.strip(), series)
    title, rest = wording, ""
    if "**" in written or "__" in written:
        title, rest = _bold_title(written, wording, series)
    if tags := _TAGS.search(title):
        title, rest = title[: tags.start()].strip(), f"{tags[0].strip()} {rest}".strip()
    story = next((label["story"] for label in labels if label["story"]), "")
    speckit = bool(labels) or _NUMBERED.fullmatch(explicit) is not None
    return TitleLine(
        explicit=explicit,
        title=title or wording,
        wording=wording + beyond,
        rest=(rest if title else "") + beyond,
        depends=depends,
        perhaps=perhaps_depends(wording),
        parallel=any(label["parallel"] for label in labels),
        story=story,
        files=_files(wording) if speckit else (),
    )


def _split(line: str, series: Collection[str]) -> tuple[str, list[re.Match[str]], str]:
    """The id and the labels that a line starts with, in any order, and its words."""
    explicit, words = split_id(line, series)
    labels = []
    while found := _LABEL.match(words):
        labels.append(found)
        words = words[found.end() :]
        if not explicit:
            explicit, words = split_id(words, series)
    return (explicit, labels, words) if words else (explicit, [], line if not explicit else words)


def _bold_title(written: str, wording: str, series: Collection[str]) -> tuple[str, str]:
    """The bold words that a line starts with and what follows them; all of it where those make no title."""
    _, _, left = _split(written.strip(), series)
    bold, left = bold_start(left)
    words = _words_of(bold, series)
    if bold and not words:  # the id alone was bold
        bold, left = bold_start(left.lstrip(" :.–—-"))
        words = _words_of(bold, series)
    if " " not in words or _COUNTING.fullmatch(words) or not wording.startswith(words):
        return wording, ""
    return words, wording[len(words) :].lstrip(" :.,–—-")


def _words_of(bold: str, series: Collection[str]) -> str:
    """What bold text says beside an id, labels and dependencies."""
    _, _, words = _split(split_depends(bold)[0].strip(), series)
    return words.rstrip(" :")


def _files(wording: str) -> tuple[str, ...]:
    """The paths in the title of a task as spec-kit writes it: quoted as code, or named last."""
    found = [match[1] for match in _QUOTED_PATH.finditer(wording)]
    if last := _LAST_PATHS.search(wording):
        found += re.split(r",\s+(?:and\s+)?|\s+and\s+", last[1])
    return tuple(dict.fromkeys(path.removeprefix("./") for path in found))
