"""Whether a change can make a test come out otherwise: one of prose alone cannot, unless tests read it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

from milepost.core.change import Change, ChangedFile

_PROSE = frozenset({".md", ".markdown", ".rst", ".adoc", ".asciidoc"})
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".drawio", ".puml", ".mmd"})
_NAMES = frozenset({"license", "licence", "copying", "notice", "authors", "contributors", "maintainers", "codeowners"})
_FOLDERS = frozenset({"doc", "docs", "documentation"})


def needs_suite(change: Change, read_by_tests: Collection[str] = ()) -> bool:
    """Whether the project's tests are to be run for a change.

    `read_by_tests` are files that were collected as tests or opened by them at the base, such as a README with
    examples. Prose elsewhere than at the top or in a folder for it may be what the product works with.
    """
    return not change.files or any(not _is_prose(file) or file.path in read_by_tests for file in change.files)


def _is_prose(file: ChangedFile) -> bool:
    path = PurePosixPath(file.path)
    if file.mode != "100644":  # a link may lead to code, and a program is none
        return False
    in_docs = path.parts[0].lower() in _FOLDERS
    if len(path.parts) > 1 and not in_docs:
        return False
    suffix = path.suffix.lower()
    return suffix in _PROSE or path.name.lower() in _NAMES or (in_docs and suffix in _PICTURES)
