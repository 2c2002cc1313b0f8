"""The memory commands: look at what is remembered, correct it, share it, and tell it what other agents did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

import milepost
from milepost import memories
from milepost.cli.arguments import Json
from milepost.cli.exit_codes import DONE, NOT_DONE
from milepost.cli.output import answer, print_lines, terminal_width

group = typer.Typer(help="What earlier attempts did, and the lessons learnt from them.", no_args_is_help=True)

Folder = Annotated[
    Path | None, typer.Option("--folder", metavar="DIR", help="A folder in the project. Default: this one.")
]
LessonId = Annotated[str, typer.Argument(metavar="LESSON", help="The lesson's id, or its first characters.")]
EpisodeId = Annotated[str, typer.Argument(metavar="EPISODE", help="The episode's id, or its first characters.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; it is recorded.")]
Most = Annotated[int, typer.Option("--most", min=1, max=10_000, metavar="N", help="At most this many.")]
State = Literal["candidate", "active", "quarantined", "retired"]
Ended = Literal["success", "partial", "failure", "abstained", "interrupted", "open"]
LONGEST_ERROR = 200_000  # bytes of an error's text that are looked at: its end


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="memory")


@group.command()
def stats(folder: Folder = None, as_json: Json = False) -> None:
    """Show statistics of the memory, and the measured effect of the lessons."""
    from milepost.cli.show.memory import stats_lines, stats_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.stats()
    answer(as_json, lambda: stats_to_json(found), lambda: stats_lines(found, terminal_width()))


@group.command("list")
def list_(
    lessons: Annotated[
        bool, typer.Option("--lessons", help="List the lessons that attempts are shown (default).")
    ] = False,
    episodes: Annotated[bool, typer.Option("--episodes", help="List the episodes: what each attempt did.")] = False,
    patterns: Annotated[
        bool, typer.Option("--patterns", help="List recurring patterns, with how often they passed.")
    ] = False,
    state: Annotated[State | None, typer.Option(help="Only lessons in this state.")] = None,
    outcome: Annotated[Ended | None, typer.Option(help="Only episodes with this outcome.")] = None,
    project: Annotated[
        str, typer.Option(metavar="NAME", help="Only this project. Default: all projects in this memory.")
    ] = "",
    most: Most = 20,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """List lessons, episodes or patterns, newest first."""
    from milepost.cli.show import episodes as show_episodes
    from milepost.cli.show import lessons as show_lessons

    if lessons + episodes + patterns > 1:
        raise typer.BadParameter("use only one of --lessons, --episodes and --patterns")
    if (state and (episodes or patterns)) or (outcome and not episodes):
        raise typer.BadParameter("--state needs --lessons, --outcome needs --episodes")
    with milepost.open_memory(folder) as memory:
        if episodes:
            told = memory.episodes(most=most, outcome=outcome, project=project)
            answer(
                as_json,
                lambda: list(map(show_episodes.episode_to_json, told)),
                lambda: show_episodes.episodes_lines(told, terminal_width()),
            )
        elif patterns:
            again, sure = memory.patterns(most=most), memory.heuristics()
            answer(
                as_json,
                lambda: show_lessons.patterns_to_json(again, sure),
                lambda: show_lessons.patterns_lines(again, sure, terminal_width()),
            )
        else:
            found = memory.lessons(state=state, most=most, project=project)
            answer(
                as_json,
                lambda: list(map(show_lessons.lesson_to_json, found)),
                lambda: show_lessons.lessons_lines(found, memory.project, terminal_width()),
            )


@group.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a lesson or an episode, or its first characters.")
    ],
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show a lesson with its origin and effect, or an episode step by step."""
    from milepost.cli.show import episodes as show_episodes
    from milepost.cli.show import lessons as show_lessons

    with milepost.open_memory(folder) as memory:
        found = memory.named(name)
    if isinstance(found, memories.Episode):
        episode = found
        answer(
            as_json,
            lambda: show_episodes.episode_to_json(episode),
            lambda: show_episodes.episode_lines(episode, terminal_width()),
        )
    else:
        story = found
        answer(
            as_json,
            lambda: show_lessons.story_to_json(story),
            lambda: show_lessons.story_lines(story, terminal_width()),
        )


@group.command()
def search(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Words to search for, or an error message.")],
    most: Most = 10,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Search episodes and lessons, best match first."""
    from milepost.cli.show.memory import found_lines, found_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.search(" ".join(text), most=most)
    answer(as_json, lambda: list(map(found_to_json, found)), lambda: found_lines(found, terminal_width()))


@group.command()
def recall(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A task, as it would be written in a roadmap.")],
    error: Annotated[
        str,
        typer.Option("--error", metavar="FILE", help="A file with the error of the previous attempt; - reads stdin."),
    ] = "",
    file: Annotated[
        list[str] | None, typer.Option("--file", metavar="PATH", help="A file the task is about; can be repeated.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Explain why these lessons were chosen, or none.")] = False,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Show the lessons an attempt at this task would get, at most three. Does not affect the statistics."""
    from milepost.cli.show.memory import recalled_lines, recalled_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.recall(text, files=tuple(file or ()), error=_error_text(error))
    answer(
        as_json, lambda: recalled_to_json(found), lambda: recalled_lines(found, explain=explain, width=terminal_width())
    )


@group.command()
def quarantine(lesson: LessonId, why: Why, folder: Folder = None, as_json: Json = False) -> None:
    """Stop showing a lesson to attempts."""
    _move(folder, as_json, lambda memory: memory.quarantine(lesson, why))


@group.command()
def activate(lesson: LessonId, why: Why, folder: Folder = None, as_json: Json = False) -> None:
    """Show a lesson to attempts again where it applies."""
    _move(folder, as_json, lambda memory: memory.activate(lesson, why))


@group.command()
def forget(
    name: Annotated[
        str, typer.Argument(metavar="[ID]", help="The id of a lesson or an episode, or its first characters.")
    ] = "",
    source: Annotated[
        str,
        typer.Option(
            "--from", metavar="SOURCE", help="Forget everything that came from this commit, path, run or episode."
        ),
    ] = "",
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; it is recorded.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be forgotten, without forgetting it.")
    ] = False,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Delete a lesson or an episode and everything derived from it. A sync or an import does not bring it back."""
    from milepost.cli.show.upkeep import forgotten_lines, forgotten_to_json

    with milepost.open_memory(folder) as memory:
        said = memory.outline(memory.forget(name, source=source, dry_run=True))
        found = memory.forget(name, source=source, why=why, dry_run=dry_run)
    answer(
        as_json,
        lambda: forgotten_to_json(found, dry_run=dry_run),
        lambda: forgotten_lines(found, said, dry_run=dry_run, width=terminal_width()),
    )


@group.command()
def clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; it is recorded.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be forgotten, without forgetting it.")
    ] = False,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Delete everything that is remembered of this project. A sync or an import does not bring it back."""
    from milepost.cli.show.upkeep import forgotten_lines, forgotten_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.clear(dry_run=True)
        said = memory.outline(found)
        if not dry_run and (found.episodes or found.lessons):
            _require_yes(
                yes, f"Forget {len(found.episodes)} episodes and {len(found.lessons)} lessons of this project?"
            )
            found = memory.clear(why=why)
    answer(
        as_json,
        lambda: forgotten_to_json(found, dry_run=dry_run),
        lambda: forgotten_lines(found, said, dry_run=dry_run, width=terminal_width()),
    )


@group.command()
def doctor(folder: Folder = None, as_json: Json = False) -> None:
    """Check the memory for errors and suspicious lessons, and show where they came from."""
    from milepost.cli.show.upkeep import finding_to_json, findings_lines

    with milepost.open_memory(folder) as memory:
        found = memory.doctor()
    answer(as_json, lambda: list(map(finding_to_json, found)), lambda: findings_lines(found, terminal_width()))
    raise typer.Exit(NOT_DONE if any(one.wrong for one in found) else DONE)


@group.command()
def sync(folder: Folder = None, as_json: Json = False) -> None:
    """Push new entries to the shared memory (memory.primary) and pull those of others. Later runs then sync too."""
    from milepost.cli.show.upkeep import synced_lines, synced_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.sync()
    answer(as_json, lambda: synced_to_json(found), lambda: synced_lines(found, terminal_width()))


@group.command()
def rebuild(folder: Folder = None, as_json: Json = False) -> None:
    """Rebuild the search index."""
    with milepost.open_memory(folder) as memory:
        memory.rebuild()
    answer(as_json, lambda: {"rebuilt": True}, lambda: ["search index rebuilt"])


@group.command()
def export(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="The file to write; - prints to stdout.")] = "-",
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Export the whole memory as JSON lines, for a backup or to share it."""
    with milepost.open_memory(folder) as memory:
        if file == "-":
            for line in memory.export_lines():
                sys.stdout.write(line)
            return
        rows = memory.export(file)
    answer(as_json, lambda: {"file": file, "rows": rows}, lambda: [f"{rows} rows in {file}"])


@group.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An exported file; - reads stdin.")],
    trusted: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Keep what the file says was verified. Only for your own backup or a source you fully trust.",
        ),
    ] = False,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Import an exported file. If one line is invalid, nothing is imported.

    Without --trust nothing in it counts as verified, and its lessons start as candidates.
    """
    from milepost.cli.show.upkeep import imported_lines, imported_to_json

    with milepost.open_memory(folder) as memory:
        found = memory.import_(sys.stdin.buffer if file == "-" else file, trusted=trusted)
    answer(
        as_json, lambda: imported_to_json(found), lambda: imported_lines(found, trusted=trusted, width=terminal_width())
    )


@group.command()
def vacuum(folder: Folder = None, as_json: Json = False) -> None:
    """Free the disk space of forgotten entries."""
    from milepost.cli.show.memory import size

    with milepost.open_memory(folder) as memory:
        freed = memory.vacuum()
    answer(as_json, lambda: {"freed_bytes": freed}, lambda: [f"{size(freed)} freed"])


@group.command()
def start(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What the task is, in one line.")],
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="The task in full.")] = "",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="The agent that does it.")] = "",
    file: Annotated[
        list[str] | None, typer.Option("--file", metavar="PATH", help="A file the task is about; can be repeated.")
    ] = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Start an episode for an agent that Milepost does not run, and print its id."""
    with milepost.open_memory(folder) as memory:
        for left in memory.close_interrupted():
            print_lines(f"episode {left.id} was never ended: closed as interrupted", err=True)
        name = memory.start(title, text=text, agent=agent, files=tuple(file or ()), owner="outside")
    answer(as_json, lambda: {"episode": name}, lambda: [name])


@group.command()
def log(
    episode: EpisodeId,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool that was used.")],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What was done with it.")],
    result: Annotated[Literal["success", "error", "timeout"], typer.Option(help="The result.")] = "success",
    observation: Annotated[str, typer.Option(metavar="TEXT", help="The tool's output; - reads stdin.")] = "",
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Add a step to an episode. It is saved to disk when the command returns."""
    seen = _error_text(observation) if observation == "-" else observation
    with milepost.open_memory(folder) as memory:
        number = memory.log(episode, tool=tool, action=action, result=result, observation=seen)
    answer(as_json, lambda: {"episode": episode, "step": number}, lambda: [f"step {number}"])


@group.command()
def complete(
    episode: EpisodeId,
    outcome: Annotated[Literal["success", "partial", "failure", "abstained"], typer.Argument(help="The outcome.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """End an episode with the outcome its agent claims. Unverified, so no lessons are learnt from it."""
    with milepost.open_memory(folder) as memory:
        made = memory.complete(episode, outcome=outcome, reason=reason)
    answer(
        as_json,
        lambda: {"episode": episode, "outcome": outcome, "reward": made.reward.total},
        lambda: [f"{outcome}, as claimed by its agent, not verified · reward {made.reward.total:.2f}"],
    )


def _move(folder: Path | None, as_json: bool, act: Callable[[milepost.ProjectMemory], memories.LessonStanding]) -> None:
    from milepost.cli.show.lessons import lesson_to_json

    with milepost.open_memory(folder) as memory:
        found = act(memory)
    answer(as_json, lambda: lesson_to_json(found), lambda: [f"lesson {found.lesson.id} is {found.state}: {found.why}"])


def _require_yes(given: bool, question: str) -> None:
    """Ask the person at the terminal, unless they said yes already."""
    if given:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise milepost.Misuse("this deletes the memory of the project", "to do so without a question: --yes")
    typer.confirm(question, default=False, abort=True, err=True)


def _error_text(place: str) -> str:
    """The end of a file, or of standard input, as text."""
    if not place:
        return ""
    try:
        read = sys.stdin.buffer.read() if place == "-" else Path(place).read_bytes()
    except OSError as error:
        raise milepost.Misuse(f"{place!r} cannot be read: {error.strerror or error}", "name a file") from error
    return read[-LONGEST_ERROR:].decode("utf-8", "replace")
