"""What a plain run says beside one on the source of the base: work that only keeps it from running is no better."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from milepost.core.change import Change
from milepost.verify.judging.paths import JAVASCRIPT, PYTHON, suffix
from milepost.verify.plain.outcome import FileOutcome, Unit
from milepost.verify.plain.run import PlainRun

_MODULE = re.compile(rb"^\s*(import|export)\b", re.MULTILINE)


def old_files(change: Change, product: Iterable[str]) -> dict[str, bytes | None]:
    """The product's files as they were; those that were not there are empty modules: what asks for them still runs."""
    files = (file for path in product if (file := change.file(path)) is not None and not file.unread)
    return {file.path: _stub(file.path, file.after) if file.before is None else file.before for file in files}


def _stub(path: str, after: bytes | None) -> bytes | None:
    if suffix(path) in PYTHON:
        return b""
    if suffix(path) in JAVASCRIPT:
        return b"export default undefined;\n" if _MODULE.search(after or b"") else b"module.exports = {};\n"
    return None


def is_doubtful(tried: FileOutcome, units: tuple[Unit, ...], now: PlainRun) -> bool:
    """Whether a run came to nothing, or to less than it could: the base must tell whether that is the work's doing."""
    ran = now.result is not None  # else it was never begun, for a reason that lies in the file
    return ran and (bool(tried.problem) or bool(_apart(units, now)))


def beside_base(
    tried: FileOutcome, units: tuple[Unit, ...], now: PlainRun, old: PlainRun, hidden: tuple[str, ...] = ()
) -> FileOutcome:
    """What the run comes to, knowing how the same tests ran on the source of the base.

    A failure that names a file of `hidden` comes from the surroundings, whoever's it is.
    """
    deciding = tuple(id_ for unit in units if unit.decides for id_ in unit.ids)
    if now.problem and not old.problem:
        said = f"at the base they run to their end, now: {now.problem}"
        return replace(tried, broke=deciding, said=said, problem="")
    for unit in units:
        word, text = now.endings.get(unit.place, ("passed", ""))
        stood = old.endings.get(unit.place, ("", ""))[0]
        if not unit.decides and word not in ("passed", "unfit") and stood == "passed" and not _names(text, hidden):
            said = f"{unit.place} fails as well, and passes at the base: {text}"
            return replace(tried, broke=deciding, said=said, problem="")
    if tried.problem:
        return tried
    kept_back = [
        (unit, text)
        for unit, text in _apart(units, now)
        if old.endings.get(unit.place, ("apart", ""))[0] != "apart" and not _names(text, hidden)
    ]
    ids = tuple(id_ for unit, _ in kept_back for id_ in unit.ids)
    said = tried.said or next((text for _, text in kept_back), "")
    return replace(tried, broke=(*tried.broke, *ids), said=said)


def _apart(units: tuple[Unit, ...], now: PlainRun) -> list[tuple[Unit, str]]:
    """The deciding tests whose failure may be that of the surroundings."""
    found = ((unit, now.endings.get(unit.place, ("", ""))) for unit in units if unit.decides)
    return [(unit, text) for unit, (word, text) in found if word == "apart"]


def _names(text: str, hidden: tuple[str, ...]) -> bool:
    """Whether a message speaks of a hidden file or folder, as the one that cannot be opened or imported."""
    said = set(re.split(r"[^\w-]+", text))
    return any({PurePosixPath(path).stem, *PurePosixPath(path).parent.parts[:1]} & said for path in hidden)
