"""setup.cfg split by section: metadata and options are the product's, every other section judges."""

from __future__ import annotations

import configparser
import re

from milepost.verify.judging.manifest_rules import RUNNERS

_HEADER = re.compile(r"(?m)^(?=\[)")


def merged_ini(before: str | None, after: str) -> bytes | None:
    """The file that judges as the base's does; None where a parser would read another one in its text."""
    old, new = _read(before or ""), _read(after)
    meant = {name: new[name] for name in new if _is_product(name, old, new)}
    meant |= {name: old[name] for name in old if not _is_product(name, old, new)}
    if meant == new:
        return after.encode()
    if before is not None and meant == old:
        return before.encode()
    there, given = _blocks(before or ""), _blocks(after)
    kept = [
        given.get(name, "") if name in new and _is_product(name, old, new) else text for name, text in there.items()
    ]
    kept = [text for name, text in zip(there, kept, strict=True) if name in meant or not name]
    kept += [given[name] for name in given if name in meant and name not in there]
    text = "".join(block if block.endswith("\n") else f"{block}\n" for block in kept if block)
    return text.encode() if _read(text) == meant else None


def _is_product(name: str, old: dict[str, dict[str, str]], new: dict[str, dict[str, str]]) -> bool:
    if name == "options.entry_points":
        return all(old.get(name, {}).get(group) == new.get(name, {}).get(group) for group in RUNNERS)
    return name == "metadata" or name == "options" or name.startswith("options.")


def _read(text: str) -> dict[str, dict[str, str]]:
    """The sections of a text; raises ValueError where it cannot be read."""
    parser = configparser.RawConfigParser(default_section="\0", strict=True)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _blocks(text: str) -> dict[str, str]:
    """The text of each section by its name, what stands before the first under an empty one."""
    found: dict[str, str] = {}
    for block in _HEADER.split(text):
        name = block[1:].partition("]")[0] if block.startswith("[") else ""
        found[name] = found.get(name, "") + block
    return found
