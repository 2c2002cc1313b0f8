"""The files of a site with their digests, beside the site: what vendors ask for, and what a site is known by."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from milepost.ship.guest_files import plain_files, sha1_of, sha256_of


def manifest_of(site: Path) -> dict[str, Any]:
    """Each file of a site, by its path: sha256, sha1, size."""
    files = {
        file.relative_to(site).as_posix(): {
            "sha256": sha256_of(file),
            "sha1": sha1_of(file),
            "size": file.stat().st_size,
        }
        for file in plain_files(site, site)
    }
    return {"version": 1, "files": dict(sorted(files.items()))}


def manifest_path(site: Path) -> Path:
    """Where the manifest of a site is: beside it, so that it is not published."""
    return site.with_name(f"{site.name}.manifest.json")


def write_manifest(site: Path) -> str:
    """Write the manifest; its digest."""
    content = _bytes(manifest_of(site))
    manifest_path(site).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def digest_of_site(site: Path) -> str:
    """The digest of the manifest that a site has now."""
    return hashlib.sha256(_bytes(manifest_of(site))).hexdigest()


def _bytes(manifest: dict[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()
