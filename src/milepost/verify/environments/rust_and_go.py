"""What Rust and Go checkouts need: their modules, from what the user has already or fetched once, and then no network.

Where they build is the attempt's own scratch: a folder of builds that outlives the attempt would be one that code under
test can write to, and the next verdict would be about what it left there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost.core.attempt import Workspace
from milepost.sandbox.read_plain import read_plain
from milepost.sources.parse_documents import tables, toml_of
from milepost.verify.environments.equipment import Equipment
from milepost.verify.environments.package_cache import Entries, Failed
from milepost.verify.environments.python_needs import digest_of
from milepost.verify.environments.run_installer import Installer, failed

_GO_SUM = re.compile(r"^(\S+) (v\S+?)(/go\.mod)? h1:", re.MULTILINE)
_CRATES = "registry+https://github.com/rust-lang/crates.io-index"
_CRATES_SPARSE = "sparse+https://index.crates.io/"
_CARGO_SETTINGS = ("config.toml", "config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cargo:
    """Rust: crates by Cargo.lock."""

    installer: Installer
    entries: Entries
    mode: Literal["auto", "own", "off"] = "auto"

    def equip(self, workspace: Workspace) -> Equipment:
        top = workspace.folder
        if self.mode == "off" or not (top / "Cargo.toml").is_file():
            return Equipment()
        build = {"CARGO_TARGET_DIR": str(workspace.scratch / "cargo-target")}
        content = _bytes(top / "Cargo.lock")
        crates = tuple(crates_in(content))
        lock = digest_of(content.decode("latin-1")) if content else ""
        if not crates or (top / "vendor").is_dir():
            why = "the committed crates" if crates else "the lock file has no external crates"
            return Equipment(variables={**build, **_offline(crates)}, lock=lock, origin=(why,))
        home = Path(self.installer.environ.get("CARGO_HOME") or self.installer.home / ".cargo")
        if holds_crates(home, crates):
            return Equipment(
                variables={**build, "CARGO_HOME": str(home), **_offline(crates)},
                readable=tuple(home / name for name in ("registry", "git", *_CARGO_SETTINGS)),
                lock=lock,
                origin=("crates that cargo had already downloaded",),
            )
        if self.mode == "own":
            return Equipment(variables=build, lock=lock, origin=("cargo has not downloaded all crates",))
        settings = {name: content for name in _CARGO_SETTINGS if (content := _bytes(home / name))}
        key = digest_of(lock, *(content.decode("latin-1") for content in settings.values()))
        made = self.entries.get(f"cargo-{key}", lambda entry: self._fetch(entry, top, settings), "downloading crates")
        if isinstance(made, Failed):
            return Equipment(variables=build, lock=lock, problem=made.reason)
        return Equipment(
            variables={**build, "CARGO_HOME": str(made / "cargo"), **_offline(crates)},
            readable=(made / "cargo",),
            lock=lock,
            origin=("crates downloaded by cargo",),
        )

    def _fetch(self, entry: Path, top: Path, settings: Mapping[str, bytes]) -> Failed | None:
        """Fetching runs no code of a crate; cargo wants the files that a manifest names to be there, though empty."""
        for path in ("Cargo.toml", "Cargo.lock", *_members(top)):
            (entry / path).parent.mkdir(parents=True, exist_ok=True)
            (entry / path).write_bytes(_bytes(top / path))
            if path.endswith("Cargo.toml"):
                source = (entry / path).parent / "src"
                source.mkdir(exist_ok=True)
                for name in ("lib.rs", "main.rs"):
                    if (top / path).parent.joinpath("src", name).is_file():
                        (source / name).touch()
        (entry / "cargo").mkdir()
        for name, content in settings.items():
            (entry / "cargo" / name).write_bytes(content)
        argv = ("cargo", "fetch", "--locked", "--quiet")
        result = self.installer.run(argv, entry, tool="cargo", env={"CARGO_HOME": str(entry / "cargo")})
        return failed(result, argv, self.installer.timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """Go: modules by go.sum."""

    installer: Installer
    entries: Entries
    mode: Literal["auto", "own", "off"] = "auto"

    def equip(self, workspace: Workspace) -> Equipment:
        top = workspace.folder
        if self.mode == "off" or not (top / "go.mod").is_file():
            return Equipment()
        scratch = workspace.scratch
        build = {"GOCACHE": str(scratch / "go-build"), "GOPATH": str(scratch / "go"), "GOTOOLCHAIN": "local"}
        content = _bytes(top / "go.sum")
        modules = tuple(modules_in(content.decode("utf-8", "replace")))
        lock = digest_of(_bytes(top / "go.mod").decode("latin-1"), content.decode("latin-1"))
        if not modules or (top / "vendor" / "modules.txt").is_file():
            why = "the committed modules" if modules else "go.sum has no external modules"
            return Equipment(variables={**build, "GOPROXY": "off"}, lock=lock, origin=(why,))
        cache = self._module_cache()
        if holds_modules(cache, modules):
            return self._from(cache, build, lock, "modules that go had already downloaded")
        if self.mode == "own":
            return Equipment(variables=build, lock=lock, origin=("go has not downloaded all modules",))
        made = self.entries.get(f"go-{lock}", lambda entry: self._fetch(entry, top), "downloading Go modules")
        if isinstance(made, Failed):
            return Equipment(variables=build, lock=lock, problem=made.reason)
        return self._from(made / "modules", build, lock, "modules downloaded by go")

    def _from(self, modules: Path, build: dict[str, str], lock: str, origin: str) -> Equipment:
        variables = {**build, "GOMODCACHE": str(modules), "GOPROXY": "off", "GOFLAGS": "-mod=readonly"}
        return Equipment(variables=variables, readable=(modules,), lock=lock, origin=(origin,))

    def _module_cache(self) -> Path:
        environ = self.installer.environ
        if environ.get("GOMODCACHE"):
            return Path(environ["GOMODCACHE"])
        path = environ.get("GOPATH", "").split(os.pathsep)[0]
        return Path(path or self.installer.home / "go") / "pkg" / "mod"

    def _fetch(self, entry: Path, top: Path) -> Failed | None:
        for name in ("go.mod", "go.sum"):
            (entry / name).write_bytes(_bytes(top / name))
        argv = ("go", "mod", "download")
        env = {"GOMODCACHE": str(entry / "modules"), "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
        result = self.installer.run(argv, entry, tool="go", env=env)
        return failed(result, argv, self.installer.timeout_s)


def crates_in(lock: bytes) -> Iterator[tuple[str, str, str]]:
    """Name, version and source of every crate in a Cargo.lock that is not of the project itself."""
    for package in tables(toml_of(lock).get("package")):
        if package.get("source"):
            yield str(package.get("name")), str(package.get("version")), str(package["source"])


def holds_crates(home: Path, crates: tuple[tuple[str, str, str], ...]) -> bool:
    """Whether a cargo home has all of these; a crate from git or another registry is not looked for there."""
    if any(source not in (_CRATES, _CRATES_SPARSE) for _, _, source in crates):
        return False
    folders = [path for path in (home / "registry" / "cache").glob("*") if path.is_dir()]
    return all(any((place / f"{name}-{version}.crate").is_file() for place in folders) for name, version, _ in crates)


def modules_in(sums: str) -> Iterator[tuple[str, str]]:
    """The modules whose content, and not only whose go.mod, is in a go.sum."""
    return ((found[1], found[2]) for found in _GO_SUM.finditer(sums) if not found[3])


def holds_modules(cache: Path, modules: tuple[tuple[str, str], ...]) -> bool:
    download = cache / "cache" / "download"
    return all((download / _escaped(path) / "@v" / f"{_escaped(version)}.zip").is_file() for path, version in modules)


def _escaped(path: str) -> str:
    """Go writes a capital letter as `!` and the small one, for file systems that do not tell them apart."""
    return re.sub(r"[A-Z]", lambda found: f"!{found[0].lower()}", path)


def _offline(crates: tuple[tuple[str, str, str], ...]) -> dict[str, str]:
    return {"CARGO_NET_OFFLINE": "true"} if crates else {}


def _members(top: Path) -> Iterator[str]:
    for levels in ("*", "*/*"):
        for path in top.glob(f"{levels}/Cargo.toml"):
            if not path.is_symlink() and "target" not in path.parts:
                yield path.relative_to(top).as_posix()


def _bytes(path: Path) -> bytes:
    try:
        return read_plain(path)
    except OSError:
        return b""
