"""What was packaged, for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.cli.format_text import duration, from_here, safe

if TYPE_CHECKING:
    from milepost.artifacts import Packaged

_UNITS = ("B", "kB", "MB", "GB")


def package_lines(made: Packaged, copied: Sequence[Path], written: Sequence[Path]) -> list[str]:
    """The artifact, what was found out about it, and what to do next."""
    artifact = made.artifact
    proven = "1 milepost holds" if made.mileposts == 1 else f"{made.mileposts} mileposts hold"
    built = "built before from this tree, digest verified" if made.cached else f"built in {duration(made.duration_ms)}"
    rows = [
        ("file", from_here(artifact.path)),
        ("sha256", artifact.sha256),
        ("size", size_words(artifact.size)),
        ("commit", f"{artifact.commit[:7]} · {f'unproven: {made.unproven}' if made.unproven else proven}"),
        ("build", f"{built} · twice in clean checkouts, same digest both times"),
        ("ran", made.ran),
    ]
    if artifact.start:
        rows.append(("start", " ".join(artifact.start)))
    if made.others:
        rows.append(("also", ", ".join(made.others)))
    if made.signed_by:
        rows.append(("signed", f"by {made.signed_by}: provenance.json.sig"))
    rows += [("wrote", from_here(path)) for path in written] + [("copied", from_here(path)) for path in copied]
    width = max(len(name) for name, _ in rows)
    head = f"{artifact.kind} {artifact.name} {artifact.version} · {made.reason}"
    lines = [head, *(f"  {name:<{width}}  {text}" for name, text in rows)]
    if made.generated and not written:
        lines.append(f"next   milepost package --write   writes {', '.join(made.generated)} into the project")
    elif not copied:
        lines.append("next   milepost package --out dist   copies it, with its SBOM and provenance")
    return [safe(line) for line in lines]


def generated_lines(made: Packaged) -> list[str]:
    """The manifests that were generated, as a diff that git applies."""
    return [safe(line) for line in made.diff.splitlines()]


def size_words(size: int) -> str:
    """A size as people say it: `1.4 kB`."""
    amount, unit = float(size), 0
    while amount >= 999.5 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 or amount >= 99.5 else f"{amount:.1f} {_UNITS[unit]}"
