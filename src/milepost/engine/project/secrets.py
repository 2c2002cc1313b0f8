"""The secret values that are known to this process, and must be kept nowhere."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from milepost.core.secrets.redact import secrets_of
from milepost.engine.project.settings.settings import Settings
from milepost.sandbox.secrets import Secret
from milepost.workspace.built_files import built_files
from milepost.workspace.local_files import LocalFiles


def known_secrets(settings: Settings, top: Path | None = None) -> frozenset[str]:
    """Secret values that must not be kept: those of the environment, and what the settings give to agents.

    With the top of a repository also those in the files that are copied from there into checkouts.
    """
    given = {value for section in settings.agents.values() for value in section.env.values()}
    passed = {os.environ.get(name, "") for section in settings.agents.values() for name in section.env_from}
    servers = settings.mcp.values()
    given |= {value for section in servers for value in section.env.values()}
    passed |= {os.environ.get(name, "") for section in servers for name in (*section.env_from, section.bearer_from)}
    passed.add(os.environ.get(settings.memory.primary_token_from, ""))
    given.add(_password_in(settings.memory.primary))
    brokered = {os.environ.get(name, "") for name in settings.sandbox.secrets}
    copied = frozenset[str]() if top is None else local_files(top, settings).secrets()
    return secrets_of(os.environ) | given | passed | brokered | copied


def local_files(top: Path, settings: Settings) -> LocalFiles:
    """The files of the user's working tree that every checkout has: what the settings name, what a build wrote."""
    return LocalFiles(top=top, names=tuple(settings.workspace.copied), built=built_files(top))


def _password_in(address: str) -> str:
    """The password in an address; empty where there is none."""
    try:
        return urlsplit(address).password or ""
    except ValueError:
        return ""


def secrets_for_commands(settings: Settings) -> tuple[Secret, ...]:
    """The secrets that commands may be given, as far as they are in the environment."""
    return tuple(
        Secret(name=name, value=os.environ[name], programs=frozenset(section.programs))
        for name, section in settings.sandbox.secrets.items()
        if name in os.environ
    )
