"""What the JavaScript side of a checkout needs: its package manifests, their lock, and where packages come from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from milepost.sandbox.read_plain import read_plain
from milepost.sources.manifests.javascript import GROUPS, dependencies, workspace_patterns
from milepost.sources.parse_documents import json_of
from milepost.verify.environments.python_needs import digest_of
from milepost.verify.environments.requirement_files import inside, sources_in

MANIFEST = "package.json"
LOCKS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
}
SETTINGS = (".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml")

_SHAPING = (*GROUPS, "workspaces", "overrides", "resolutions", "pnpm", "packageManager", "name", "version")
_USUAL_HOSTS = ("registry.npmjs.org", "registry.yarnpkg.com")
_FROM_YARN_OR_PNPM = re.compile(r"(?:resolved \"|tarball: |resolution: \{.*?repo: )([a-z+]+://[^\s\",}]+)")
_REGISTRY = re.compile(r"registry\S*\s*[=:]\s*\"?([a-z]+://[^\s\"]+)", re.IGNORECASE)
_WORKSPACE_LINE = re.compile(r"^\s*-\s*['\"]?([^'\"#]+?)['\"]?\s*$", re.MULTILINE)
_SKIPPED = frozenset({"node_modules", ".git"})


@dataclass(frozen=True, kw_only=True)
class NodeNeeds:
    """One package of a checkout with the packages of its workspace. Paths are relative to the checkout's top.

    `members` are the folders of the workspace's packages and of packages that are asked for by their folder.
    `manifests` and `settings` are what installers read, `archives` files of the checkout that are installed.
    """

    folder: str
    lock: str = ""
    members: tuple[str, ...] = ()
    manifests: tuple[tuple[str, bytes], ...] = ()
    archives: tuple[tuple[str, bytes], ...] = ()
    settings: tuple[tuple[str, bytes], ...] = ()
    shape: str = ""
    sources: frozenset[str] = frozenset()
    anything: bool = False

    @property
    def tool(self) -> str:
        return LOCKS.get(self.lock, "npm")

    @cached_property
    def digest(self) -> str:
        """A hash over all that decides which packages there are; scripts and descriptions do not."""
        locked = dict(self.manifests).get(_join(self.folder, self.lock), b"") if self.lock else b""
        kept = (*self.archives, *self.settings, (self.lock, locked))
        return digest_of(self.shape, *(f"{path} {digest_of(content.decode('latin-1'))}" for path, content in kept))


def node_needs(top: Path) -> tuple[NodeNeeds, ...]:
    """Every package of a tree that stands for itself: at its top, and in a folder of its own with a lock of its own."""
    first = _needs(top, "")
    folders = sorted(path.parent.name for path in top.glob(f"*/{MANIFEST}") if path.parent.name not in _SKIPPED)
    others = [_needs(top, folder) for folder in folders if folder not in first.members]
    alone = [needs for needs in others if needs.lock or not first.anything]
    return tuple(needs for needs in (first, *alone) if needs.anything)


def _needs(top: Path, folder: str) -> NodeNeeds:
    table = json_of(_bytes(top / folder / MANIFEST))
    lock = next((name for name in LOCKS if (top / folder / name).is_file()), "")
    members = tuple(dict.fromkeys((*_workspace(top, folder, table), *_local_folders(top, folder, table))))
    names = [_join(each, MANIFEST) for each in (folder, *members)] + ([_join(folder, lock)] if lock else [])
    manifests = tuple((name, _bytes(top / name)) for name in names)
    settings = tuple(
        (name, _bytes(top / name)) for name in (_join(folder, each) for each in SETTINGS) if (top / name).is_file()
    )
    tables = {name: json_of(content) for name, content in manifests if name.endswith(MANIFEST)}
    archives = tuple((path, _bytes(top / path)) for path in _archives(top, folder, table))
    shape = json.dumps({name: {key: one.get(key) for key in _SHAPING} for name, one in tables.items()}, sort_keys=True)
    return NodeNeeds(
        folder=folder,
        lock=lock,
        members=members,
        manifests=manifests,
        archives=archives,
        settings=settings,
        shape=shape,
        sources=frozenset(_sources(tables, dict(manifests).get(_join(folder, lock), b""), lock, settings)),
        anything=any(one.get(kind) for one in tables.values() for kind in GROUPS),
    )


def _workspace(top: Path, folder: str, table: dict[str, Any]) -> Iterator[str]:
    """The folders of the packages in a workspace, as npm, yarn or pnpm would find them."""
    listed = _WORKSPACE_LINE.findall(_bytes(top / folder / "pnpm-workspace.yaml").decode("utf-8", "replace"))
    for pattern in (*workspace_patterns(table), *listed):
        plain = PurePosixPath(pattern.removeprefix("./")).as_posix()
        if plain.startswith(("/", "!", "..")):
            continue
        for found in _glob(top / folder, f"{plain}/{MANIFEST}"):
            if not _SKIPPED & set(found.relative_to(top).parts) and (where := _inside(top, found.parent)) is not None:
                yield where


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except (ValueError, NotImplementedError, OSError):
        return []


def _local_folders(top: Path, folder: str, table: dict[str, Any]) -> Iterator[str]:
    for path in _local_paths(top, folder, table):
        if (top / path / MANIFEST).is_file():
            yield path


def _archives(top: Path, folder: str, table: dict[str, Any]) -> Iterator[str]:
    for path in _local_paths(top, folder, table):
        if (top / path).is_file():
            yield path


def _local_paths(top: Path, folder: str, table: dict[str, Any]) -> Iterator[str]:
    for _, asked in dependencies(table):
        if asked.startswith(("file:", "link:", "./", "../")):
            path = asked.removeprefix("file:").removeprefix("link:")
            if (where := inside(top, PurePosixPath(folder) / path)) is not None:
                yield where


def _sources(
    tables: Mapping[str, dict[str, Any]], lock: bytes, name: str, settings: Iterable[tuple[str, bytes]]
) -> Iterator[str]:
    """The places beside the usual registry that packages would come from, and names that hide another package."""
    for table in tables.values():
        for _, asked in dependencies(table):
            if "://" in asked or asked.startswith(("github:", "gitlab:", "bitbucket:", "git@")) or _is_shorthand(asked):
                yield from sources_in(asked) or {asked.partition("#")[0]}
            elif asked.startswith("npm:"):
                yield asked.rpartition("@")[0] if asked.count("@") > asked.startswith("npm:@") else asked
    for _, content in settings:
        yield from (_host(found) for found in _REGISTRY.findall(content.decode("utf-8", "replace")))
    addresses = _locked(json_of(lock)) if LOCKS.get(name) == "npm" else _locked_otherwise(lock)
    yield from addresses


def _is_shorthand(asked: str) -> bool:
    """`owner/repository`, which npm reads as a repository on GitHub."""
    return bool(re.fullmatch(r"[\w.-]+/[\w.-]+(#.*)?", asked)) and not asked.startswith(".")


def _locked(lock: Mapping[str, Any]) -> Iterator[str]:
    """An address in npm's lock that is of another host, or of another package than the one it is installed as."""
    packages = lock.get("packages")
    for path, package in packages.items() if isinstance(packages, dict) else ():
        address = package.get("resolved") if isinstance(package, dict) else None
        if not isinstance(address, str) or "://" not in address:
            continue
        host = _host(address)
        named = str(package.get("name") or path.rpartition("node_modules/")[2])
        if host not in _USUAL_HOSTS:
            yield host
        elif f"/{named}/-/" not in unquote(urlsplit(address).path):
            yield f"{address} as {named}"


def _locked_otherwise(lock: bytes) -> Iterator[str]:
    hosts = map(_host, _FROM_YARN_OR_PNPM.findall(lock.decode("utf-8", "replace")))
    yield from (host for host in hosts if host not in _USUAL_HOSTS)


def _host(address: str) -> str:
    return (urlsplit(address).hostname or "").lower()


def _inside(top: Path, path: Path) -> str | None:
    return inside(top, PurePosixPath(path.relative_to(top)))


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _bytes(path: Path) -> bytes:
    try:
        return read_plain(path)
    except OSError:
        return b""
