"""What is known of a project without reading its code: its name, languages, tests, files, and how it calls itself."""

from __future__ import annotations

import json
import keyword
import re
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from milepost.agents.prompts import quoted
from milepost.core.errors import MilepostError, NoRepository
from milepost.verify.suites.detect import suites
from milepost.workspace.repository import files_here

MOST_FILES = 200
MOST_README = 2_000
_LANGUAGES = {
    ".py": "Python",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".js": "JavaScript",
    ".jsx": "JavaScript",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    ".kt": "Kotlin",
    ".c": "C",
    ".h": "C",
    ".cpp": "C++",
    ".rb": "Ruby",
    ".php": "PHP",
    ".cs": "C#",
    ".swift": "Swift",
    ".sh": "shell",
    ".sql": "SQL",
}
# By the runner: the command for all tests, and where a new one goes.
_TESTS = {
    "cargo test": ("cargo test", "tests/fault.rs"),
    "go test": ("go test ./...", "fault_test.go"),
    "maven": ("mvn -q test", "src/test/java/FaultTest.java"),
    "gradle": ("gradle test", "src/test/java/FaultTest.java"),
    "ctest": ("ctest", "tests/fault.cpp"),
    "make test": ("make test", "tests/fault"),
    "unittest": ("python3 -m unittest discover", "tests/test_fault.py"),
    **dict.fromkeys(("vitest", "jest", "node --test", "npm test"), ("npm test", "tests/fault.test.js")),
}
_PYTEST = ("python3 -m pytest -q", "tests/test_fault.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquaintance:
    """What a project tells at first sight; `files` are some of them where there are many."""

    name: str
    languages: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    test: str = _PYTEST[0]
    test_file: str = _PYTEST[1]
    files: tuple[str, ...] = ()
    file_count: int = 0
    readme: str = ""

    @property
    def places(self) -> dict[str, str]:
        """What templates are filled with."""
        return {"name": self.name, "package": package_name(self.name), "test": self.test, "test_file": self.test_file}

    def facts(self) -> str:
        """What a model is told of the project."""
        tests = f"{', '.join(self.suites)}; all of them: {self.test}" if self.suites else "none yet"
        lines = [
            f"name: {self.name}",
            f"languages: {', '.join(self.languages) or 'none yet'}",
            f"tests: {tests}",
            f"files ({len(self.files)} of {self.file_count}):",
            *(f"  {path}" for path in self.files),
            *(["README:", self.readme] if self.readme else []),
        ]
        return quoted("\n".join(lines), limit=40_000)


def acquaintance_with(top: Path) -> Acquaintance:
    """What the project in a folder tells at first sight."""
    files = _files(top)
    counted = Counter(_LANGUAGES.get(PurePosixPath(path).suffix, "") for path in files)
    try:
        found = suites(top)
    except (MilepostError, OSError, ValueError):
        found = ()
    test, test_file = _TESTS.get(found[0].runner.name, _PYTEST) if found else _PYTEST
    return Acquaintance(
        name=_name(top),
        languages=tuple(language for language, _ in counted.most_common() if language)[:5],
        suites=tuple(suite.label for suite in found[:5]),
        test=test,
        test_file=test_file,
        files=tuple(sorted(files, key=lambda path: (path.count("/"), path))[:MOST_FILES]),
        file_count=len(files),
        readme=_readme(top),
    )


def package_name(name: str) -> str:
    """A name that Python can import."""
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "project"
    return f"{words}_" if keyword.iskeyword(words) else words if words[0].isalpha() else f"p{words}"


def _name(top: Path) -> str:
    given: object = None
    try:
        given = tomllib.loads((top / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        try:
            given = json.loads((top / "package.json").read_text(encoding="utf-8"))["name"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            given = None
    return given if isinstance(given, str) and given.strip() else top.resolve().name or "project"


def _files(top: Path) -> list[str]:
    """The files that git knows or would; none where it cannot be asked."""
    with suppress(NoRepository):
        return [path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for path in files_here(top) or ()]
    return []


def _readme(top: Path) -> str:
    for name in ("README.md", "README.rst", "README.txt", "README"):
        try:
            return (top / name).read_text(encoding="utf-8", errors="replace")[:MOST_README].strip()
        except OSError:
            continue
    return ""
