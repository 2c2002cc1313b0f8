"""What a base says about the places in it: where its tests are, where its product is, in which languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from milepost.core.folders import NOT_SOURCE
from milepost.sources.paths import folders_above, joined
from milepost.verify.judging.paths import (
    CODE,
    JAVASCRIPT,
    folded,
    is_prose,
    is_test_folder,
    is_test_name,
    is_test_path,
    is_test_setting,
    name_of,
    suffix,
)

# Tests that by custom stand beside what they test: a folder that has them is no folder of tests.
_BESIDE = re.compile(r".*_test\.(go|dart|rs)|tests?\.rs|.*[.\-_](test|spec)\.[cm]?[jt]sx?")
# Folders that hold no part of a product, in any language.
_ASIDE = frozenset(
    {"script", "scripts", "tool", "tools", "ci", "dev", "hack", "misc", "etc", "contrib", "doc", "docs", "example"}
    | {"examples", "sample", "samples", "demo", "demos", "bench", "benches", "benchmark", "benchmarks", "check"}
    | {"checks", "verify", "verification", "acceptance", "qa", "grader", "grading", "judge", "golden", "goldens"}
    | {"expected", "expectations", "snapshots", "hidden"}
)
_DATA_FOLDERS = frozenset({"data", "golden", "goldens", "snapshots", "expected", "samples", "resources", "inputs"})
_CHECKING = re.compile(
    r"(.*[-_.])?(check|verify|test|validate|lint|smoke|ci|assert|grade|judge|accept|acceptance|selftest|e2e|expect)"
    r"(s|er|ed|ing)?([-_.].*)?"
)
_FAMILIES = (
    JAVASCRIPT | {".vue", ".svelte"},
    {".py", ".pyi", ".pyx", ".pxd"},
    {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inl", ".m", ".mm"},
    {".java", ".kt", ".kts", ".scala", ".groovy"},
    {".sh", ".bash", ".zsh"},
    {".ex", ".exs", ".eex", ".heex"},
    {".cs", ".fs", ".vb", ".razor", ".cshtml"},
    {".rb", ".erb"},
    {".html", ".htm", ".jinja", ".jinja2", ".j2", ".hbs", ".ejs", ".mustache", ".tmpl", ".tpl"},
    {".css", ".scss", ".sass", ".less"},
)
_OTHER_SOURCE = frozenset({".sql", ".graphql", ".gql", ".proto", ".hs", ".ml", ".mli", ".clj", ".erl", ".f90", ".nim"})
_FAMILY = {one: min(family) for family in _FAMILIES for one in family}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFacts:
    """What is known of a base, as paths: its files, those in which its runners found tests, those of them that its
    `Verify:` commands opened, and the programs that these name. `examples` are files of the product in which nothing
    but examples in docstrings was run: their code is judged, their examples judge."""

    files: frozenset[str]
    test_files: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()
    examples: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The places of one base."""

    base: BaseFacts

    def is_test(self, path: str) -> bool:
        """Whether a path is a test, or stands where only tests and what they use are."""
        if path in self.base.test_files or any(folder in self._test_folders for folder in folders_above(path)):
            return not is_prose(path) or path in self.base.test_files
        if is_test_path(path):
            return is_test_name(name_of(path)) or not self._is_of_test_library(path)
        return self._is_data_of_tests(path)

    def is_module_by_a_loaded_name(self, path: str) -> bool:
        """Whether a file is called `setup.py` or `tests.py` inside a package, and no test was collected from it."""
        if folded(name_of(path)) not in ("setup.py", "test.py", "tests.py") or path in self.base.test_files:
            return False
        package = joined(folders_above(path)[0], "__init__.py")
        return {path, package} <= self.base.files and "/" in path and bool(self.base.test_files)

    def holds_tests(self, path: str) -> bool:
        """Whether tests would be collected from a path, and not only used by some."""
        name = name_of(path)
        if path in self.base.test_files:
            return True
        if suffix(name) not in CODE or folded(name) in ("conftest.py", "__init__.py"):
            return False
        return is_test_name(name) or any(folder in self._test_folders for folder in folders_above(path))

    def is_source(self, path: str, language: str) -> bool:
        """Whether a path is source in a language of the product: below its folders, new ones too, or in the root."""
        if not language or (self._languages and language not in self._languages):
            return False
        return not self.is_aside(path)

    def is_aside(self, path: str) -> bool:
        """Whether a path is below a folder that holds no part of the product; where all source is there, it does."""
        return _is_aside(path) and not self._is_all_aside

    def is_beside_tests(self, path: str) -> bool:
        """Whether tests were collected in the folder of a path."""
        return folders_above(path)[0] in self._folders_with_tests

    def is_beside_a_judge(self, path: str) -> bool:
        """Whether a path is below a folder, not the root, in which stands a program that checks the product."""
        return any(folder in self._folders_with_programs for folder in folders_above(path) if folder)

    def is_beside_a_manifest(self, path: str) -> bool:
        """Whether a path is in the root, or in the folder of a package."""
        folder = folders_above(path)[0]
        return not folder or any(joined(folder, name) in self.base.files for name in ("package.json", "deno.json"))

    @property
    def is_bare(self) -> bool:
        """Whether the base has no tests and no program that checks it: nothing that an added file could get round."""
        return not self.base.test_files and not self.base.programs and not self._above_tests

    def twin(self, path: str) -> str:
        """The file of the base that has this path but for large letters and odd ones; empty when there is none."""
        found = self._by_folded.get(folded_path(path), "")
        return found if found != path else ""

    @cached_property
    def _by_folded(self) -> dict[str, str]:
        return {folded_path(path): path for path in self.base.files}

    @cached_property
    def _languages(self) -> frozenset[str]:
        """The languages of the product; empty when it has no source yet."""
        own = (path for path in self.base.files if not _is_aside(path) and not is_installed(path))
        found = {language_of(path) for path in own if not self.is_test(path) and not is_test_setting(path)}
        return frozenset(found - {""})

    @cached_property
    def _is_all_aside(self) -> bool:
        return not self._languages and any(language_of(path) for path in self.base.files if _is_aside(path))

    @cached_property
    def _above_tests(self) -> frozenset[str]:
        """The folders that hold, somewhere below them, tests by what was collected or by name."""
        tests = (path for path in self.base.files if path in self.base.test_files or is_test_name(name_of(path)))
        return frozenset(folder for path in tests for folder in folders_above(path))

    @cached_property
    def _folders_with_tests(self) -> frozenset[str]:
        return frozenset(folders_above(path)[0] for path in self.base.test_files)

    @cached_property
    def _folders_with_programs(self) -> frozenset[str]:
        checking = (path for path in self.base.programs if self.is_aside(path) or is_checking(path))
        return frozenset(folders_above(path)[0] for path in checking)

    @cached_property
    def _test_folders(self) -> frozenset[str]:
        """The folders that are mostly tests, by what was collected: the project's own custom."""
        collected = {path for path in self.base.test_files if not _BESIDE.fullmatch(name_of(path))}
        wanted = {folders_above(path)[0] for path in collected} - {""}
        code: dict[str, list[str]] = defaultdict(list)
        for path in self.base.files if wanted else ():
            if (folder := folders_above(path)[0]) in wanted and suffix(path) in CODE:
                code[folder].append(path)
        return frozenset(folder for folder, paths in code.items() if self._are_tests(paths))

    def _are_tests(self, paths: Iterable[str]) -> bool:
        """Whether more than half of these are tests, and none is of a module that is among them."""
        tests: list[str] = []
        others: list[str] = []
        for path in paths:
            if folded(name_of(path)) != "__init__.py":
                (tests if path in self.base.test_files or is_test_name(name_of(path)) else others).append(_stem(path))
        paired = any(other in re.split(r"(?:^|_)tests?(?:_|$)", test) for other in others for test in tests)
        return len(tests) > len(others) and not paired

    def _is_of_test_library(self, path: str) -> bool:
        """Whether a folder named like tests is a package inside a Python package, and holds none: a product's own."""
        parts = path.split("/")
        at = next((at for at, part in enumerate(parts[:-1]) if is_test_folder(part)), None)
        if not at or not self.base.test_files:
            return False
        top = "/".join(parts[: at + 1])
        package, around = f"{top}/__init__.py", f"{'/'.join(parts[:at])}/__init__.py"
        return {package, around} <= self.base.files and top not in self._above_tests

    def _is_data_of_tests(self, path: str) -> bool:
        """Whether a path is below a folder of data that stands beside tests."""
        if language_of(path) or is_prose(path):
            return False
        above = [folder for folder in folders_above(path) if folder]
        return any(
            folded(name_of(folder)) in _DATA_FOLDERS and folders_above(folder)[0] in self._folders_with_tests
            for folder in above
        )


def language_of(path: str) -> str:
    """The language that a file is source of, named by one suffix of it; empty where its suffix is of none."""
    end = suffix(path)
    return _FAMILY.get(end) or (end if end in CODE or end in _OTHER_SOURCE else "")


def is_checking(path: str) -> bool:
    """Whether a program says by its name that it checks something."""
    return _CHECKING.fullmatch(_stem(path)) is not None


def is_installed(path: str) -> bool:
    """Whether a path is below a folder that holds what was installed, not written."""
    return any(folded(part) in NOT_SOURCE for part in path.split("/"))


def _is_aside(path: str) -> bool:
    return "/" in path and folded(path.split("/")[0]) in _ASIDE


def folded_path(path: str) -> str:
    return "/".join(map(folded, path.split("/")))


def _stem(path: str) -> str:
    name = folded(name_of(path))
    return name.removesuffix(suffix(name))
