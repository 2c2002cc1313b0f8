"""`milepost together`: several repositories' roadmaps as one; what each says has its name before it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import milepost
from milepost import events, projects
from milepost.cli.arguments import Json
from milepost.cli.exit_codes import DONE, INTERRUPTED, NOT_DONE
from milepost.cli.output import print_lines, terminal_width

if TYPE_CHECKING:
    from milepost import Event, NothingToDo
    from milepost.projects import MemberEnding, TogetherEnding

Tell = Callable[[str, "Event"], None]


def register(app: typer.Typer) -> None:
    app.command()(together)


def together(
    roadmaps: Annotated[
        list[Path] | None,
        typer.Argument(metavar="ROADMAP", help="The roadmaps or their folders. Default: workspace.members."),
    ] = None,
    mark: Annotated[
        str | None, typer.Option(metavar="NAME", help="The mark to set in every repository. Default: together-ID.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent. Default: as for run.")] = None,
    budget: Annotated[
        float | None, typer.Option(min=0.0001, metavar="USD", help="Cost limit for all projects; each gets a share.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the unfinished run over several projects that includes this one.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="Abandon the unfinished run and start a new one.")] = False,
    as_json: Json = False,
) -> None:
    """Run several repositories as one: all get their mileposts and the same mark, or none does."""
    if resume and new:
        raise typer.BadParameter("--resume and --new exclude each other")
    named = tuple(roadmaps or ()) or (() if resume else _of_workspace())
    tell = machine_tell() if as_json else people_tell()
    ending = projects.run_atomic(*named, mark=mark, agent=agent, budget_usd=budget, new=new, on_event=tell)
    if as_json:
        print_line(projects.run_atomic_to_json(ending))
    else:
        print_lines("\n".join(together_lines(ending)))
    raise typer.Exit(exit_code(ending))


def _of_workspace() -> tuple[Path, ...]:
    """The roadmaps of all projects that this folder names."""
    found = tuple(Path(one.roadmap) for one in projects.find().siblings if one.roadmap)
    if len(found) < 2:
        raise typer.BadParameter("name two or more roadmaps, or use --resume; [workspace] here has fewer than two")
    return found


def exit_code(ending: TogetherEnding | NothingToDo) -> int:
    """0 when all have arrived, 1 when not, 130 when it was interrupted."""
    if isinstance(ending, milepost.NothingToDo) or ending.complete:
        return DONE
    return INTERRUPTED if ending.stopped else NOT_DONE


def together_lines(ending: TogetherEnding | NothingToDo) -> list[str]:
    """A line for each project, what it came to for all, and what to do next."""
    if isinstance(ending, milepost.NothingToDo):
        return [f"nothing to do: {ending.reason}"]
    width = max(len(member.name) for member in ending.members)
    lines = ["", *(_member_line(member, width, decided=ending.decided) for member in ending.members), ""]
    if ending.complete:
        lines.append(f"all {len(ending.members)} branches updated and marked {ending.mark}")
    elif ending.decided:
        lines += [
            "all projects passed, but not every branch could be updated; the mark is set when all are",
            "next   merge by hand, in any order:",
        ]
        lines += [f"       {member.command}" for member in ending.members if not member.arrived]
        lines.append(f"       {_resume(ending)}   then sets the mark")
    elif ending.stopped:
        lines.append(f"stopped, no branch was changed · resume at any time:   {_resume(ending)}")
    else:
        lines.append("no branch was changed; finished work stays on its run's branch")
        lines.append(f"next   {_resume(ending)}   continues, once that is fixed")
    return lines


def _member_line(member: MemberEnding, width: int, *, decided: bool) -> str:
    from milepost.cli.format_text import mark, safe

    name = f"{safe(member.name):<{width}}"
    if member.why:
        return f"{mark('failed')} {name}  {safe(member.why)}"
    if member.arrived:
        return f"{mark('passed')} {name}  {safe(member.branch) or 'HEAD'} is at {member.head[:7]}"
    where = f"done, waiting on milepost/{member.run}" if member.run else "nothing to do"
    return f"{mark(None)} {name}  {where}"


def _resume(ending: TogetherEnding) -> str:
    """The command that goes on, as it is typed in any folder."""
    import shlex

    from milepost.cli.format_text import from_here

    words = (shlex.quote(from_here(Path(member.roadmap))) for member in ending.members)
    return f"milepost together {' '.join(words)}"


def machine_tell() -> Tell:
    """Each event as a line of JSON on stdout, with the name of its project."""

    def tell(name: str, event: Event) -> None:
        print_line({"project": name, **events.to_json(event)})

    return tell


def people_tell() -> Tell:
    """Each project's progress on stderr in plain lines, as a run tells it, with its name before each."""
    from rich.console import Console

    from milepost.cli.format_text import safe
    from milepost.cli.live_display import LiveDisplay

    width = terminal_width()
    progresses: dict[str, LiveDisplay] = {}

    def tell(name: str, event: Event) -> None:
        if name not in progresses:
            lead = f"{safe(name)}  "
            console = Console(file=_Led(lead), width=max(40, width - len(lead)), no_color=True)  # type: ignore[arg-type]
            progresses[name] = LiveDisplay(console)
        progresses[name](event)

    return tell


class _Led:
    """Writes to stderr, with a name before each line that is not empty."""

    def __init__(self, lead: str) -> None:
        self._lead = lead

    def write(self, text: str) -> int:
        lines = "".join(f"{self._lead}{line}\n" for line in text.splitlines() if line.strip())
        sys.stderr.write(lines)
        return len(text)

    def flush(self) -> None:
        sys.stderr.flush()


def print_line(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
