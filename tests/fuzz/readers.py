"""Targets that read a text: roadmaps, settings, cassettes, exports, and what an attempt left."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import strategies as st

from milepost.agents.replay import cassette_file
from milepost.core.change import Change, ChangedFile
from milepost.core.verdict import CheckResult
from milepost.engine.project.settings.load import load
from milepost.memory.memory import StoredMemory
from milepost.memory.transfer.import_rows import checked, take_in
from milepost.repair.diagnosis.readings import reading_of_check
from milepost.repair.patches import find_diffs
from milepost.roadmap.reading.explain import explain
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import read
from milepost.sandbox.command_risk.change import danger_of_change
from milepost.sources.diff import added_lines
from milepost.sources.env_variables import keys_in, variables_in
from milepost.sources.imports import Texts, imports_among
from milepost.sources.javascript_modules import exports_of, imports_of
from milepost.sources.manifests.reading import READERS, read_manifest
from milepost.sources.python_modules import imported_names
from milepost.sources.tags_apart import tags_of_others
from milepost.store.database import open_database
from milepost.verify.checks.does_anything import has_substance, meaning
from milepost.verify.checks.stubs import added, implemented
from milepost.verify.counterproof.mutants import mutants_of
from milepost.verify.counterproof.sabotage_javascript import sabotaged as sabotaged_javascript
from milepost.verify.counterproof.sabotage_python import sabotaged as sabotaged_python
from milepost.verify.credentials import leaks
from milepost.verify.judging.layout import BaseFacts
from milepost.verify.judging.split import split
from milepost.verify.suites import junit
from milepost.workspace.reconcile.reconcile import reconcile
from tests.fuzz import examples
from tests.fuzz.inputs import texts
from tests.fuzz.run import Target

NAMES = ("ROADMAP.md", "TODO.md", "tasks.json", "todo.txt", "plan.md")
LEFT = (
    *("a.py", "tests/test_a.py", "conftest.py", "a.js", "a.test.ts", "a.tsx", "a.go", "a.rs", "README.md", ".env"),
    *("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "package-lock.json", "Cargo.toml", "go.mod", "go.sum"),
    *("requirements.txt", "Makefile", "Dockerfile", "compose.yaml", "a.sql", ".github/workflows/ci.yml", "a.json"),
)


@contextmanager
def roadmap() -> Iterator[Target]:
    def check(given: tuple[str, bytes]) -> None:
        name, content = given
        manner = Manner(name=name)
        read(content, manner)
        explain(content, manner)

    inputs = st.tuples(st.sampled_from(NAMES), texts(examples.ROADMAP_WORDS, examples.ROADMAPS))
    yield Target(inputs=inputs, check=check)


@contextmanager
def settings() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:

        def check(content: bytes) -> None:
            Path(folder, "milepost.toml").write_bytes(content)
            load(Path(folder), environ={})

        yield Target(inputs=texts(examples.SETTINGS_WORDS, examples.SETTINGS), check=check)


@contextmanager
def cassette() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cassette.json")

        def check(content: bytes) -> None:
            path.write_bytes(content)
            cassette_file.read(path)

        yield Target(inputs=texts(examples.CASSETTE_WORDS, examples.CASSETTES), check=check)


@contextmanager
def export() -> Iterator[Target]:
    def check(given: tuple[bytes, bool]) -> None:
        lines = given[0].splitlines(keepends=True)
        for _ in checked(lines):
            pass
        database = open_database(":memory:")
        try:
            take_in(StoredMemory(database).rows, lines, trusted=given[1], judge=lambda _: "")
        finally:
            database.close()

    yield Target(inputs=st.tuples(texts(examples.EXPORT_WORDS, examples.exports()), st.booleans()), check=check)


@contextmanager
def left() -> Iterator[Target]:
    def check(given: tuple[str, bytes, bytes]) -> None:
        path, before, after = given
        file = ChangedFile(path=path, before=before, after=after)
        change = Change(files=(file,))
        text = file.text_after
        danger_of_change(change)
        split(change, (), BaseFacts(files=frozenset({path, "a.py"})))
        has_substance(change, ())
        meaning(path, text)
        implemented(change)
        for each in (leaks(file), added(file)):
            list(each)
        mutants_of(change, (path,))
        added_lines(file.text_before, text)
        variables_in(text), keys_in(text)
        imported_names(text, "a")
        imports_of(text), exports_of(text)
        if path in READERS:
            read_manifest(path, after)
        tags_of_others(path, after)
        imports_among((path, "b.py"), {path, "b.py"}, _texts_of(path, text))
        sabotaged_python(after, "trip()")
        with suppress(ValueError):
            sabotaged_javascript("a.js", after, "trip()")
        reconcile(before, after, before + after[:50], path)

    content = texts(examples.SOURCE_WORDS, examples.SOURCES)
    yield Target(inputs=st.tuples(st.sampled_from(LEFT), content, content), check=check)


def _texts_of(path: str, text: str) -> Texts:
    def read_them(wanted: Sequence[str]) -> Mapping[str, str]:
        return {name: text for name in wanted if name == path}

    return read_them


@contextmanager
def printed() -> Iterator[Target]:
    """What commands and agents print, and the reports that test runners write."""

    def check(given: tuple[str, bytes]) -> None:
        name, content = given
        text = content.decode("utf-8", "replace")
        reading_of_check(CheckResult(name=name, outcome="failed", summary=text[:300], log=text), None, ("a.py",))
        find_diffs.find(text)
        find_diffs.extract(text)
        with suppress(junit.JUnitInvalid):
            junit.parse(text)

    names = st.sampled_from(["tests", "syntax", "types", "lint", "imports", "done", "runtime", "files", "environment"])
    yield Target(inputs=st.tuples(names, texts(examples.PRINTED_WORDS, examples.PRINTED)), check=check)
