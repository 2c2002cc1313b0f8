"""The names of what came by a file of somebody else: such as nothing has that happened here."""

from __future__ import annotations

import hashlib
import re

from milepost.core.memories import Lesson

IMPORT = "import:"
_NAME = re.compile(r"import-[0-9a-f]{16}")


def imported_name(name: str) -> str:
    """What an episode is called where it was imported; one that came by a file before keeps its name."""
    if _NAME.fullmatch(name):
        return name
    return f"import-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:16]}"


def imported_lesson(lesson: Lesson) -> str:
    """What a lesson is called where it was imported: by what it says."""
    return imported_name("\0".join((lesson.kind, lesson.project, lesson.subject, lesson.text)))
