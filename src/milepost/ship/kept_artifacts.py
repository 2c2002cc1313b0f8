"""Artifacts that were built, a folder each: whole or not there, and looked at again before they are used."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milepost.core.errors import StateUnwritable
from milepost.core.machine_failure import machine_failure
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.ship.folder_digest import folder_digest
from milepost.ship.guest_files import sha256_of
from milepost.ship.oci_layout import digest_of_layout
from milepost.ship.site_manifest import digest_of_site

RECORD, SBOM, PROVENANCE = "artifact.json", "sbom.cdx.json", "provenance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An artifact and what is told of how it came to be."""

    artifact: Artifact
    told: Mapping[str, Any]


class KeptArtifacts:
    """The artifacts below one folder, each by the key of what it was made from."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A new folder for an artifact; what is not kept of it is gone afterwards."""
        folder = self._root / f".new-{secrets.token_hex(6)}"
        try:
            folder.mkdir(parents=True)
            yield folder
        except OSError as error:
            raise machine_failure(error, f"cannot keep the package below {str(self._root)!r}") or StateUnwritable(
                f"cannot keep the package below {str(self._root)!r}: {error.strerror or error}",
                "make it writable or free some space",
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, key: str, draft: Path, artifact: Artifact, told: Mapping[str, Any]) -> Kept:
        """Let a draft be the artifact of a key. The one that another process kept meanwhile stays."""
        record = {**asdict(artifact), "path": artifact.path.relative_to(draft).as_posix(), "told": dict(told)}
        (draft / RECORD).write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")
        place = self._root / key
        try:
            draft.rename(place)
        except OSError:
            if (found := self.find(key)) is not None:
                return found
            shutil.rmtree(place, ignore_errors=True)
            draft.rename(place)
        kept = self.find(key)
        assert kept is not None, "it was written a moment ago"
        return kept

    def find(self, key: str) -> Kept | None:
        """The artifact of a key, if it is there and has the digest that it was kept with."""
        place = self._root / key
        try:
            record = json.loads((place / RECORD).read_text(encoding="utf-8"))
            told = record.pop("told")
            record |= {"kind": ArtifactKind(record["kind"]), "path": place / record["path"]}
            artifact = Artifact(**{**record, "start": tuple(record["start"])})
            whole = digest_of(artifact) == artifact.sha256
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return Kept(artifact=artifact, told=told) if whole else None


def digest_of(artifact: Artifact) -> str:
    """The digest of an artifact as its files are now."""
    match artifact.kind:
        case ArtifactKind.STATIC:
            return digest_of_site(artifact.path)
        case ArtifactKind.IMAGE:
            return digest_of_layout(artifact.path)
        case ArtifactKind.WHEEL | ArtifactKind.NPM | ArtifactKind.RUST:
            return sha256_of(artifact.path)
        case ArtifactKind.TREE:
            return folder_digest(artifact.path)[0]
