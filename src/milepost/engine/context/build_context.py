"""The context of an attempt: read from git, from the very tree that the attempt begins with.

So the same attempt is shown the same whenever it begins anew, and nothing that is not committed is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from milepost.agents.models.prices import BYTES_PER_TOKEN, most_input_tokens
from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.engine.context.git_facts import MOST_COMMITS, Tree, done_before
from milepost.engine.context.tag_cache import TagCache
from milepost.engine.context.tags import Tagged, Tagger
from milepost.engine.project.settings.settings import Settings
from milepost.engine.records.call_log import CallLog
from milepost.plan.advice.mentions import mentions_in
from milepost.plan.context.build_context import Context, ContextBounds, Part, Shown, composed, rewritten
from milepost.plan.context.project_facts import fact_lines
from milepost.plan.context.repo_map import Ranked, outline_within, ranked
from milepost.plan.context.rules import MOST_BYTES, bounded, rule_paths
from milepost.plan.context.sections import (
    LARGEST_FILE,
    FileShown,
    files_within,
    lines_within,
    memory_within,
    structure_within,
    text_within,
)
from milepost.plan.context.tokens import bytes_per_token, size_of
from milepost.verify.credentials import shown_text
from milepost.workspace.git import Git
from milepost.workspace.objects import blobs_of, entries_of

LARGEST_RULES = 20 * MOST_BYTES
FOR_PROGRAMS = 4_000  # tokens: programs look around themselves, and are only shown where to begin

# Sections by what they matter, each with its title and its share of the budget.
_SECTIONS = (
    ("words", "What the roadmap says above the task", 0.1),
    ("facts", "Facts of the project", 0.04),
    ("files", "Files that the task mentions", 0.4),
    ("outline", "Related definitions, by file and line", 0.36),
    ("run", "Done earlier in this run, newest first", 0.03),
    ("memory", "Done in earlier runs, newest first", 0.02),
    ("structure", "Files of the repository, by folder", 0.05),
)
WHOLE = frozenset(name for name, _, _ in _SECTIONS)
BEGINNING = frozenset({"facts", "outline"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """What is looked at: a task, the tree that its attempt begins with, the commit below it, where the run began.

    `folder` is a checkout of the tree.
    """

    task: Task
    agent: str
    tree: str
    base: str
    since: str
    roadmap: str
    folder: Path
    bounds: ContextBounds


def sections_for(agent: str) -> frozenset[str]:
    """What an agent is shown: all where a model is asked by us, a beginning for programs, nothing for patterns."""
    match agent.partition(":")[0]:
        case "tool" | "code" | "replay":
            return WHOLE
        case "pattern":
            return frozenset()
        case _:
            return BEGINNING


def bounds_for(agent: str, bounds: ContextBounds) -> ContextBounds:
    """How much an agent is shown at most."""
    if sections_for(agent) == WHOLE:
        return bounds
    return replace(bounds, tokens=min(bounds.tokens, FOR_PROGRAMS))


class Contexts:
    """Makes the contexts of attempts in one repository; `redact` takes out what nobody may see."""

    def __init__(self, git: Git, cache: TagCache, redact: Redactor) -> None:
        self._git = git
        self._redact = redact
        self._tagger = Tagger(git, cache, redact)

    def of(self, view: ContextView) -> Context:
        """What is shown of a tree for a task; the same for the same view."""
        bounds, wanted = bounds_for(view.agent, view.bounds), sections_for(view.agent)
        if not bounds.tokens or not wanted:
            return Context(bounds=bounds)
        sight = _Sight(self._git, self._tagger, view, self._clean)
        parts = [
            Part(name=name, title=title, share=share, show=sight.showing(name))
            for name, title, share in _SECTIONS
            if name in wanted
        ]
        return rewritten(composed(parts, bounds), self._clean)

    def rules(self, view: ContextView) -> tuple[tuple[str, str], ...]:
        """What the commit that the attempt is based on says to agents of ours, each with its file; programs look."""
        if sections_for(view.agent) != WHOLE:
            return ()
        there = {entry.path: entry for entry in entries_of(self._git, view.base) if not entry.is_link}
        paths = rule_paths((*view.task.files, *mentions_in(view.task, set(there)).files), there)
        texts = blobs_of(self._git, [there[path].blob for path in paths], LARGEST_RULES)[0]
        read = [(path, texts.get(there[path].blob, b"").decode("utf-8", "replace")) for path in paths]
        return bounded([(self._clean(path), self._clean(text)) for path, text in read])

    def _clean(self, text: str) -> str:
        """A text without secrets: those that are known, and what looks like one."""
        return shown_text(text, self._redact)


class _Sight:
    """What the sections of one context say, each looked up when it is asked for."""

    def __init__(self, git: Git, tagger: Tagger, view: ContextView, clean: Callable[[str], str]) -> None:
        self._git = git
        self._tagger = tagger
        self._view = view
        self._clean = clean

    def showing(self, name: str) -> Callable[[int], Shown]:
        """The function that says a section within some room."""
        view = self._view
        match name:
            case "words":
                return partial(text_within, self._clean(view.task.context))
            case "facts":
                facts = self._tree.facts(view.folder, self._tagged.tags, self._tagged.unread, view.base)
                return partial(lines_within, [*map(self._clean, fact_lines(facts))], more="facts")
            case "files":
                return partial(files_within, self._files)
            case "outline":
                return self._outline
            case "run":
                return self._done(view.base, since=view.since)
            case "memory":
                return self._done(view.since, most=MOST_COMMITS)
            case _:
                return partial(structure_within, self._tree.paths, self._tree.mentions.files)

    @cached_property
    def _tree(self) -> Tree:
        view = self._view
        return Tree(self._git, view.tree, view.task, view.roadmap, self._clean)

    @cached_property
    def _tagged(self) -> Tagged:
        return self._tagger.tagged([*self._tree.entries.values()], self._tree.mentions.files)

    @cached_property
    def _files(self) -> tuple[FileShown, ...]:
        return self._tree.files() if "files" in sections_for(self._view.agent) else ()

    @cached_property
    def _ranked(self) -> tuple[Ranked, ...]:
        """What is worth to be in the outline: not the files that are shown whole."""
        whole = {file.path for file in self._files if file.text and size_of(file.text) <= LARGEST_FILE}
        best = ranked(self._tagged.tags, self._tree.mentions)
        return tuple(one for one in best if one.path not in whole)

    def _outline(self, room: int) -> Shown:
        return outline_within(self._ranked, self._tagged.tags, room)

    def _done(self, tip: str, *, since: str = "", most: int = 0) -> Callable[[int], Shown]:
        done = done_before(self._git, tip, self._view.roadmap, self._clean, since=since, most=most)
        return partial(memory_within, done)


MOST_QUESTIONS = 50
_SHORTEST = 200  # tokens of a question that tells something: what services add to it weighs little then


def bounds_of(settings: Settings, calls: CallLog) -> ContextBounds:
    """As many tokens as the settings say, and never more than half of the model's window: the work needs the rest."""
    rate = bytes_per_token(_answered(settings.model.name, calls))
    half = int(settings.model.window_tokens * BYTES_PER_TOKEN / 2 / rate)
    return ContextBounds(tokens=min(settings.context.tokens, half), bytes_per_token=rate)


def _answered(model: str, calls: CallLog) -> list[tuple[int, int]]:
    """The questions whose tokens the model's own service counted: where it did not, they are a guess of ours."""
    told = calls.told(model, MOST_QUESTIONS) if model else ()
    return [(size, tokens) for size, tokens in told if tokens >= _SHORTEST and tokens != most_input_tokens(size)]
