"""Environments that Poetry and Pipenv keep for a project outside of it, found by the names they give them."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path


def kept_elsewhere(repository: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The environments of a project that uses one of these tools, the newest first."""
    if (repository / "poetry.lock").is_file():
        yield from _newest_first(_poetry_folder(environ), f"*-{_mark(os.path.realpath(repository))}-py*")
    if (repository / "Pipfile").is_file():
        yield from _newest_first(_pipenv_folder(environ), f"*-{_mark(str(repository.absolute() / 'Pipfile'))}")


def _mark(path: str) -> str:
    """What both tools tell projects of the same name apart by."""
    return base64.urlsafe_b64encode(hashlib.sha256(path.encode(errors="surrogateescape")).digest()).decode()[:8]


def _poetry_folder(environ: Mapping[str, str]) -> Path | None:
    if environ.get("POETRY_VIRTUALENVS_PATH"):
        return Path(environ["POETRY_VIRTUALENVS_PATH"])
    if environ.get("POETRY_CACHE_DIR"):
        return Path(environ["POETRY_CACHE_DIR"]) / "virtualenvs"
    return _below(environ, "XDG_CACHE_HOME", ".cache", "pypoetry/virtualenvs")


def _pipenv_folder(environ: Mapping[str, str]) -> Path | None:
    if environ.get("WORKON_HOME"):
        return Path(environ["WORKON_HOME"])
    return _below(environ, "XDG_DATA_HOME", ".local/share", "virtualenvs")


def _below(environ: Mapping[str, str], variable: str, usual: str, folder: str) -> Path | None:
    if environ.get(variable):
        return Path(environ[variable]) / folder
    return Path(environ["HOME"]) / usual / folder if environ.get("HOME") else None


def _newest_first(folder: Path | None, pattern: str) -> list[Path]:
    found = [path for path in folder.glob(pattern) if path.is_dir()] if folder is not None else []
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
