"""What a change did to package.json's test script and to the settings of jest, vitest and mocha."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from milepost.core.change import ChangedFile
from milepost.sources.parse_documents import json_of, table
from milepost.verify.guard.finding import GuardFinding
from milepost.verify.guard.run_settings import harmless_node_options
from milepost.verify.guard.shell import gives_up
from milepost.verify.judging.paths import JAVASCRIPT, name_of, suffix
from milepost.verify.syntax.javascript_tree import key, parsed, text_of, walk

_STEERING = frozenset(
    {"testMatch", "testRegex", "testPathIgnorePatterns", "include", "exclude", "setupFiles", "setupFilesAfterEnv"}
    | {"globalSetup", "passWithNoTests", "bail", "reporters", "testNamePattern", "testRunner", "runner", "retry"}
    | {"dangerouslyIgnoreUnhandledErrors", "modulePathIgnorePatterns", "testPathIgnorePatterns", "grep", "fgrep"}
    | {"invert", "spec", "ignore", "forbidOnly", "allowOnly", "roots", "projects", "coverageThreshold", "thresholds"}
    | {"testIgnore", "testDir", "retries", "grepInvert", "require", "resolver", "transform"}
)
_NEVER_NEW = frozenset(
    {"passWithNoTests", "bail", "testNamePattern", "testPathIgnorePatterns", "dangerouslyIgnoreUnhandledErrors", "grep"}
    | {"fgrep", "invert", "testRunner", "runner", "retry", "retries", "testIgnore", "grepInvert", "ignore"}
)
_RUNNER = re.compile(
    r"\b(jest|vitest|mocha|ava|tap|jasmine|karma|playwright|cypress|node\s+--test|bun\s+test|deno\s+test)\b"
)
_HOLDING_BACK = re.compile(
    r"--passWithNoTests|--testNamePattern|--testPathIgnorePatterns|--onlyChanged|--bail|--exclude|--grep|-t\s|--invert"
    r"|--test-skip-pattern|--test-name-pattern|--test-only|--dangerouslyIgnoreUnhandledErrors|--allowOnly|--retry"
)
_CONFIG = re.compile(r"(jest|vitest|vite|karma|playwright|cypress|ava)\b.*")


def loosened(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """The findings about one settings file of JavaScript's test runners."""
    name = name_of(file.path)
    if name == "package.json":
        return tuple(_package(file))
    if name.startswith(".mocharc") or (suffix(name) == ".json" and name.startswith("jest")):
        return tuple(_changed(file, json_of(file.text_before), json_of(file.text_after)))
    if suffix(name) in JAVASCRIPT and _CONFIG.fullmatch(name):
        return tuple(_changed(file, _pairs(file.path, file.text_before), _pairs(file.path, file.text_after)))
    return ()


def _package(file: ChangedFile) -> Iterator[GuardFinding]:
    before, after = json_of(file.text_before), json_of(file.text_after)
    old_scripts, scripts = table(before, "scripts"), table(after, "scripts")
    for name, script in scripts.items():
        if re.match(r"(pre|post)?test\b|check|verify", name) and script != old_scripts.get(name):
            yield from _script(file, name, str(old_scripts.get(name, "")), str(script))
    if "test" in old_scripts and "test" not in scripts and _RUNNER.search(str(old_scripts["test"])):
        yield GuardFinding(path=file.path, line=0, what="the test script was removed")
    for runner in ("jest", "vitest", "mocha", "ava", "c8", "nyc"):
        yield from _changed(file, table(before, runner), table(after, runner), prefix=f"{runner}'s ")


def _script(file: ChangedFile, name: str, before: str, after: str) -> Iterator[GuardFinding]:
    if gives_up(after) and not gives_up(before):
        yield GuardFinding(path=file.path, line=0, what=f"the {name} script always succeeds: {after!r}", forges=True)
        return
    yield from _preloads(file, name, before, after)
    held = set(_HOLDING_BACK.findall(after)) - set(_HOLDING_BACK.findall(before))
    if held:
        yield GuardFinding(path=file.path, line=0, what=f"the {name} script has {min(held).strip()!r} now")
    runners = set(_RUNNER.findall(before)) - set(_RUNNER.findall(after))
    if runners:
        yield GuardFinding(
            path=file.path, line=0, what=f"the {name} script does not run {min(runners)} any more: {after!r}"
        )


def _preloads(file: ChangedFile, name: str, before: str, after: str) -> Iterator[GuardFinding]:
    """Options that put other code before the tests, in the script itself or by NODE_OPTIONS."""
    own = re.compile(r"(?:--require|-r|--import|--loader|--experimental-loader)[ =](\.{1,2}/\S+)")
    for path in sorted(set(own.findall(after)) - set(own.findall(before))):
        yield GuardFinding(path=file.path, line=0, what=f"the {name} script loads {path} before the tests")
    options = re.compile(r"NODE_OPTIONS=(\"[^\"]*\"|'[^']*'|\S*)")
    for value in sorted(set(options.findall(after)) - set(options.findall(before))):
        if not harmless_node_options(value):
            yield GuardFinding(
                path=file.path, line=0, what=f"the {name} script sets NODE_OPTIONS to {value}", forges=True
            )


def _changed(
    file: ChangedFile, before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = ""
) -> Iterator[GuardFinding]:
    steering = _STEERING if before or not file.is_new else _NEVER_NEW
    for name in sorted((before.keys() | after.keys()) & steering):
        old, new = before.get(name), after.get(name)
        if old == new or _only_grows(name, old, new) or (old is None and name not in _NEVER_NEW and not before):
            continue
        how = "added" if old is None else "removed" if new is None else "changed"
        yield GuardFinding(path=file.path, line=0, what=f"{prefix}{name} was {how}")


def _only_grows(name: str, old: object, new: object) -> bool:
    """Whether more tests are named than before, and none fewer."""
    if not isinstance(old, list) or not isinstance(new, list):
        return False
    return name in ("testMatch", "include", "spec", "roots", "projects") and all(entry in new for entry in old)


def _pairs(path: str, source: str) -> dict[str, Any]:
    """The properties of a settings file that is a program, lists as lists; those of coverage are left out."""
    found: dict[str, Any] = {}
    for node in walk(parsed(path, source)):
        if node.type == "pair":
            name, value = text_of(node.child_by_field_name("key")).strip("'\""), node.child_by_field_name("value")
            parent = node.parent.parent if node.parent is not None else None
            owner = text_of(parent.child_by_field_name("key")) if parent is not None and parent.type == "pair" else ""
            if value is not None and owner not in ("coverage", "build", "optimizeDeps", "resolve", "server"):
                is_list = value.type == "array"
                found[name] = [key(child, {}) for child in value.named_children] if is_list else key(value, {})
    return found
