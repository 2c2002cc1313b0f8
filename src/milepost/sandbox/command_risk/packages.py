"""Packages that come from elsewhere than where everybody's come from: another index, or a bare address."""

from __future__ import annotations

import re

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import options_of

INSTALLERS = (
    *("pip", "pip3", "pipx", "uv", "uvx", "poetry", "pdm", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "gem"),
    *("bundle", "cargo", "go"),
)

_INDEX_OPTIONS = frozenset(
    ("--index-url", "--extra-index-url", "--index", "--default-index", "--find-links", "--registry", "--source")
) | {"--trusted-host", "--repository-url"}
_PYTHON_LETTERS = frozenset({"-i", "-f"})
_INDEX_VARIABLES = re.compile(
    r"(PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|TRUSTED_HOST)|UV_(INDEX|DEFAULT_INDEX|INDEX_URL|EXTRA_INDEX_URL)"
    r"|(npm_config|NPM_CONFIG)_(registry|REGISTRY)|YARN_NPM_REGISTRY_SERVER|GOPROXY|CARGO_REGISTRIES_\w+)=."
)
_INDEX_SETTING = re.compile(r"config set \S*(registry|index-url|npmRegistryServer)\b")
_ADDING = frozenset({"install", "i", "add", "download", "sync", "get", "dlx", "exec", "inject"})
_ADDRESS = re.compile(r"(.*@ ?)?(git\+)?(https?|ssh|git|file)://")


def from_elsewhere(piece: Piece) -> str | None:
    """What an installer takes from a place of the command's own choice."""
    taking = _INDEX_OPTIONS | (_PYTHON_LETTERS if piece.name in ("pip", "pip3") else frozenset())
    options = options_of(piece.arguments, taking)
    letters = _PYTHON_LETTERS if "pip" in (piece.name, *options.rest[:1]) or piece.name == "pip3" else frozenset()
    adds = not _ADDING.isdisjoint(options.rest) or piece.name in ("npx", "uvx", "bunx")
    if adds and options.has(*_INDEX_OPTIONS, *letters):
        return "takes packages from another index"
    if any(_INDEX_VARIABLES.match(variable) for variable in piece.env) or _INDEX_SETTING.match(" ".join(options.rest)):
        return "takes packages from another index"
    if adds and any(_ADDRESS.match(word) for word in options.rest):
        return "installs from an address, not from a package index"
    return None
