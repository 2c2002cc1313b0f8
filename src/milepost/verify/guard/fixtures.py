"""What tests compare with, kept in files: snapshots, expected outputs, sample data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from milepost.core.change import Change, ChangedFile
from milepost.verify.guard.finding import GuardFinding, counted
from milepost.verify.judging.paths import CODE, is_test_path, is_test_setting, name_of, suffix


def weakened(change: Change) -> tuple[GuardFinding, ...]:
    """The findings about data of tests that was there before: lines that are gone; what is only added is fine."""
    added = {file.after for file in change.files if file.is_new}
    files = [file for file in change.files if _is_data(file) and file.before is not None and file.before not in added]
    return tuple(finding for file in files for finding in _compared(file))


def _compared(file: ChangedFile) -> Iterator[GuardFinding]:
    if file.is_gone:
        yield GuardFinding(path=file.path, line=0, what="was deleted, and tests may compare with it")
    elif file.is_link or b"\0" in (file.before or b""):
        yield GuardFinding(path=file.path, line=0, what="was replaced, and tests may compare with it")
    elif not _same_json(file):
        lost = (_lines(file.text_before) - _lines(file.text_after)).total()
        if lost:
            what = f"{counted(lost, 'line')} that tests may compare with changed or removed"
            yield GuardFinding(path=file.path, line=0, what=what)


def _is_data(file: ChangedFile) -> bool:
    if name_of(file.path) in (".gitkeep", ".gitignore", "requirements.txt", "py.typed"):
        return False
    return is_test_path(file.path) and suffix(file.path) not in CODE and not is_test_setting(file.path)


def _lines(text: str) -> Counter[str]:
    return Counter(line.rstrip().rstrip(",") for line in text.splitlines() if line.strip())


def _same_json(file: ChangedFile) -> bool:
    try:
        return bool(json.loads(file.text_before) == json.loads(file.text_after))
    except (ValueError, RecursionError):
        return False
