"""What the repository and the machine have to say about a plan: which files there are, who imports whom, what runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """What a plan stands on; None where nobody looked.

    `files` are the files of the repository; `imports` what a file that tasks name imports of the others that they name,
    each with the file that it is reached through, empty for a direct import; `missing` the programs that a Verify line
    names and this machine does not have. `notes` say what was too much to look at, and what is good to know.
    """

    files: frozenset[str] | None = None
    imports: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


UNSEEN = RepositoryFacts()
