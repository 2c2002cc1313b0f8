"""What is handed to a vendor that builds or serves files itself, made of an artifact."""

from __future__ import annotations

import gzip
import io
import json
import shlex
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from milepost.core.errors import ArtifactUnfit
from milepost.core.shipping import ArtifactKind, Release, TargetSpec
from milepost.ship.guest_files import sha1_of
from milepost.ship.targets.images import DEFAULT_PORT, image_reference

Packing = Literal["nothing", "zip", "tar.gz", "files"]
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedFile:
    """A file of a static site, by the address it gets there."""

    address: str
    path: Path
    sha1: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """`made` is the archive, removed when it was handed over; `files` are those of a static site."""

    made: Path | None = None
    files: tuple[PackedFile, ...] = ()

    @property
    def archive(self) -> Path:
        assert self.made is not None, "this vendor asks for no archive"
        return self.made


NOTHING = Pack()


def packed(packing: Packing, spec: TargetSpec, release: Release, folder: Path) -> Pack:
    """An artifact as a vendor wants it; the same artifact is packed to the same bytes."""
    match packing:
        case "nothing":
            return NOTHING
        case "files":
            return Pack(files=files_of(release.artifact.path))
        case "zip" | "tar.gz":
            made = folder / f"{spec.application}-{release.number}.{packing}"
            (write_zip if packing == "zip" else write_tar)(source_files(spec, release), made)
            return Pack(made=made)
        case _:
            assert_never(packing)


def source_files(spec: TargetSpec, release: Release) -> dict[str, bytes | Path]:
    """The few files of which a platform with build packs makes the application: it installs the artifact itself."""
    artifact = release.artifact
    match artifact.kind:
        case ArtifactKind.WHEEL:
            return {
                artifact.path.name: artifact.path,
                "requirements.txt": f"./{artifact.path.name}\n".encode(),
                "Procfile": f"web: {shlex.join(command_of(spec, release))}\n".encode(),
            }
        case ArtifactKind.NPM:
            manifest = {
                "name": "release",
                "version": "1.0.0",
                "private": True,
                "dependencies": {artifact.name: f"file:./{artifact.path.name}"},
                "scripts": {"start": shlex.join(command_of(spec, release))},
            }
            return {
                artifact.path.name: artifact.path,
                "package.json": _json(manifest),
                "Procfile": b"web: npm start\n",
            }
        case ArtifactKind.IMAGE:
            image = {"Name": image_reference(spec, release), "Update": "true"}
            ports = [{"ContainerPort": spec.port or DEFAULT_PORT}]
            return {"Dockerrun.aws.json": _json({"AWSEBDockerrunVersion": "1", "Image": image, "Ports": ports})}
        case _:
            raise ArtifactUnfit(f"a platform with build packs cannot build {artifact.kind}")


def command_of(spec: TargetSpec, release: Release) -> tuple[str, ...]:
    """How the application is started."""
    if command := spec.command or release.artifact.start:
        return command
    raise ArtifactUnfit(
        f"nothing says how {release.artifact.name} is started", f"set `command` under [targets.{spec.name}]"
    )


def write_zip(files: Mapping[str, bytes | Path], made: Path) -> None:
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), _bytes(content), zipfile.ZIP_DEFLATED)


def write_tar(files: Mapping[str, bytes | Path], made: Path) -> None:
    with (
        made.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(whole := _bytes(content))
            archive.addfile(member, io.BytesIO(whole))


def files_of(folder: Path) -> tuple[PackedFile, ...]:
    """Every file of a static site in the order of their addresses. Links lead out of it, and are none."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return tuple(
        sorted(
            (
                PackedFile(
                    address=path.relative_to(folder).as_posix(),
                    path=path,
                    sha1=sha1_of(path),
                    size=path.stat().st_size,
                )
                for path in found
            ),
            key=lambda file: file.address,
        )
    )


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()


def _bytes(content: bytes | Path) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()
