"""Rust: a program, linked so that it needs no library of the machine it runs on, where that can be had."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from milepost.core.errors import NothingToPackage, PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.ship.guest_files import sha256_of, take_file
from milepost.ship.kinds import rust_binaries
from milepost.ship.recipe import Component, Product, Recipe, Source, Step, Trial, trial_call
from milepost.sources.parse_documents import string, table, tables, toml_of

_BUILD = {
    "CARGO_HOME": "{more}/cargo",
    "CARGO_TARGET_DIR": "{out}/target",
    "CARGO_NET_OFFLINE": "true",
    "CARGO_INCREMENTAL": "0",
}
# It runs no code of a crate, and is run where the checkout's settings of cargo are not read.
FETCH = Step(
    argv=("cargo", "fetch", "--locked", "--manifest-path", "{tree}/Cargo.toml"),
    tool="cargo",
    env={"CARGO_HOME": "{more}/cargo"},
)
_PATHS = "--remap-path-prefix={tree}=. --remap-path-prefix={out}=target --remap-path-prefix={more}=cargo"


@dataclass(frozen=True, slots=True)
class RustKind:
    """Programs in Rust."""

    kind: ArtifactKind = ArtifactKind.RUST
    version: str = "1"

    def recipe(self, source: Source) -> Recipe:
        name = _binary(source)
        if "Cargo.lock" not in source.files:
            raise PackageFailed(
                "there is no Cargo.lock in the commit, so that no build is the same twice", "commit the Cargo.lock"
            )
        target = machine_target()
        # With a target, flags are for the program alone: a build script and a macro need their libraries.
        flags = f"-C target-feature=+crt-static {_PATHS}" if _is_gnu(target) else _PATHS
        options = ("--release", "--locked", "--bin", name, "--target", target)
        return Recipe(
            kind=self.kind,
            programs=("cargo",),
            ready=() if _is_vendored(source) else (FETCH,),
            build=(Step(argv=("cargo", "build", *options), cwd="{tree}", env=_BUILD | {"RUSTFLAGS": flags}),),
        )

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        name = _binary(source)
        built = out / "target" / machine_target() / "release" / name
        if not built.is_file():
            raise PackageFailed(f"cargo built no program {name!r}", "look at the [[bin]] of Cargo.toml")
        program = take_file(built, out, draft / name)
        package = table(toml_of(source.read("Cargo.toml") or b""), "package")
        return Product(
            path=program,
            name=name,
            version=string(package.get("version")) or "0.0.0",
            sha256=sha256_of(program),
            size=program.stat().st_size,
            start=source.options.command or (name,),
            note="static" if is_static(program) else "linked to the libraries of the machine",
        )

    def trial(self, source: Source, product: Product) -> Trial:
        words = product.start[1:] if product.start[0] == product.name else ()
        call = trial_call(("{file}", *words), source.options)
        return Trial(calls=(call,), said=f"{product.name} called")

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        found = []
        for package in tables(toml_of(source.read("Cargo.lock") or b"").get("package")):
            name, version = string(package.get("name")), string(package.get("version"))
            if package.get("source"):
                checksum = string(package.get("checksum"))
                purl = f"pkg:cargo/{quote(name)}@{version}"
                digest = f"sha256:{checksum}" if checksum else ""
                found.append(Component(purl=purl, name=name, version=version, digest=digest))
        return tuple(found)


def machine_target() -> str:
    """What this machine is called by rustc, with the C library of most."""
    return f"{platform.machine()}-unknown-linux-{'gnu' if platform.libc_ver()[0] == 'glibc' else 'musl'}"


def is_static(program: Path) -> bool:
    """Whether an ELF program names no loader of libraries."""
    with program.open("rb") as stream:
        head = stream.read(64)
        if head[:5] != b"\x7fELF\x02":
            return False
        start, size, count = (int.from_bytes(head[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
        stream.seek(start)
        headers = [stream.read(size) for _ in range(min(count, 64))]
    return all(int.from_bytes(header[:4], "little") != 3 for header in headers)  # PT_INTERP


def _is_vendored(source: Source) -> bool:
    """Whether the crates are in the commit."""
    settings = (toml_of(source.read(f".cargo/{name}") or b"") for name in ("config.toml", "config"))
    return any("source" in one for one in settings)


def _is_gnu(target: str) -> bool:
    return target.endswith("-gnu")


def _binary(source: Source) -> str:
    """The program that is built: the one that the settings start, or else the first."""
    names = rust_binaries(source.files, source.read)
    wanted = source.options.command[:1]
    if not names:
        raise NothingToPackage("Cargo.toml declares no program here", "add src/main.rs, or package another kind")
    return wanted[0] if wanted and wanted[0] in names else names[0]
