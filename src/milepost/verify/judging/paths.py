"""Which paths are tests, and which files say how tests are run."""

from __future__ import annotations

import re
from functools import lru_cache

JAVASCRIPT = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"})
PYTHON = frozenset({".py"})
CODE = (
    JAVASCRIPT
    | PYTHON
    | frozenset(
        {".go", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"}
        | {".rb", ".php", ".cs", ".fs", ".swift", ".m", ".ex", ".exs", ".sh", ".bash", ".bats", ".pl", ".t", ".lua"}
        | {".dart", ".zig", ".jl", ".r", ".vue", ".svelte"}
    )
)

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "__snapshots__", "__mocks__", "testdata"})
_SPEC_FOLDERS = frozenset({"spec", "specs", "cypress", "e2e"})
_PROSE = frozenset({".md", ".rst", ".adoc"})
_TEST_NAME = re.compile(
    r"""
      test_[^/]*\.(py|c|cc|cpp|cxx|rb|jl)        # Python's, and C's habit
    | [^/]*_tests?\.(py|go|c|cc|cpp|cxx|rb|exs|dart|rs)
    | tests?\.(py|rs|c|cc|cpp|cxx)               # Django's tests.py, Rust's `mod tests;`
    | conftest\.py
    | [^/]*[.\-_](test|spec)\.[cm]?[jt]sx?
    | tests?\.[cm]?[jt]sx?
    | [^/]*_spec\.(rb|lua)
    | [^/]*\.(snap|ambr|bats)
    | [^/]*Tests?\.(java|kt|scala|groovy|cs|php|swift)
    | [^/]*Spec\.(groovy|scala|kt|hs)
    """,
    re.VERBOSE,
)

# Cargo.toml and CMakeLists.txt are here because both can drop tests from a run (`harness = false`,
# `test = false`, a removed `add_test`); what of them may change freely is for `settings.py` to say.
_SETTING_NAMES = frozenset(
    {"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg"}
    | {"pyproject.toml", "setup.py", "noxfile.py", "sitecustomize.py", "usercustomize.py", ".coveragerc", ".env"}
    | {"package.json", ".npmrc", "deno.json", "deno.jsonc", "bunfig.toml", "babel.config.js", "babel.config.json"}
    | {"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "Rakefile"}
    | {"Cargo.toml", "CMakeLists.txt", "pom.xml", "build.gradle", "build.gradle.kts", "phpunit.xml", ".rspec"}
)
_SETTING_NAME = re.compile(
    r"(jest|vitest|vite|karma|playwright|cypress|ava|wdio)([.\-][\w\-]+)*\.(config|conf|setup|workspace)\.[cm]?[jt]s(on)?"
    r"|karma\.conf\.[jt]s|\.(mocha|jest)rc(\.(json|jsonc|ya?ml|[cm]?js))?|\.c8rc(\.json)?|\.nycrc(\.json)?"
    r"|tsconfig(\.\w+)?\.json|[^/]*\.pth"
)


@lru_cache(maxsize=100_000)
def is_test_path(path: str) -> bool:
    """Whether a file is a test, or code or data that only tests use; prose beside them is not."""
    *folders, name = path.rstrip("/").split("/")
    if not name or suffix(name) in _PROSE:
        return False
    if _TEST_NAME.fullmatch(name) or _TEST_FOLDERS.intersection(folders):
        return True
    return bool(_SPEC_FOLDERS.intersection(folders)) and suffix(name) in CODE


@lru_cache(maxsize=100_000)
def is_test_setting(path: str) -> bool:
    """Whether a file can say which tests are run, and with what."""
    name = name_of(path)
    return name in _SETTING_NAMES or _SETTING_NAME.fullmatch(name) is not None


def is_python_test(path: str) -> bool:
    """Whether pytest or unittest would collect tests from this file by its name."""
    name = name_of(path)
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


def suffix(path: str) -> str:
    """The end of a name from its last dot on, in small letters; a name that begins with its only dot has none."""
    stem, dot, end = name_of(path).rpartition(".")
    return f".{end}".lower() if dot and stem and end else ""


def name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
