"""A document in prose read by a model: the tasks that it asks for, each with its line, as a roadmap to be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from milepost.agents.prompts import filled, quoted
from milepost.core.calls import NOTHING, Usage
from milepost.core.errors import MilepostError, Misuse, NoAnswer
from milepost.core.own_files import SETTINGS_FILE
from milepost.core.task import Task
from milepost.engine.authoring.ask_model import Consultation, redactor_of
from milepost.engine.authoring.prose_cache import Gleaning, Gleanings, key_of
from milepost.engine.authoring.write_file import place, refuse_taken
from milepost.engine.planning.make_plan import manner_of
from milepost.engine.project.project import find_roadmap, read_bytes
from milepost.engine.project.settings.load import MODEL, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_directory import open_state
from milepost.roadmap import read
from milepost.roadmap.prose.answers import FoundItems
from milepost.roadmap.prose.keep_done import KnownItem, kept
from milepost.roadmap.prose.normalise import Anchored, ProseDocument, numbered
from milepost.roadmap.prose.to_roadmap import manuscript_of
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.source import source_of
from milepost.roadmap.writing.write import write

PROMPT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """What a model read in a document. `tasks` have the lines of the document; `text` is the roadmap to be written.

    `left_out` is what the model claimed and the document does not say. `cached`: nobody had to be asked again.
    """

    source: Path
    model: str
    tasks: tuple[Task, ...]
    text: str
    left_out: tuple[str, ...] = ()
    cached: bool = False
    usage: Usage = NOTHING
    price_known: bool = True
    written: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NormaliseWish:
    """What is asked for: which document, by which model, and where the roadmap is to be written, if anywhere.

    `anyway` has a document read that needs no model; `force` replaces a file.
    """

    source: Path | None = None
    write: Path | None = None
    model: str | None = None
    force: bool = False
    anyway: bool = False


def normalise(wish: NormaliseWish, say: Callable[[str], None]) -> Normalised:
    """Read a document with a model, once for each content; write the roadmap where that is asked for."""
    source = find_roadmap(wish.source)
    if source.is_dir():
        raise Misuse(f"{source.name} is a folder", "name one document in it")
    home = home_of(source)
    settings = load(home, {"model": wish.model}, uses=MODEL)
    if wish.write is not None:
        refuse_taken(wish.write, force=wish.force, source=source)
    content = read_bytes(source)
    _refuse_what_needs_no_model(source, content, manner_of(settings, source), anyway=wish.anyway)
    gleanings, name = Gleanings(open_state(home)), source.relative_to(home).as_posix()
    document = ProseDocument(_lines(content, settings))
    answered = _answer(document, content, settings, home, name, gleanings, say)
    before = gleanings.of(name)
    target = wish.write if wish.write is not None else Path(before.written) if before.written else None
    items, left_out = _items(document, answered.found, before, _ticks(target))
    gleanings.keep_answer(key_of(content, settings.model.name, PROMPT_VERSION), answered.found)
    manuscript = manuscript_of(items, document.lines, name, settings.model.name)
    text = write(manuscript)
    if wish.write is not None:
        place(text, wish.write, force=wish.force)
    written = str(wish.write.resolve()) if wish.write is not None else before.written
    knowns = tuple(KnownItem(title=item.title, status=item.status, said=item.said) for item in items)
    gleanings.keep(Gleaning(source=name, items=knowns, written=written))
    return Normalised(
        source=source,
        model=settings.model.name,
        tasks=manuscript.tasks,
        text=text,
        left_out=left_out,
        cached=answered.cached,
        usage=answered.usage,
        price_known=answered.price_known,
        written=wish.write,
    )


def home_of(path: Path) -> Path:
    """The folder whose settings hold for a file: the nearest one with a milepost.toml, up to the repository's top."""
    for folder in path.parents:
        if (folder / SETTINGS_FILE).exists():
            return folder
        if (folder / ".git").exists():
            break
    return path.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    found: FoundItems
    cached: bool = True
    usage: Usage = NOTHING
    price_known: bool = True


def _answer(
    document: ProseDocument,
    content: bytes,
    settings: Settings,
    home: Path,
    name: str,
    gleanings: Gleanings,
    say: Callable[[str], None],
) -> _Answered:
    """The answer that was kept, else that of the model."""
    key = key_of(content, settings.model.name, PROMPT_VERSION)
    known = gleanings.answer(key) if settings.model.name else None
    if known is not None:
        return _Answered(found=known)
    text = numbered(document.lines)
    asked = Consultation(settings, home, subject=name, say=say)
    prompt = filled("normalise", document_name=repr(name), document=quoted(text, limit=len(text)))
    found = asked.ask(prompt, FoundItems, lambda answer: _objections(document, answer))
    return _Answered(found=found, cached=False, usage=asked.usage, price_known=asked.price_known)


def _objections(document: ProseDocument, answer: FoundItems) -> tuple[str, ...]:
    return document.objections(answer.items)


def _items(
    document: ProseDocument, found: FoundItems, before: Gleaning, ticks: tuple[KnownItem, ...]
) -> tuple[tuple[Anchored, ...], tuple[str, ...]]:
    items, left_out = document.anchored(found.items)
    if not items:
        reason = (
            f"none of the tasks the model found is in the document: {left_out[0]}"
            if left_out
            else "it asks for no work"
        )
        raise NoAnswer(
            f"no task was found in this document: {reason}", "write tasks as `- [ ] what to do`, or ask another model"
        )
    return kept(items, before.items, ticks), left_out


def _ticks(target: Path | None) -> tuple[KnownItem, ...]:
    """How the tasks stand in the file that was written before; nothing where there is none that could be read."""
    if target is None or not target.is_file():
        return ()
    try:
        tasks = read(read_bytes(target), Manner(name=target.name)).tasks
    except MilepostError:
        return ()
    return tuple(KnownItem(title=task.title, status=task.status) for task in tasks)


def _lines(content: bytes, settings: Settings) -> list[str]:
    """The lines as they are sent: without secrets, each in its place."""
    redact = redactor_of(settings).lines()
    return [redact(line) for line in source_of(content).lines]


def _refuse_what_needs_no_model(source: Path, content: bytes, manner: Manner, *, anyway: bool) -> None:
    if not source_of(content).text.strip():
        raise Misuse(f"{source.name} is empty", "name a document that describes the work")
    tasks = read(content, manner).tasks
    if tasks and not anyway:
        count = f"{len(tasks)} task{'s' if len(tasks) > 1 else ''}"
        raise Misuse(
            f"{source.name} has {count} that can be read without a model",
            f"milepost plan {source.name} shows them; --anyway uses a model",
        )
