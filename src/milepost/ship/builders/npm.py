"""JavaScript: the tarball of a package, as npm packs it."""

from __future__ import annotations

import json
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from milepost.core.errors import NothingToPackage, PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.sandbox.read_plain import plain_text
from milepost.ship.builders.javascript_packages import QUIET, install_step, locked_components, manager_of
from milepost.ship.guest_files import sha256_of, take_file
from milepost.ship.recipe import Call, Component, Product, Recipe, Source, Step, Trial, trial_call
from milepost.sources.parse_documents import json_of, string, table

FIRST_VERSION = "0.1.0"
# What npm runs when it packs; without any of them, and nothing bundled, no package is needed to pack.
_SCRIPTS = ("prepack", "prepare", "postpack", "prepublish", "prepublishOnly")
_LARGEST_MANIFEST = 2_000_000
_LOADED = "import(process.argv[1]).then(() => process.exit(0), error => { console.error(error); process.exit(1) })"


@dataclass(frozen=True, slots=True)
class NpmKind:
    """npm packages."""

    kind: ArtifactKind = ArtifactKind.NPM
    version: str = "1"

    def recipe(self, source: Source) -> Recipe:
        generated = generated_package(source)
        package = json_of(source.read("package.json") or b"")
        needs = [name for name in _SCRIPTS if name in table(package, "scripts")]
        bundles = any(package.get(name) for name in ("bundleDependencies", "bundledDependencies"))
        install = (install_step(source.files),) if needs or bundles else ()
        manager = (manager_of(source.files),) if install else ()
        return Recipe(
            kind=self.kind,
            programs=tuple(dict.fromkeys(("npm", "node", *manager))),
            generated=generated,
            build=(*install, Step(argv=("npm", "pack", "--pack-destination", "{out}"), cwd="{tree}")),
        )

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        found = sorted(out.glob("*.tgz"))
        if len(found) != 1:
            raise PackageFailed(f"npm packed {len(found)} packages where one was expected", "pack one")
        tarball = take_file(found[0], out, draft / found[0].name)
        package = packed_manifest(tarball)
        return Product(
            path=tarball,
            name=string(package.get("name")),
            version=string(package.get("version")),
            sha256=sha256_of(tarball),
            size=tarball.stat().st_size,
            start=source.options.command or programs_of(package)[:1],
        )

    def trial(self, source: Source, product: Product) -> Trial:
        install = Step(argv=("npm", "install", "--ignore-scripts", *QUIET, "{file}"), tool="npm", cwd="{trial}")
        programs = programs_of(packed_manifest(product.path))
        if product.start and product.start[0] in programs:
            program, *words = product.start
            call = trial_call((f"{{trial}}/node_modules/.bin/{program}", *words), source.options)
            return Trial(install=(install,), calls=(call,), said=f"installed, {' '.join(product.start)} called")
        load = Call(argv=("node", "--input-type=module", "-e", _LOADED, product.name))
        return Trial(install=(install,), calls=(load,), said="installed, its main module loaded")

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        return locked_components(plain_text(trial / "package-lock.json"))


def generated_package(source: Source) -> dict[str, bytes]:
    """A package.json for a project of scripts that has none."""
    if "package.json" in source.files:
        return {}
    main = next((name for name in ("index.js", "index.mjs", "main.js", "src/index.js") if name in source.files), "")
    if not main:
        raise NothingToPackage("there is no package.json here, and no index.js", "add a package.json")
    tops = sorted({PurePosixPath(name).parts[0] for name in source.files if name.endswith((".js", ".mjs", ".cjs"))})
    name = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in source.name.lower())
    package = {"name": name.strip("-_") or "package", "version": FIRST_VERSION, "main": main, "files": tops}
    if b"\nexport " in b"\n" + (source.read(main) or b""):
        package["type"] = "module"
    return {"package.json": (json.dumps(package, indent=2) + "\n").encode()}


def packed_manifest(tarball: Path) -> dict[str, Any]:
    """The package.json in a tarball."""
    try:
        with tarfile.open(tarball) as archive:
            member = archive.getmember("package/package.json")
            stream = archive.extractfile(member)
            return json_of(stream.read(_LARGEST_MANIFEST)) if stream is not None else {}
    except (OSError, KeyError, tarfile.TarError) as error:
        raise PackageFailed(f"{tarball.name} is no npm package: {error}", "look at what `npm pack` does") from error


def programs_of(package: dict[str, Any]) -> tuple[str, ...]:
    """The programs that a package installs, the one of its own name first."""
    plain = string(package.get("name")).rpartition("/")[2]
    declared = package.get("bin")
    if isinstance(declared, str):
        return (plain,)
    return tuple(sorted(table(declared), key=lambda name: (name != plain, name)))
