"""The licences that a pattern can write, as their standard texts."""

from __future__ import annotations

from importlib.resources import files

LICENCES = ("MIT", "ISC", "Apache-2.0")
NAMING_A_HOLDER = ("MIT", "ISC")


def licence_text(name: str, *, holder: str = "", year: str = "") -> str:
    """The text of a licence; those that name their holder take one and a year."""
    text = files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return text.replace("{holder}", holder).replace("{year}", year) if name in NAMING_A_HOLDER else text
