"""The check that the project still builds, and that the programs it declares are there to be started."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.commands import CommandResult
from milepost.core.verdict import CheckResult
from milepost.sources.javascript_modules import resolve
from milepost.sources.parse_documents import json_of, table, toml_of
from milepost.sources.paths import folders_above, joined
from milepost.sources.python_modules import Module
from milepost.verify.checks.imports import lacked_before
from milepost.verify.checks.javascript_imports import built_folders
from milepost.verify.checks.tool_findings import clipped, printable
from milepost.verify.command_runner import Bench, log_of
from milepost.verify.programs.import_modules import import_modules
from milepost.verify.programs.project_tools import answer, is_file, text_of, why_not
from milepost.verify.programs.python_modules import import_roots

NAME = "runtime"
SHOWN = 3
CARGO, GO, CMAKE = "cargo check", "go build", "cmake"

_MANIFESTS = {CARGO: "Cargo.toml", GO: "go.mod", CMAKE: "CMakeLists.txt"}
_NOT_HERE = re.compile(
    r"--offline|offline mode|no matching package|failed to (?:get|load source|download)|unable to update|dial tcp|"
    r"module lookup disabled|missing go\.sum entry|requires go >=|error: rustup |Could NOT find|"
    r"Could not find a package configuration file|CMAKE_\w+_COMPILER not set|No CMAKE_\w+_COMPILER could be found"
)
_ERROR = re.compile(r"^.*\berror\b.*$|^\S+\.go:\d+.*$|^CMake Error.*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A way to build one folder of the checkout: commands, one after the other."""

    name: str
    folder: str
    commands: tuple[tuple[str, ...], ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What could be built or found, what could not and why, and what could not be asked."""

    good: tuple[str, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)
    not_asked: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    results: tuple[CommandResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeCheck:
    """Builds what is compiled where its sources changed, and looks up the declared programs.

    `before` answers which of these were broken at the base. A compiler or a package that is not here is no failure.
    """

    change: Change
    bench: Bench
    before: Callable[[tuple[str, ...]], frozenset[str]] | None = None

    def run(self, workspace: Workspace) -> CheckResult:
        found = find_out(self.change, self.bench, workspace)
        notes = list(found.not_asked)
        log = "\n\n".join(log_of(result) for result in found.results if not result.succeeded)
        if not found.good and not found.broken:
            why = "; ".join(notes) or "the project declares nothing to build or start"
            return answer(NAME, "absent", why, bench=self.bench, argv=found.argv, results=found.results, log=log)
        before = self.before(tuple(found.broken)) if found.broken and self.before is not None else frozenset()
        new = [f"{name}: {why}" for name, why in found.broken.items() if name not in before]
        old = [name for name in found.broken if name in before]
        notes += [f"already broken before the attempt: {', '.join(old)}"] if old else []
        if new:
            more = f"; and {len(new) - SHOWN} more" if len(new) > SHOWN else ""
            said = "; ".join(new[:SHOWN]) + more
            return answer(
                NAME,
                "failed",
                "; ".join([said, *notes]),
                bench=self.bench,
                argv=found.argv,
                results=found.results,
                log=log,
            )
        if not found.good:
            return answer(
                NAME, "absent", "; ".join(notes), bench=self.bench, argv=found.argv, results=found.results, log=log
            )
        return answer(
            NAME,
            "passed",
            "; ".join([f"works: {', '.join(found.good)}", *notes]),
            bench=self.bench,
            argv=found.argv,
            results=found.results,
        )


def broken_builds(names: tuple[str, ...], workspace: Workspace, bench: Bench) -> frozenset[str]:
    """Those of these builds, scripts and entries that a checkout has and that are broken there."""
    asked = tuple(_place_of(name) for name in names)
    found = find_out(
        Change(files=tuple(ChangedFile(path=path, before=b"", after=b"") for path in asked)), bench, workspace
    )
    return frozenset(found.broken) & frozenset(names)


def find_out(change: Change, bench: Bench, workspace: Workspace) -> Runtime:
    """Build and look up all that the change is about."""
    parts = [_build(build, bench, workspace) for build in builds_for(change.paths, workspace)]
    parts.append(_find_scripts(change, bench, workspace))
    parts.append(_find_entries(change.paths, workspace.folder))
    return Runtime(
        good=tuple(name for part in parts for name in part.good),
        broken={name: why for part in parts for name, why in part.broken.items()},
        not_asked=tuple(dict.fromkeys(reason for part in parts for reason in part.not_asked)),
        argv=next((part.argv for part in parts if part.argv), ()),
        results=tuple(result for part in parts for result in part.results),
    )


def builds_for(paths: tuple[str, ...], workspace: Workspace) -> Iterator[Build]:
    """The builds that these paths are sources of: of each language, in the highest folder that declares one."""
    checkout, scratch = workspace.folder, workspace.scratch
    for folder in _tops(paths, checkout, "Cargo.toml", (".rs", "Cargo.toml", "Cargo.lock")):
        argv = ("cargo", "check", "--offline", "--quiet", "--message-format=short")
        env = {"CARGO_TARGET_DIR": str(scratch / "cargo-target"), "CARGO_TERM_COLOR": "never"}
        yield Build(name=_named(CARGO, folder), folder=folder, commands=(argv,), env=env)
    for folder in _tops(paths, checkout, "go.mod", (".go", "go.mod", "go.sum")):
        env = {"GOTOOLCHAIN": "local", "GOCACHE": str(scratch / "go-cache")}
        argv = ("go", "build", "-o", "/dev/null", "./...")
        yield Build(name=_named(GO, folder), folder=folder, commands=(argv,), env=env)
    sources = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", "CMakeLists.txt", ".cmake")
    for folder in _tops(paths, checkout, "CMakeLists.txt", sources):
        place = str(scratch / f"cmake-{re.sub(r'[^A-Za-z0-9]', '-', folder)}")
        configure = ("cmake", "-S", ".", "-B", place)
        yield Build(name=_named(CMAKE, folder), folder=folder, commands=(configure, ("cmake", "--build", place)))


def declared_scripts(manifest: str) -> dict[str, tuple[str, str]]:
    """The console scripts of a pyproject.toml: name to module and attribute."""
    document = toml_of(manifest)
    tables = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))
    found: dict[str, tuple[str, str]] = {}
    for names in tables:
        for name, target in table(document, *names).items():
            hit = (
                re.fullmatch(r"\s*([\w.]+)\s*:\s*([\w.]+)\s*(?:\[.*\])?\s*", target)
                if isinstance(target, str)
                else None
            )
            if hit:
                found[name] = (hit[1], hit[2])
    return found


def declared_entries(manifest: str) -> tuple[str, ...]:
    """The files that a package.json says the package starts with: `main` and `bin`."""
    document = json_of(manifest)
    programs = document.get("bin")
    named = [document.get("main"), *(programs.values() if isinstance(programs, dict) else [programs])]
    return tuple(dict.fromkeys(entry for entry in named if isinstance(entry, str) and entry))


def _build(build: Build, bench: Bench, workspace: Workspace) -> Runtime:
    results: list[CommandResult] = []
    for argv in build.commands:
        result = bench.run(argv, workspace, cwd=build.folder, env={**build.env, **bench.equipment.variables})
        results.append(result)
        if result.termination == "not_started":
            return Runtime(
                not_asked=(why_not(result, argv[0], bench.timeout_s),), argv=build.commands[0], results=tuple(results)
            )
        if not result.succeeded:
            output = f"{result.stderr}\n{result.stdout}"
            if _NOT_HERE.search(output):
                return Runtime(
                    not_asked=(f"{build.name} needs something that is not on this machine",),
                    argv=build.commands[0],
                    results=tuple(results),
                )
            first = _ERROR.search(output)
            why = clipped(first[0]) if first else why_not(result, argv[0], bench.timeout_s)
            return Runtime(broken={build.name: why}, argv=build.commands[0], results=tuple(results))
    return Runtime(good=(build.name,), argv=build.commands[0], results=tuple(results))


def _find_scripts(change: Change, bench: Bench, workspace: Workspace) -> Runtime:
    """Import what each console script starts, wherever Python or the manifest changed."""
    if bench.interpreter is None or not any(path.endswith((".py", "pyproject.toml")) for path in change.paths):
        return Runtime()
    scripts = declared_scripts(text_of(workspace.folder, "pyproject.toml") or "")
    roots = import_roots(workspace.folder, bench.interpreter.imports)
    modules = tuple(Module(name=module, path="pyproject.toml", roots=roots) for module, _ in scripts.values())
    attributes = tuple(attribute for _, attribute in scripts.values())
    found = import_modules(modules, bench, workspace, attributes=attributes)
    lacked = lacked_before({one.missing for one in found.broken}, change, workspace.folder)
    names = [f"script {printable(name)}" for name in scripts]
    good = [names[one.number] for one in found.answers if not one.problem]
    broken = {
        names[one.number]: one.problem for one in found.broken if not one.of_surroundings and one.missing not in lacked
    }
    reasons = (found.not_asked,) if found.not_asked else ()
    return Runtime(good=tuple(good), broken=broken, not_asked=reasons, argv=found.argv, results=found.results)


def _find_entries(paths: tuple[str, ...], checkout: Path) -> Runtime:
    """Look for the files that a package.json names, but for those that a build makes."""
    good: list[str] = []
    broken: dict[str, str] = {}
    built = built_folders(checkout)
    folders = dict.fromkeys(folder for path in paths for folder in folders_above(path))
    for folder in folders:
        manifest = joined(folder, "package.json")
        for entry in declared_entries(text_of(checkout, manifest) or ""):
            target = entry if entry.startswith(".") else f"./{entry}"
            name = f"{printable(entry)} of {printable(manifest)}"
            if built & set(target.split("/")):
                continue
            if resolve(manifest, target, lambda path: is_file(checkout, path)) is None:
                broken[name] = "does not exist"
            else:
                good.append(name)
    return Runtime(good=tuple(good), broken=broken)


def _tops(paths: tuple[str, ...], checkout: Path, manifest: str, sources: tuple[str, ...]) -> tuple[str, ...]:
    """The highest folders with this manifest above the changed sources."""
    found: dict[str, None] = {}
    for path in paths:
        if path.endswith(sources):
            holding = [folder for folder in folders_above(path) if is_file(checkout, joined(folder, manifest))]
            found.update(dict.fromkeys(holding[-1:]))
    return tuple(found)


def _named(name: str, folder: str) -> str:
    return f"{name} in {printable(folder)}" if folder else name


def _place_of(name: str) -> str:
    """A path that the build, script or entry of this name is asked for by."""
    kind, _, folder = name.partition(" in ")
    if kind in _MANIFESTS:
        return joined(folder, _MANIFESTS[kind])
    return "pyproject.toml" if name.startswith("script ") else name.rpartition(" of ")[2]
