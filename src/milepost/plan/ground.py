"""What the repository and the machine have to say about a plan: which files there are, who imports whom, what runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a plan stands on; None where nobody looked.

    `files` are the files and folders of the repository; `imports` the files that a file imports, directly or through
    others, as far as tasks name them; `missing` the programs of Verify lines that this machine does not have.
    """

    files: frozenset[str] | None = None
    imports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()


UNSEEN = Ground()
