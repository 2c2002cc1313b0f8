"""Packages as npm leaves them, made up: what is done with them needs neither npm nor a network."""

from __future__ import annotations

from pathlib import Path

from milepost.web import libraries

IMPORTS = {
    "preact/hooks": 'import{options as n}from"preact";',
    "@preact/signals": 'import{h as t}from"preact";import{useMemo as f}from"preact/hooks";'
    "export{signal}from'@preact/signals-core';",
}


def made_up(folder: Path) -> Path:
    """A folder of packages in which each module imports what the real one does."""
    for specifier, (_, path) in libraries.MODULES.items():
        module = folder / path
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(f"{IMPORTS.get(specifier, '')}export const a=1;\n//# sourceMappingURL={module.name}.map\n")
    for package in libraries.versions():
        (folder / package / "LICENSE").write_text(f"licence of {package}")
    return folder
