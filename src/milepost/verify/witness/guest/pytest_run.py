"""pytest with a plugin that says what it sees: the tests it collected, what each came to, and the end."""
# ruff: noqa: B905 -- `strict` came with Python 3.10

from __future__ import annotations

import importlib
import os
from collections.abc import Generator
from typing import Any

import _pytest.assertion.rewrite
import _pytest.config
import _pytest.fixtures
import _pytest.unittest
import pytest

VERSION = f"pytest {pytest.__version__}"
MAIN = "pytest.__main__"
LONGEST_TEXT = 20_000
FULL_TRACEBACKS = 200

# Whatever else the settings ask for, every test is run once and to its end.
_EVERY_TEST = {"maxfail": 0, "stepwise": False, "stepwise_skip": False, "lf": False, "failedfirst": False}
_ONE_PROCESS = {"numprocesses": 0, "dist": "no", "tx": []}  # xdist's workers would report to their controller
_NO_STORIES = {"tbstyle": "no"}  # of tests that are run again it is only asked what they come to
_KINDS = ("function", "method")

for _name in _pytest.config.default_plugins:  # what pytest would import only when the checkout is on the path
    importlib.import_module(f"_pytest.{_name}")


def run(words: list[str], only: frozenset[str], say: Any, planting: Any, digest: Any) -> int:
    """Run pytest and return its exit code."""
    return int(pytest.main(list(words), plugins=[Witness(only, say, planting, digest)]))


class Witness:
    """Sees the run from inside. What it says is what pytest tells it: the planted tests tell whether that is true."""

    def __init__(self, only: frozenset[str], say: Any, planting: Any, digest: Any) -> None:
        self._only = only
        self._say = say
        self._planting = planting
        self._digest = digest
        self._folder = os.getcwd()  # noqa: PTH109 -- as text
        self._planted: set[str] = set()
        self._raised: set[tuple[str, str]] = set()
        self._passing: dict[str, str] = {}
        self._tracebacks = 0
        self._session: Any = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, Any, None]:
        outcome = yield
        option = outcome.get_result().option
        wanted = {**_EVERY_TEST, **_ONE_PROCESS, **(_NO_STORIES if self._only else {})}
        for name, value in wanted.items():
            if hasattr(option, name):
                setattr(option, name, value)

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_deselected(self, items: Any) -> None:
        for item in items:
            self._say("deselected", item.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self._say("collect", report.nodeid, report.outcome, *self._story(report))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Generator[None, Any, None]:
        outcome = yield
        outcome.get_result()
        if self._only:
            items[:] = [item for item in items if self._only.intersection((item.nodeid, item.nodeid.split("::")[0]))]
        if items:
            self._say("items", *[item.nodeid for item in items])
            self._say("called", *[word for item in items for word in self._called(item)])
            self._plant(items)

    def _called(self, item: Any) -> tuple[str, ...]:
        """The id of a parametrised test and a digest of what it is called with; nothing of others."""
        spec = getattr(item, "callspec", None)
        if spec is None:
            return ()
        parameters = {**getattr(spec, "funcargs", {}), **spec.params}  # pytest 7 and earlier keep them apart
        told = self._digest(item.nodeid.replace(f"[{spec.id}]", ""), parameters, self._folder)
        return (item.nodeid, told) if told else ()

    def _plant(self, items: list[Any]) -> None:
        places = _places(items)
        if not places:
            self._say("unplanted", items[0].nodeid)
            return
        names = [item.name for item in items]
        drawn = [(kind, token, *self._planting.choose(places)) for kind, token in zip(_KINDS, self._planting.tokens)]
        for kind, token, at, module in sorted(drawn, key=lambda each: each[2], reverse=True):
            item = _planted_item(kind, token, module, names, self._planting)
            items.insert(at, item)
            self._planted.add(item.nodeid)
            self._say("planted", item.nodeid, token)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        raised = call.excinfo
        yield
        raised = raised or call.excinfo
        phase = (item.nodeid, call.when)
        if raised is not None:
            self._raised.add(phase)
            self._say("raised", *phase, _types(raised.type), _text(raised.value))
        elif phase in self._raised:
            self._raised.discard(phase)
            self._say("raised", *phase, "", "")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """A pass is told once the test is over; all else at once."""
        nodeid, when, outcome = report.nodeid, report.when, report.outcome
        if outcome != "passed":
            self._say("report", nodeid, str(when), outcome, _milliseconds(report), *self._story(report))
        elif hasattr(report, "context"):
            pass  # a subtest has the id of its test, which may fail yet
        elif when == "call":
            self._passing[nodeid] = _milliseconds(report)
        elif when == "teardown":
            self._say("over", nodeid, self._passing.pop(nodeid, ""))
        if nodeid in self._planted:
            self._hide(report)

    def _hide(self, report: Any) -> None:
        """A planted failure is none of the project's: it counts for no exit code, and its users do not read of it."""
        if report.outcome == "failed" and not hasattr(report, "wasxfail"):
            self._session.testsfailed -= 1
        terminal = self._session.config.pluginmanager.get_plugin("terminalreporter")
        for reports in getattr(terminal, "stats", {}).values():
            if report in reports:
                reports.remove(report)

    def _story(self, report: Any) -> tuple[str, str]:
        """What a report says went wrong, in a line and at length."""
        if hasattr(report, "wasxfail"):
            return f"expected to fail: {report.wasxfail}", ""
        if isinstance(report.longrepr, tuple) and len(report.longrepr) == 3:
            return _cut(str(report.longrepr[2])), ""
        crash = getattr(report.longrepr, "reprcrash", None)
        said = _cut(str(crash.message)) if crash is not None else ""
        self._tracebacks += 1
        if said and self._tracebacks > FULL_TRACEBACKS:
            return said, ""
        return said, _cut(str(report.longreprtext))


def _places(items: list[Any]) -> list[tuple[int, Any]]:
    """Where a test of a module fits in without its neighbours' fixtures being torn down for it."""
    homes = [(item.getparent(pytest.Module), item.getparent(pytest.Class)) for item in items]
    places = []
    for at, (before, after) in enumerate(zip([(None, None), *homes], [*homes, (None, None)])):
        module = before[0] or after[0]
        within_one_class = before == after and before[1] is not None
        if module is not None and not within_one_class:
            places.append((at, module))
    return places


def _planted_item(kind: str, token: str, module: Any, names: list[str], planting: Any) -> Any:
    name = planting.name(names)
    group = "".join(word.title() for word in planting.name(names).split("_"))
    tree = planting.tree(kind, name, token, group)
    mode = module.config.getoption("assertmode", "rewrite")
    rewrite = _pytest.assertion.rewrite.rewrite_asserts if mode == "rewrite" else None
    found = planting.define(tree, str(module.fspath), getattr(module.obj, "__name__", module.name), rewrite)
    if kind == "method":
        collector = _pytest.unittest.UnitTestCase.from_parent(module, name=group, obj=found)
        collector.obj = found
        return next(iter(collector.collect()))
    none = _pytest.fixtures.FuncFixtureInfo(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})
    return pytest.Function.from_parent(module, name=name, callobj=found, fixtureinfo=none)


def _milliseconds(report: Any) -> str:
    return str(int(report.duration * 1000))


def _types(kind: type) -> str:
    return " ".join(base.__name__ for base in type.mro(kind) if base is not object)


def _text(value: BaseException) -> str:
    try:
        return _cut(str(value))
    except BaseException as worse:
        return f"(it cannot be told: {type(worse).__name__})"


def _cut(text: str) -> str:
    """The start and the end: the host redacts it, and keeps far less than either."""
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else text[:half] + "\n…\n" + text[-half:]
