"""The packages of a JavaScript project: how they are installed for a build, and which they are."""

from __future__ import annotations

import base64
import binascii
from urllib.parse import quote

from milepost.ship.recipe import Component, Step
from milepost.sources.parse_documents import json_of, string, table

QUIET = ("--no-audit", "--no-fund", "--loglevel=error")
_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn"}


def manager_of(files: tuple[str, ...]) -> str:
    """The program by whose lock file packages are installed."""
    return next((manager for lock, manager in _LOCKS.items() if lock in files), "npm")


def install_step(files: tuple[str, ...]) -> Step:
    """Install the packages of a checkout. Their scripts are not run: this is the one command with a network."""
    manager = manager_of(files)
    match manager:
        case "npm":
            how = "ci" if "package-lock.json" in files else "install"
            argv: tuple[str, ...] = ("npm", how, "--include=dev", "--ignore-scripts", *QUIET)
        case "pnpm":
            argv = ("pnpm", "install", "--frozen-lockfile", "--ignore-scripts")
        case _:
            argv = ("yarn", "install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive")
    return Step(argv=argv, tool=manager, cwd="{tree}")


def locked_components(lock: str) -> tuple[Component, ...]:
    """The packages in a package-lock.json that are not only for development."""
    found = {}
    for place, entry in table(json_of(lock), "packages").items():
        if not isinstance(entry, dict) or "node_modules/" not in place or entry.get("dev") or entry.get("link"):
            continue
        name = string(entry.get("name")) or place.rpartition("node_modules/")[2]
        version = string(entry.get("version"))
        licence = string(entry.get("license"))
        purl = f"pkg:npm/{quote(name, safe='/')}@{version}"
        found[purl] = Component(
            purl=purl, name=name, version=version, licence=licence, digest=_digest(string(entry.get("integrity")))
        )
    return tuple(found[purl] for purl in sorted(found))


def _digest(integrity: str) -> str:
    """`sha512-…` in base64 as `sha512:…` in hex; empty where it is none."""
    name, _, value = integrity.partition(" ")[0].partition("-")
    try:
        return f"{name}:{base64.b64decode(value, validate=True).hex()}" if value else ""
    except (ValueError, binascii.Error):
        return ""
