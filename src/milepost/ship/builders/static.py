"""A static site: a folder, or what its build writes, with names by content, digests and compressed copies."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath

from milepost.core.errors import NothingToPackage, PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.ship.builders.javascript_packages import install_step, locked_components, manager_of
from milepost.ship.builders.site_names import hashed_names, is_text
from milepost.ship.guest_files import plain_files, sha256_of, take_file
from milepost.ship.kinds import site_folder
from milepost.ship.recipe import Call, Component, Product, Recipe, Source, Step, Trial
from milepost.ship.site_manifest import manifest_path, write_manifest
from milepost.sources.parse_documents import json_of, string, table

BUILT = ("dist", "build", "out", "_site", "public")
SITE = "site"
_COMPRESSED = (".html", ".htm", ".css", ".js", ".mjs", ".svg", ".json", ".xml", ".txt", ".map", ".wasm", ".webmanifest")
_LEAST_COMPRESSED = 256
_LARGEST_TEXT = 8_000_000
# What lies beside a page at the top of a repository, and is not of the site.
_NOT_PUBLISHED = (".md", ".toml", ".lock", ".yaml", ".yml")
_NOT_PUBLISHED_NAMES = frozenset({"package.json", "package-lock.json", "node_modules", "tests", "LICENSE", "Makefile"})
_OPEN_SITE = Path(__file__).parents[1] / "guest" / "open_site.py"


@dataclass(frozen=True, slots=True)
class StaticKind:
    """Static sites."""

    kind: ArtifactKind = ArtifactKind.STATIC
    version: str = "1"

    def recipe(self, source: Source) -> Recipe:
        if not _is_built(source):
            if site_folder(source.files) is None:
                raise NothingToPackage("there is no index.html here, and no script that builds one", "add a page")
            return Recipe(kind=self.kind)
        manager = manager_of(source.files)
        return Recipe(
            kind=self.kind,
            programs=(manager, "node"),
            build=(install_step(source.files), Step(argv=(manager, "run", "build"), cwd="{tree}")),
        )

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        folder = _built_folder(tree) if _is_built(source) else tree / str(site_folder(source.files))
        site = draft / SITE
        for file in plain_files(folder, tree):
            path = file.relative_to(folder)
            if folder != tree or _is_published(path.parts):
                take_file(file, tree, site / path)
        if not (site / "index.html").is_file():
            raise PackageFailed(f"the build left no {folder.name}/index.html", "let it write a page")
        renamed = name_by_content(site)
        compressed = sum(1 for _ in _compress(site))
        with_brotli = "gzip and brotli" if _brotli() else "gzip, no brotli here"
        package = json_of(source.read("package.json") or b"")
        return Product(
            path=site,
            name=string(package.get("name")) or source.name,
            version=string(package.get("version")) or "0",
            sha256=write_manifest(site),
            size=sum(file.stat().st_size for file in plain_files(site, site)),
            others=(manifest_path(site),),
            note=f"{renamed} files named by their content, {compressed} compressed copies ({with_brotli})",
        )

    def trial(self, source: Source, product: Product) -> Trial:
        code = _OPEN_SITE.read_text(encoding="utf-8")
        call = Call(argv=("{python}", "-I", "-c", code, "{file}", "{browser}"))
        return Trial(calls=(call,), said="")

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        return locked_components((source.read("package-lock.json") or b"").decode("utf-8", "replace"))


def name_by_content(site: Path) -> int:
    """Give files of a site names that carry their digest, where that is safe; how many got one."""
    files = {file.relative_to(site).as_posix(): file for file in plain_files(site, site)}
    texts = {
        path: file.read_bytes().decode("latin-1")
        for path, file in files.items()
        if is_text(path) and file.stat().st_size <= _LARGEST_TEXT
    }
    named = hashed_names({path: sha256_of(file) for path, file in files.items()}, texts)
    for path, text in named.texts.items():
        place = site / named.names.get(path, path)
        if path in named.kept:
            place.write_bytes(text.encode("latin-1"))
        files[path].write_bytes(text.encode("latin-1"))
    for old, new in named.names.items():
        if old not in named.kept:
            (site / old).rename(site / new)
        elif old not in named.texts:
            (site / new).write_bytes(files[old].read_bytes())
    return len(named.names)


def _compress(site: Path) -> Iterator[Path]:
    """Write compressed copies of texts that get shorter by it."""
    ways: dict[str, Callable[[bytes], bytes]] = {".gz": lambda content: gzip.compress(content, 9, mtime=0)}
    if (brotli := _brotli()) is not None:
        ways[".br"] = brotli
    for file in [*plain_files(site, site)]:
        if file.suffix not in _COMPRESSED or file.stat().st_size < _LEAST_COMPRESSED:
            continue
        content = file.read_bytes()
        for suffix, compress in ways.items():
            if len(short := compress(content)) < len(content):
                copy = file.with_name(file.name + suffix)
                copy.write_bytes(short)
                yield copy


def _brotli() -> Callable[[bytes], bytes] | None:
    try:
        compress: Callable[[bytes], bytes] = import_module("brotli").compress
    except ImportError:
        return None
    return compress


def _is_built(source: Source) -> bool:
    return "build" in table(json_of(source.read("package.json") or b""), "scripts")


def _built_folder(tree: Path) -> Path:
    found = next((name for name in BUILT if os.path.lexists(tree / name / "index.html")), "")
    if not found:
        raise PackageFailed(
            f"the build wrote no page: none of {', '.join(BUILT)} has an index.html", "let it write into dist"
        )
    return tree / found


def _is_published(parts: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") and part != ".well-known" for part in parts)
    top = parts[0]
    is_other = len(parts) == 1 and PurePosixPath(top).suffix in _NOT_PUBLISHED
    return not hidden and not is_other and top not in _NOT_PUBLISHED_NAMES
