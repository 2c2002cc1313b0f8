"""What came of looking after a memory: what was imported, forgotten, found wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milepost.cli.format_text import clipped, counted, facts_lines, hanging, padded
from milepost.cli.show.memory import SHORT, sync_facts, sync_to_json

if TYPE_CHECKING:
    from milepost.memories import Forgotten, Imported, MemoryFinding, MemorySynced

SHOWN = 30
_NOUNS = {
    "memory_episodes": "episode",
    "memory_steps": "step",
    "memory_lessons": "lesson",
}


def imported_lines(found: Imported, *, trusted: bool, width: int) -> list[str]:
    """What a file brought."""
    added = [counted(count, _NOUNS[table]) for table, count in found.added.items() if table in _NOUNS]
    if found.added and not added:
        added = [counted(sum(found.added.values()), "row")]
    gone = f"{found.forgotten} {'was' if found.forgotten == 1 else 'were'} forgotten here"
    rest = [
        f"{found.now_trusted} replaced untrusted ones" if found.now_trusted else "",
        f"{counted(found.known, 'row')} already here" if found.known else "",
        gone if found.forgotten else "",
        f"{counted(found.diverged, 'row')} differ from the ones here, which are kept" if found.diverged else "",
        f"{counted(found.for_trust, 'row')} skipped: only --trust imports them" if found.for_trust else "",
    ]
    lines = facts_lines("added ", [*(added or ["nothing"]), *filter(None, rest)], width)
    if not trusted and found.added:
        lines += hanging("", "nothing in it counts as verified here, and its lessons start as candidates", width)
    for lesson, why in found.quarantined[:SHOWN]:
        lines += hanging(f"lesson {lesson} is quarantined: ", why, width)
    return lines + _more(len(found.quarantined))


def imported_to_json(found: Imported) -> dict[str, Any]:
    return {
        "project": found.project,
        "added": {table.removeprefix("memory_"): count for table, count in found.added.items()},
        "known": found.known,
        "diverged": found.diverged,
        "forgotten": found.forgotten,
        "for_trust": found.for_trust,
        "now_trusted": found.now_trusted,
        "quarantined": [{"lesson": lesson, "why": why} for lesson, why in found.quarantined],
    }


def forgotten_lines(found: Forgotten, said: Mapping[str, str], *, dry_run: bool, width: int) -> list[str]:
    """What went, or would, each with the first line of what it said."""
    if not found.episodes and not found.lessons:
        return ["nothing to forget: nothing here came from that"]
    what = " and ".join(
        counted(len(names), noun) for names, noun in ((found.episodes, "episode"), (found.lessons, "lesson")) if names
    )
    lines = [f"would forget {what}; nothing was changed" if dry_run else f"forgot {what}"]
    for noun, names in (("episode", found.episodes), ("lesson ", found.lessons)):
        told = [f"  {noun}  {padded(name[:SHORT], SHORT)}  {said.get(name, '')}" for name in names[:SHOWN]]
        lines += [clipped(line, width) for line in told] + _more(len(names))
    return lines if dry_run else [*lines, "next   milepost memory vacuum   frees the disk space"]


def forgotten_to_json(found: Forgotten, *, dry_run: bool) -> dict[str, Any]:
    return {"dry_run": dry_run, "episodes": list(found.episodes), "lessons": list(found.lessons)}


def findings_lines(found: tuple[MemoryFinding, ...], width: int) -> list[str]:
    """What is wrong first; each with where it came from and what to do."""
    wrong = sum(one.wrong for one in found)
    lines = [f"{counted(wrong, 'thing')} to fix" if wrong else "no problems found in this memory"]
    for one in found[:SHOWN]:
        lead = f"{'wrong' if one.wrong else 'note ':5}  {padded(one.kind, 13)} "
        lines += hanging(lead, f"{one.subject}: {one.what}" if one.subject else one.what, width)
        margin = " " * len(lead)
        lines += hanging(f"{margin}from  ", one.source, width) if one.source else []
        lines += hanging(f"{margin}do    ", one.advice, width) if one.advice else []
    return lines + _more(len(found))


def finding_to_json(one: MemoryFinding) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "wrong": one.wrong,
        "subject": one.subject,
        "what": one.what,
        "source": one.source,
        "advice": one.advice,
    }


def synced_lines(found: MemorySynced, width: int) -> list[str]:
    """What went over and back."""
    return facts_lines("", [f"{found.pushed} rows pushed", f"{found.pulled} pulled", *sync_facts(found.left)], width)


def synced_to_json(found: MemorySynced) -> dict[str, Any]:
    return {"pushed": found.pushed, "pulled": found.pulled, "left": sync_to_json(found.left)}


def _more(count: int) -> list[str]:
    return [f"  and {count - SHOWN} more: --json lists them"] if count > SHOWN else []
