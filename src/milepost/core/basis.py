"""What a verdict rests on, in sentences: files as they were at the base, an attempt's own tests, an exit code alone."""

from __future__ import annotations

from milepost.core.verdict import Evidence

BY_OWN_TESTS = "by its own tests"
EXIT_CODE_ALONE = "exit code alone"
PATHS_NAMED = 8


def basis_lines(evidence: Evidence) -> tuple[str, ...]:
    """What a reader must know beside the verdict, a sentence each; nothing where it was taken on the work as it is."""
    lines = []
    if count := len(evidence.from_base):
        files = "this file as it was" if count == 1 else f"these {count} files as they were"
        lines.append(f"taken with {files} at the base: {_listed(evidence.from_base)}")
    if count := len(evidence.left_out):
        files = "this added file" if count == 1 else f"these {count} added files"
        lines.append(f"taken without {files}: {_listed(evidence.left_out)}")
    own = own_tests(evidence)
    return (*lines, *([own] if own else []), *exit_codes_alone(evidence))


def own_tests(evidence: Evidence) -> str:
    """How strong the attempt's own tests are, where nothing else shows that the work is done; else empty."""
    said = [check for check in evidence.checks if check.summary.startswith(BY_OWN_TESTS)]
    by_strength = sorted(said, key=lambda check: check.name != "own tests")
    return by_strength[0].summary if by_strength else ""


def exit_codes_alone(evidence: Evidence) -> tuple[str, ...]:
    """The commands that passed and in which no test was seen, each with the reason."""
    return tuple(
        check.summary for check in evidence.checks if check.outcome == "passed" and EXIT_CODE_ALONE in check.summary
    )


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - PATHS_NAMED} more" if len(paths) > PATHS_NAMED else ""
    return ", ".join(paths[:PATHS_NAMED]) + more
