"""OCI images as folders, written without a daemon: layers, configuration, manifest, index; the same bytes each time."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import platform
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from milepost.core.errors import PackageFailed

_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_CHUNK = 1 << 20
_LARGEST_JSON = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseImage:
    """What an image stands on: its layers, by descriptor and the digest of what they unpack to, and its settings."""

    layers: tuple[Mapping[str, Any], ...] = ()
    diff_ids: tuple[str, ...] = ()
    config: Mapping[str, Any] | None = None


def machine_architecture() -> str:
    """This machine's architecture as images name it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def begin_layout(folder: Path) -> None:
    (folder / "blobs/sha256").mkdir(parents=True)
    (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}', encoding="utf-8")


def add_base(folder: Path, base: Path) -> BaseImage:
    """Take over a base: an OCI layout, an archive of one, or the files of a root as a tar."""
    try:
        if base.is_dir():
            return _from_layout(folder, base)
        with tarfile.open(base) as archive:
            is_layout = any(PurePosixPath(member.name) == PurePosixPath("oci-layout") for member in archive)
        if is_layout:
            return _from_archive(folder, base)
        with _opened(base) as stream:
            return _added(folder, stream)
    except (OSError, tarfile.TarError, ValueError, KeyError, IndexError) as error:
        raise PackageFailed(
            f"the base {base.name!r} is neither an OCI layout nor a tar of files: {error}",
            "name another in [package] base, as one that `podman save --format oci-archive` or mmdebstrap writes",
        ) from error


def add_layer(folder: Path, entries: Mapping[str, Path | str], time: int) -> BaseImage:
    """Add a layer with these files by their path in the image; a text is where a link leads."""
    plain = folder / ".layer.tar"
    with tarfile.open(plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        above = {str(parent) for path in entries for parent in PurePosixPath(path).parents if str(parent) not in "./"}
        for path in sorted({*above, *entries}):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.mtime = time
            source = entries.get(path)
            if source is None:
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(member)
            elif isinstance(source, str):
                member.type, member.linkname, member.mode = tarfile.SYMTYPE, source, 0o777
                archive.addfile(member)
            else:
                with source.open("rb") as stream:
                    member.size = source.stat().st_size
                    member.mode = 0o755 if source.stat().st_mode & 0o100 else 0o644
                    archive.addfile(member, stream)
    try:
        with plain.open("rb") as stream:
            return _added(folder, stream)
    finally:
        plain.unlink()


def finish_layout(
    folder: Path, parts: tuple[BaseImage, ...], settings: Mapping[str, Any], *, tag: str, time: int
) -> str:
    """Write configuration, manifest and index; the digest of the manifest, without its algorithm."""
    base = next((part.config for part in parts if part.config), None) or {}
    created = datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")
    config = {
        "architecture": base.get("architecture", machine_architecture()),
        "os": base.get("os", "linux"),
        "created": created,
        "config": {**(base.get("config") or {}), **settings},
        "rootfs": {"type": "layers", "diff_ids": [one for part in parts for one in part.diff_ids]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": {"mediaType": _CONFIG, **_blob(folder, _json(config))},
        "layers": [dict(one) for part in parts for one in part.layers],
    }
    described = _blob(folder, _json(manifest))
    place = {"architecture": config["architecture"], "os": config["os"]}
    named = {"org.opencontainers.image.ref.name": tag}
    entry = {"mediaType": _MANIFEST, **described, "platform": place, "annotations": named}
    (folder / "index.json").write_bytes(_json({"schemaVersion": 2, "mediaType": _INDEXES[0], "manifests": [entry]}))
    return str(described["digest"]).removeprefix("sha256:")


def digest_of_layout(folder: Path) -> str:
    """The digest of a layout's manifest; ValueError where any part of it is not what its digest says."""
    described = _read(folder / "index.json")["manifests"][0]
    manifest = json.loads(_checked(folder, described, whole=True))
    for one in (manifest["config"], *manifest["layers"]):
        _checked(folder, one)
    return str(described["digest"]).removeprefix("sha256:")


def config_of(folder: Path) -> dict[str, Any]:
    """The configuration of the image in a layout."""
    manifest = json.loads(_checked(folder, _chosen(folder), whole=True))
    return cast(dict[str, Any], json.loads(_checked(folder, manifest["config"], whole=True)))


def _from_layout(folder: Path, base: Path) -> BaseImage:
    manifest = json.loads(_checked(base, _chosen(base), whole=True))
    config = json.loads(_checked(base, manifest["config"], whole=True))
    for one in manifest["layers"]:
        _checked(base, one)
        shutil.copyfile(_place(base, one), _place(folder, one))
    if len(manifest["layers"]) != len(config["rootfs"]["diff_ids"]):
        raise ValueError("its layers are not those that its configuration names")
    return BaseImage(layers=tuple(manifest["layers"]), diff_ids=tuple(config["rootfs"]["diff_ids"]), config=config)


def _from_archive(folder: Path, base: Path) -> BaseImage:
    unpacked = folder / ".base"
    with tarfile.open(base) as archive:
        archive.extractall(unpacked, filter="data")
    try:
        return _from_layout(folder, unpacked)
    finally:
        shutil.rmtree(unpacked)


def _chosen(folder: Path) -> Mapping[str, Any]:
    """The manifest for this machine in an index, which may be of indexes."""
    listed = _read(folder / "index.json")["manifests"]
    for _ in range(3):
        fitting = [one for one in listed if _fits(one.get("platform"))]
        if not fitting:
            raise ValueError(f"it has no image for linux/{machine_architecture()}")
        if fitting[0].get("mediaType") not in _INDEXES:
            return cast(Mapping[str, Any], fitting[0])
        listed = json.loads(_checked(folder, fitting[0], whole=True))["manifests"]
    raise ValueError("its index is nested too deeply")


def _fits(place: Mapping[str, Any] | None) -> bool:
    return place is None or (place.get("os"), place.get("architecture")) == ("linux", machine_architecture())


def _checked(folder: Path, described: Mapping[str, Any], *, whole: bool = False) -> bytes:
    """Raise ValueError where a blob is not what its digest says; its content, where that is asked for."""
    place = _place(folder, described)
    digest = hashlib.sha256()
    with place.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    if f"sha256:{digest.hexdigest()}" != described["digest"]:
        raise ValueError(f"{described['digest']} has another content")
    if not whole:
        return b""
    if place.stat().st_size > _LARGEST_JSON:
        raise ValueError(f"{described['digest']} is too large")
    return place.read_bytes()


def _place(folder: Path, described: Mapping[str, Any]) -> Path:
    algorithm, _, value = str(described["digest"]).partition(":")
    if algorithm != "sha256" or len(value) != 64 or not value.isalnum():
        raise ValueError(f"{described['digest']!r} is no sha256 digest")
    return folder / "blobs/sha256" / value


def _opened(file: Path) -> IO[bytes]:
    with file.open("rb") as stream:
        start = stream.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(file, "rb"))
    if start.startswith(b"BZh"):
        return cast(IO[bytes], bz2.open(file, "rb"))
    return cast(IO[bytes], lzma.open(file, "rb")) if start.startswith(b"\xfd7zXZ") else file.open("rb")


def _added(folder: Path, plain: IO[bytes]) -> BaseImage:
    """A layer of an uncompressed tar."""
    draft, content = folder / ".layer.gz", hashlib.sha256()
    with (
        draft.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0) as packed,
    ):
        while chunk := plain.read(_CHUNK):
            content.update(chunk)
            packed.write(chunk)
    with draft.open("rb") as stream:
        digest = f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    described = {"mediaType": _LAYER, "digest": digest, "size": draft.stat().st_size}
    draft.rename(_place(folder, described))
    return BaseImage(layers=(described,), diff_ids=(f"sha256:{content.hexdigest()}",))


def _blob(folder: Path, content: bytes) -> dict[str, Any]:
    described = {"digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}
    _place(folder, described).write_bytes(content)
    return described


def _read(file: Path) -> dict[str, Any]:
    if file.stat().st_size > _LARGEST_JSON:
        raise ValueError(f"{file.name} is too large")
    return cast(dict[str, Any], json.loads(file.read_bytes()))


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
