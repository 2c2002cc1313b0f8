"""What was found out by hand, as a person and as a program read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost import proofs
from milepost.cli.format_text import clipped, counted, padded, wrapped
from milepost.cli.show.checks import check_lines

if TYPE_CHECKING:
    from milepost.proofs import Replayed, Verified


def verified_lines(verified: Verified, width: int) -> list[str]:
    """The checks of the files as they are now."""
    about = f"{verified.task}  {verified.title}" if verified.task else "your files as they are now"
    changed = counted(len(verified.changed), "file")
    head = clipped(f"{about} · {changed} changed since {verified.base[:7]}", width)
    evidence = verified.evidence
    failed = evidence.verdict == "failed"
    ending = f"{evidence.verdict}: {evidence.reason}" if verified.task or failed else "nothing failed"
    if not evidence.checks:
        ending = "nothing was checked: mode is 'skip' under [verify] in milepost.toml"
    lines = [head, "", *check_lines(evidence, width), "", *wrapped(ending, width, indent=0)]
    if verified.task and not verified.changed:
        lines.append(f"next   milepost verify {verified.task} --replay   checks its milepost again, if it has one")
    return lines


def verified_to_json(verified: Verified) -> dict[str, Any]:
    return {
        "task": verified.task or None,
        "base": verified.base,
        "changed": list(verified.changed),
        **proofs.evidence_to_json(verified.evidence),
    }


def replayed_lines(replayed: Replayed, width: int) -> list[str]:
    """Each check then and now."""
    post = replayed.milepost
    head = f"{post.task}  {post.title} · milepost {post.commit[:7]}, tree {replayed.evidence.tree[:12]}"
    lines = [clipped(head, width), ""]
    for one in replayed.comparisons:
        word = "same" if one.same else "different"
        lines.append(clipped(f"{padded(one.name, 16)} {word:<10} {one.difference or _now(one.now)}", width))
    if replayed.note:
        lines += ["", f"note: {replayed.note}"]
    return [*lines, "", "the same" if replayed.same else "different"]


def replayed_to_json(replayed: Replayed) -> dict[str, Any]:
    return {
        "task": replayed.milepost.task,
        "commit": replayed.milepost.commit,
        "tree": replayed.evidence.tree,
        "verdict": replayed.evidence.verdict.value,
        "same": replayed.same,
        "note": replayed.note,
        "checks": [{"name": one.name, "same": one.same, "difference": one.difference} for one in replayed.comparisons],
    }


def _now(check: Any) -> str:
    return check.summary if check is not None else ""
