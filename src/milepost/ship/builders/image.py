"""An OCI image of what another kind builds, written without a daemon, and a Dockerfile for who wants one."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from milepost.core.errors import NothingToPackage, PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.ship.builders import dockerfile
from milepost.ship.builders.javascript_packages import QUIET
from milepost.ship.builders.npm import NpmKind, packed_manifest
from milepost.ship.builders.rust import RustKind, is_static
from milepost.ship.builders.wheel import PIP, WheelKind, entry_point_of, installed_components
from milepost.ship.guest_files import plain_files, take_folder
from milepost.ship.kinds import fitting_kinds
from milepost.ship.oci_layout import BaseImage, add_base, add_layer, begin_layout, config_of, finish_layout
from milepost.ship.recipe import Call, Component, Kind, Product, Recipe, Source, Step, Trial
from milepost.sources.parse_documents import strings, table

LAYOUT = "image"
APP = "app"
_NOBODY = "65534:65534"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_START_IMAGE = Path(__file__).parents[1] / "guest" / "start_image.py"
# A shell finds the one file, whose name the project decides; a package installed by its name notes no path.
_BY_FILE = 'exec "$@" {out}/*.whl'
_BY_NAME = 'name=$(basename {out}/*.whl); exec "$@" "${name%%-*}"'
_OF_ONE_PYTHON = re.compile(r"\.cpython-3(\d+)-")


@dataclass(frozen=True, slots=True)
class ImageKind:
    """Images."""

    kind: ArtifactKind = ArtifactKind.IMAGE
    version: str = "1"

    def recipe(self, source: Source) -> Recipe:
        inner = _inner(source)
        if source.options.base is None and inner.kind is not ArtifactKind.RUST:
            needs = "Python" if inner.kind is ArtifactKind.WHEEL else "Node"
            raise PackageFailed(
                f"an image of this project stands on one with {needs}, and none is named",
                "name an OCI layout or a tar of files: base in [package]",
            )
        if source.options.base is not None and not source.options.base.exists():
            raise PackageFailed(f"the base {str(source.options.base)!r} is not there", "correct base in [package]")
        made = inner.recipe(source)
        build = (*made.build, *_install_steps(inner.kind))
        return replace(made, kind=self.kind, build=build, offered=dockerfile.offered(source, inner.kind))

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        inner = _inner(source)
        built = inner.collect(source, tree, out, draft)
        layout = draft / LAYOUT
        begin_layout(layout)
        base = add_base(layout, source.options.base) if source.options.base else BaseImage()
        entries, start, variables = _contents(inner.kind, built, out, draft, source.options.command)
        if inner.kind is ArtifactKind.WHEEL and source.options.base:
            _require_same_python(source.options.base, entries)
        layer = add_layer(layout, entries, source.time)
        settings = {
            "Env": [*(strings(table(base.config, "config").get("Env")) or (_PATH,)), *variables],
            "Entrypoint": list(start),
            "Cmd": None,
            "WorkingDir": f"/{APP}" if inner.kind is not ArtifactKind.RUST else "/",
            "User": _NOBODY,
        }
        tag = re.sub(r"[^\w.-]", "-", built.version)[:128] or "latest"
        digest = finish_layout(layout, (base, layer), settings, tag=tag, time=source.time)
        for left in (built.path, *built.others, draft / APP):
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
        size = sum(file.stat().st_size for file in plain_files(layout, layout))
        note = f"on {source.options.base.name}" if source.options.base else "from scratch"
        return replace(built, path=layout, sha256=digest, size=size, start=start, others=(), note=note)

    def trial(self, source: Source, product: Product) -> Trial:
        code = _START_IMAGE.read_text(encoding="utf-8")
        words = source.options.trial or ("--help",)
        codes = (0,) if source.options.trial else (0, 2, 64)
        argv = ("{python}", "-I", "-c", code, "{file}", "{trial}/root", *words)
        entry = config_of(product.path)["config"]["Entrypoint"]
        said = f"{PurePosixPath(entry[0]).name} started from its unpacked layers"
        return Trial(calls=(Call(argv=argv, codes=codes, may_stay=True),), said=said)

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        inner = _inner(source)
        if inner.kind is ArtifactKind.WHEEL:
            return installed_components(sorted((trial / "root" / APP).glob("packages/*.dist-info/METADATA")))
        return inner.components(source, tree, trial / "root" / APP)


def _inner(source: Source) -> Kind:
    """The kind whose product the image carries: the recommended one that can be started."""
    fits = [fit.kind for fit in fitting_kinds(source.files, source.read)]
    kinds: Mapping[ArtifactKind, Kind] = {
        ArtifactKind.RUST: RustKind(),
        ArtifactKind.WHEEL: WheelKind(),
        ArtifactKind.NPM: NpmKind(),
    }
    found = next((kinds[kind] for kind in fits if kind in kinds), None)
    if found is None:
        raise NothingToPackage("there is no program here that an image could start", "package it as static")
    return found


def _install_steps(kind: ArtifactKind) -> tuple[Step, ...]:
    """Install what was built, and what it needs, in a folder of the image."""
    match kind:
        case ArtifactKind.WHEEL:
            fetch = (*PIP, "download", "--quiet", "--only-binary", ":all:", "--dest", "{out}/wheels")
            source = ("--no-index", "--find-links", "{out}/wheels")
            install: tuple[str, ...] = (
                *PIP,
                "install",
                "--quiet",
                "--no-compile",
                *source,
                "--target",
                "{out}/app/packages",
            )
            return (
                Step(argv=("sh", "-c", _BY_FILE, "sh", *fetch), tool="pip"),
                Step(argv=("sh", "-c", _BY_NAME, "sh", *install)),
            )
        case ArtifactKind.NPM:
            install = ("npm", "install", "--prefix", "{out}/app", "--omit=dev", "--ignore-scripts", *QUIET)
            return (Step(argv=("sh", "-c", 'exec "$@" {out}/*.tgz', "sh", *install), tool="npm"),)
        case _:
            return ()


def _contents(
    kind: ArtifactKind, built: Product, out: Path, draft: Path, command: tuple[str, ...]
) -> tuple[dict[str, Path | str], tuple[str, ...], tuple[str, ...]]:
    """The files of the image, its command and its variables."""
    if kind is ArtifactKind.RUST:
        if not is_static(built.path):
            raise PackageFailed("the program needs libraries of the machine", "name a base that has them in [package]")
        after = command[1:] if command and command[0] == built.name else ()
        return {f"usr/local/bin/{built.name}": built.path}, (f"/usr/local/bin/{built.name}", *after), ()
    app = take_folder(out / APP, out, draft / APP)
    entries: dict[str, Path | str] = {
        f"{APP}/{file.relative_to(app).as_posix()}": file
        for file in plain_files(app, app)
        if file.relative_to(app).parts[:2]
        != ("packages", "bin")  # programs for the machine that they were installed on
    }
    start = command or built.start
    if not start:
        raise PackageFailed("nothing says how the image is started", "name it: command in [package]")
    program, *words = start
    if kind is ArtifactKind.WHEEL:
        point = entry_point_of(built.path, program)
        if point:
            module, _, name = point.partition(":")
            top = name.partition(".")[0]
            call = f"import sys; from {module} import {top}; sys.argv[0] = {program!r}; sys.exit({name}())"
            return entries, ("python3", "-c", call, *words), (f"PYTHONPATH=/{APP}/packages",)
        return entries, ("python3" if program == "python" else program, *words), (f"PYTHONPATH=/{APP}/packages",)
    package = packed_manifest(built.path)
    declared = package.get("bin")
    path = declared if isinstance(declared, str) else table(declared).get(program, "")
    if path and not command:
        return entries, ("node", f"/{APP}/node_modules/{built.name}/{PurePosixPath(str(path))}"), ()
    return entries, start, ()


def _require_same_python(base: Path, entries: Mapping[str, Path | str]) -> None:
    """Compiled modules fit one version of Python alone."""
    wanted = {found[1] for path in entries if (found := _OF_ONE_PYTHON.search(path))}
    if not wanted or base.is_dir():
        return
    with tarfile.open(base) as archive:
        names = [match[1] for one in archive if (match := re.search(r"bin/python3\.(\d+)$", one.name))]
    if names and not wanted <= set(names):
        raise PackageFailed(
            f"the base has Python 3.{names[0]}, and packages were fetched for 3.{sorted(wanted)[0]}",
            "set verify.python to an interpreter of the base's version",
        )
