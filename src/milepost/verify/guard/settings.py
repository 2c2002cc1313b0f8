"""What a change did to the settings of pytest, tox, Cargo and CMake: which tests are run, and what counts as passed."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from milepost.core.change import ChangedFile
from milepost.sources.parse_documents import table
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.judging.paths import is_test_setting, name_of

_HOLDING_BACK = re.compile(
    r"-k.*|-m.*|--deselect.*|--ignore.*|-p(\s*no:.*)?|-pno:.*|--maxfail.*|-x|--exitfirst|--lf|--last-failed|--ff|--sw"
    r"|--stepwise.*|--co|--collect-only|--noconftest|-c|--confcutdir.*|-o|--override-ini.*|--assert=plain|--reruns.*"
    r"|--suppress-no-test-exit-code|--continue-on-collection-errors|--junit-?xml.*|--setup-only|--setup-plan"
)
_FIXED = ("python_files", "python_classes", "python_functions", "testpaths", "norecursedirs", "collect_imported_tests")
_DEFAULTS = {"python_files": "test_*.py", "python_classes": "Test", "python_functions": "test"}
_VARIABLES = re.compile(
    r"\b(PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTEST_DISABLE_PLUGIN_AUTOLOAD|PYTHONOPTIMIZE|PYTHONSTARTUP)\b"
)


def loosened(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """The findings about one settings file; a file without settings for tests gives none."""
    if not is_test_setting(file.path) and not name_of(file.path).startswith(".env"):
        return ()
    findings: list[str] = []
    before, after = _pytest(file.path, file.text_before), _pytest(file.path, file.text_after)
    if before is not None and after is not None:
        findings += _pytest_settings(before, after)
    findings += _plugins(file)
    findings += _variables(file)
    findings += _coverage(file)
    if name_of(file.path) == "Cargo.toml":
        findings += _cargo(file)
    if name_of(file.path) == "CMakeLists.txt":
        findings += _cmake(file)
    return tuple(GuardFinding(path=file.path, line=0, what=what) for what in findings)


def _pytest(path: str, text: str) -> dict[str, str] | None:
    """pytest's settings as text by name; None where the file cannot be read."""
    name = name_of(path)
    if name.endswith(".toml"):
        tables = _toml(text)
        if tables is None:
            return None
        tool = table(tables, "tool", "pytest")
        section = table(tables, "pytest") if "pytest.toml" in name else (table(tool, "ini_options") or tool)
        return {setting: _joined(value) for setting, value in section.items()}
    if name.endswith((".ini", ".cfg")):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text.replace("\r\n", "\n"))
        except configparser.Error:
            return None
        section_name = "tool:pytest" if name == "setup.cfg" else "pytest"
        return dict(parser.items(section_name)) if parser.has_section(section_name) else {}
    return {}


def _pytest_settings(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    options = _options(after.get("addopts", "")) - _options(before.get("addopts", ""))
    for option in sorted(options):
        if _HOLDING_BACK.fullmatch(option):
            yield f"pytest's addopts has {option!r} now"
    for setting in _FIXED:
        old, new = before.get(setting), after.get(setting)
        lost = [entry for entry in (old or "").split() if entry not in (new or "").split()]
        if setting == "norecursedirs":
            if new is not None and set(new.split()) - set((old or "").split()) & {"test", "tests", "*"}:
                yield "pytest's norecursedirs leaves tests out"
        elif old is not None and new is not None and lost:
            yield f"pytest's {setting} has lost {lost[0]!r}"
        elif old is None and new is not None and setting in _DEFAULTS and _DEFAULTS[setting] not in new.split():
            yield f"pytest's {setting} leaves out what is collected otherwise"
    if _true(before.get("xfail_strict", "")) and not _true(after.get("xfail_strict", "")):
        yield "pytest's xfail_strict is off now"
    if _errors(before) and not _errors(after):
        yield "pytest's filterwarnings does not turn warnings into errors any more"


def _options(addopts: str) -> set[str]:
    """The options of a line; one whose value is a word of its own keeps it."""
    try:
        words = shlex.split(addopts)
    except ValueError:
        words = addopts.split()
    found: set[str] = set()
    for at, word in enumerate(words):
        takes_value = word in ("-k", "-m", "-p", "-o", "-c", "--deselect", "--ignore", "--maxfail", "--reruns")
        found.add(f"{word} {words[at + 1]}" if takes_value and at + 1 < len(words) else word)
    return {option for option in found if not re.fullmatch(r"-p (?!no:).*", option) or "no:" in option}


def _errors(settings: Mapping[str, str]) -> bool:
    return re.search(r"(?m)^[ \t]*error\s*$", settings.get("filterwarnings", "")) is not None


def _true(text: str) -> bool:
    return text.strip().lower() in ("true", "1", "yes", "on")


def _plugins(file: ChangedFile) -> Iterator[str]:
    if "pytest11" in file.text_after and "pytest11" not in file.text_before:
        yield "a pytest plugin is installed with the project (pytest11)"


def _variables(file: ChangedFile) -> Iterator[str]:
    for name in sorted(set(_VARIABLES.findall(file.text_after)) - set(_VARIABLES.findall(file.text_before))):
        yield f"sets {name}"


def _coverage(file: ChangedFile) -> Iterator[str]:
    pattern = re.compile(r"(?m)^[ \t]*fail[_-]under\s*=\s*([\d.]+)")
    before, after = pattern.search(file.text_before), pattern.search(file.text_after)
    if before and (after is None or _number(after[1]) < _number(before[1])):
        yield "asks for less coverage"


def _cargo(file: ChangedFile) -> Iterator[str]:
    pattern = re.compile(r"(?m)^[ \t]*(harness|test|autotests)\s*=\s*false")
    for name in sorted(set(pattern.findall(file.text_after)) - set(pattern.findall(file.text_before))):
        yield f"takes tests out of the run: {name} = false"


def _cmake(file: ChangedFile) -> Iterator[str]:
    tests = re.compile(r"(?im)^[ \t]*(?:add_test|(?:gtest|catch)_discover_tests)\s*\(\s*(?:NAME\s+)?([\w\-.]+)")
    for name in sorted(set(tests.findall(file.text_before)) - set(tests.findall(file.text_after))):
        yield f"the test {name} is not run any more"
    for word in ("WILL_FAIL", "DISABLED", "SKIP_RETURN_CODE", "PASS_REGULAR_EXPRESSION"):
        if file.text_after.count(word) > file.text_before.count(word):
            yield f"tests have the property {word}"


def _toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError:
        return None


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(shlex.quote(str(entry)) if " " in str(entry) else str(entry) for entry in value)
    return str(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
