"""What the witness of a test run is told to watch, and the names it hands to files that were altered for the run."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from milepost.verify.judging.paths import CODE, is_test_path, suffix
from milepost.verify.walk_checkout import files_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """`tests` are the files whose code judges; `changed` are the files of the product that are watched, all when None.

    `trip`, `other` and `seen` are names under which altered files find the witness's functions: drawn anew for each
    run, and empty where no file was altered. `seed` is what `other` draws by.
    """

    tests: tuple[str, ...]
    changed: tuple[str, ...] | None = None
    trip: str = ""
    other: str = ""
    seen: str = ""
    seed: str = field(default_factory=lambda: secrets.token_hex(8))

    def with_names(self) -> Watched:
        """The same with fresh names."""
        return replace(self, trip=f"_{secrets.token_hex(5)}", other=f"_{secrets.token_hex(5)}")


def judging_code(checkout: Path) -> tuple[str, ...]:
    """The files of a checkout whose code is code of tests."""
    paths = (path.relative_to(checkout).as_posix() for path in files_below(checkout))
    return tuple(path for path in paths if suffix(path) in CODE and is_test_path(path))
