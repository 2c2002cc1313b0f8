"""What an installation promises: the extra `all` holds every other, and the locks hold what the README uses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LOCKS = ("run", "dev")


def pins(lock: str) -> dict[str, tuple[str, bool]]:
    """Version, and whether there is a hash, of each package in a lock."""
    text = (ROOT / f"requirements/{lock}.lock").read_text()
    entries = re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)(.*(?:\n[ ].*)*)", text, re.MULTILINE)
    return {name: (version, "--hash=sha256:" in rest) for name, version, rest in entries}


def test_the_extra_all_holds_every_other_extra() -> None:
    (only,) = EXTRAS["all"]
    held = re.fullmatch(r"milepost\[(.*)\]", only)
    assert held is not None
    assert set(held[1].split(",")) == EXTRAS.keys() - {"all"}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_by_hash_and_names_no_index(lock: str) -> None:
    text = (ROOT / f"requirements/{lock}.lock").read_text()
    assert "://" not in text and "index" not in text
    assert pins(lock) and all(hashed for _, hashed in pins(lock).values())


def test_what_is_installed_for_the_demo_has_what_the_readme_shows_and_is_what_the_tests_use() -> None:
    wanted = [line for extra in ("models", "mcp", "web") for line in EXTRAS[extra]] + PROJECT["dependencies"]
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in wanted}  # type: ignore[index]
    run, dev = pins("run"), pins("dev")
    assert names <= run.keys()
    assert {name: pin for name, pin in run.items() if name in dev and dev[name] != pin} == {}
    assert run.keys() <= dev.keys()


def test_the_container_copies_what_is_there() -> None:
    lines = (ROOT / "Containerfile").read_text().splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    assert copied and all((ROOT / word).exists() for word in copied)
