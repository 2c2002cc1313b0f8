"""Lock files: which manifest each follows, and the command that makes it follow again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A kind of lock file: the manifest it follows, and what makes it follow again without a network.

    `argv` is empty where no tool can do that; `by_hand` is what a person would run, with all the network they have.
    """

    name: str
    manifest: str
    argv: tuple[str, ...]
    by_hand: str


_NPM = ("npm", "install", "--package-lock-only", "--offline", "--ignore-scripts", "--no-audit", "--no-fund")
_PNPM = ("pnpm", "install", "--lockfile-only", "--offline", "--ignore-scripts")

LOCKS = (
    Lock(name="package-lock.json", manifest="package.json", argv=_NPM, by_hand="npm install"),
    Lock(name="npm-shrinkwrap.json", manifest="package.json", argv=_NPM, by_hand="npm install"),
    Lock(name="pnpm-lock.yaml", manifest="package.json", argv=_PNPM, by_hand="pnpm install"),
    Lock(name="yarn.lock", manifest="package.json", argv=(), by_hand="yarn install"),
    Lock(name="uv.lock", manifest="pyproject.toml", argv=("uv", "lock", "--offline"), by_hand="uv lock"),
    Lock(name="poetry.lock", manifest="pyproject.toml", argv=("poetry", "lock", "-n"), by_hand="poetry lock"),
    Lock(name="pdm.lock", manifest="pyproject.toml", argv=("pdm", "lock", "--update-reuse"), by_hand="pdm lock"),
    Lock(
        name="Cargo.lock",
        manifest="Cargo.toml",
        argv=("cargo", "update", "--workspace", "--offline"),
        by_hand="cargo update --workspace",
    ),
)


def lock_of(path: str) -> Lock | None:
    """The kind of lock file that a path names."""
    return next((lock for lock in LOCKS if lock.name == PurePosixPath(path).name), None)
