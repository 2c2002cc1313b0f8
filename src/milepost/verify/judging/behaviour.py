"""Whether a task says that it changes no behaviour, or only words: green before and green after is the answer then."""

from __future__ import annotations

import re
from typing import Literal

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.judging.paths import CODE, is_prose, suffix

About = Literal["code", "documents", "words in code", "anything"]

# Verbs that say it by themselves, whatever they are followed by.
_ALWAYS = r"refactor|modulari[sz]e"
# Verbs that mean code in one title and what it does in another: only with something of the code behind them.
_PERHAPS = (
    r"rename|move|extract|inline|split|simplify|clean(?: ?up)?|tidy(?: up)?|re-?organi[sz]e|rearrange|restructure"
    r"|relocate|re-?format|format|re-?indent|sort|merge|annotate|de-?duplicate|untangle"
)
_CODE = (
    r"(?:source )?code|codebase|code base|modules?|functions?|methods?|helpers?|variables?|constants?|imports|fixtures?"
    r"|internals|implementations?|logic|duplication"
)
# Verbs that are about how something is written when it is one of these; with other verbs these may be what users see.
_WRITTEN = r"simplify|clean(?: ?up)?|tidy(?: up)?|restructure|re-?organi[sz]e|untangle|moderni[sz]e"
_SHAPES = (
    r"dicts?|tuples?|dataclass(?:es)?|decorators?|loops?|conditionals?|regex(?:es|ps?)?|comprehensions?|closures?"
    r"|callbacks?|structs?|traits?|getters?|setters?|boilerplate|control flow"
)
_NAMED = (
    r"`[^`]+`|\S+\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|c|cc|cpp|h|hpp|php|cs|swift)\b|\w+\(\)|\w+_\w+|[a-z]+[A-Z]\w*"
)
_NAMED_CLASS = r"(?:[A-Z][a-z0-9]+){2,}"
_TYPES = (
    r"(?:add|complete|write|fill in|improve|fix|tighten|correct) (?:\w+ ){0,2}"
    r"(?:(?:type|typing) ?-?(?:hints?|annotations?|stubs?)|typings)\b"
)
# Files in which nothing but types can be.
_STUBS = (".pyi", ".d.ts", ".d.mts", ".d.cts")
# What is to be faster is code only where something of the code is named: routes and pictures are optimised as well.
_FASTER = re.compile(
    r"(?:optimi[sz]e|speed up|cache|memoi[sz]e)\b|(?:make|keep) .*\b(?:fast(?:er)?|quick(?:er)?|efficient)\b"
    r"|(?:improve|increase|better) .*\b(?:performance|speed)\b|(?:reduce|cut|lower) .*\b(?:time|memory|allocations)\b"
    r"|.*\b(?:in linear time|not (?:be )?quadratic|without quadratic)\b|(?:perf|performance)\b",
    re.IGNORECASE,
)
_SPEED_OF = r"(?:(?:simplify|refactor) and )?(?:optimi[sz]e|speed up)\b"
_SPEED = r"(?:(?:minor|small|some|more) )*performance (?:improvements?|optimi[sz]ations?|tweaks?) (?:of|in|to|for)\b"
_DOCS = (
    r"document (?:the|how|what|why|that|all|every|each|public)\b"
    r"|(?:add|write|update|improve|fix|complete|extend|correct|expand|proofread) (?:\w+ ){0,3}"
    r"(?:docs|documentation|docstrings?|readme(?:\.\w+)?|changelog(?:\.\w+)?|tutorial|how-?to)\b"
)
# Docs, comments and typos may be what a product is about, too: only what can be nothing but words of the code counts.
_WORDS = re.compile(
    r"(?:docs?(?:\(\w+\))?:"
    r"|(?:add|fix|correct|improve|update|extend|complete|clarify|reword|expand|write)\b.*?"
    r"\b(?:docstrings?|code comments?|typos? in (?:the |a )?(?:docs|documentation|comments?))\b)",
    re.IGNORECASE,
)
_WORDS_IN_CODE = re.compile(r"\b(?:docstrings?|code comments?)\b", re.IGNORECASE)
_OF_DOCS = re.compile(_DOCS, re.IGNORECASE)
_FORMATTERS = r"(?:run|apply) (?:\w+ )?(?:black|ruff format|prettier|gofmt|rustfmt|clang-format|isort)\b"
_SAYS_SO = re.compile(
    r"\b(?:(?:no|without(?: any)?) (?:functional |behaviou?ral |behaviou?r )?changes?(?: (?:of|in|to) behaviou?r)?"
    r"|without changing (?:its |the |any )?behaviou?r|(?:keep(?:s|ing)?|same) (?:the |its )?(?:same )?behaviou?r)\b",
    re.IGNORECASE,
)
# Whoever asks for one of these besides asks for behaviour.
_BESIDES = re.compile(
    r"\b(?:adds?|implements?|fix(?:es)?|supports?|allows?|lets?|makes?|introduces?|changes?|returns?|raises?|handles?"
    r"|enables?|disables?|removes?|drops?|deletes?|replaces?|reports?|shows?|prints?|accepts?|rejects?|validates?"
    r"|creates?|builds?|so that|when|instead|unless|if|users?|faster|speed)\b",
    re.IGNORECASE,
)
_OF_SPEED = frozenset({"make", "makes", "faster", "speed", "when", "so that"})
_PLAINLY = re.compile(rf"(?:{_ALWAYS})\b", re.IGNORECASE)
_OF_DOCS_OR_TYPES = re.compile(rf"(?:{_TYPES}|{_DOCS}|{_FORMATTERS}|{_SPEED})", re.IGNORECASE)
_OF_CODE = re.compile(rf"(?:{_SPEED_OF}|(?:{_PERHAPS})\b)", re.IGNORECASE)
_OBJECT_ENDS = re.compile(
    r"\s(?:to|into|from|in|with|by|for|as|on|at|of|through|between|out|over)\s|[:,]", re.IGNORECASE
)
_SHAPED = re.compile(rf"(?:{_WRITTEN})\b.*?\b(?:{_SHAPES})\b", re.IGNORECASE)
_QUOTED = re.compile(rf"{_NAMED}|\b{_NAMED_CLASS}\b")
_SOMETHING_OF_CODE = re.compile(rf"(?i:\b(?:{_CODE})\b)|{_NAMED}|\b{_NAMED_CLASS}\b")


def keeps_behaviour(task: Task) -> bool:
    """Whether a task, with all that is done in the same attempt, says that it changes no behaviour. Doubt means no."""
    if task.keeps_behaviour:
        return True
    return (_says_so(_own_title(task)) or _is_about_types(task)) and all(map(keeps_behaviour, task.subtasks))


def _is_about_types(task: Task) -> bool:
    """Whether all the files that a task names can hold nothing but types."""
    return bool(task.files) and all(file.endswith(_STUBS) for file in task.files)


def is_about_speed(task: Task) -> bool:
    """Whether a task, with all that is done in the same attempt, is about how fast something is, and no more.

    Weaker than what `keeps_behaviour` asks: that something is faster is still to be shown.
    """
    title = _own_title(task).strip().lstrip("*_ ")
    asks_besides = {found.lower() for found in _BESIDES.findall(title)} - _OF_SPEED
    return bool(_FASTER.match(title)) and not asks_besides and all(map(is_about_speed, task.subtasks))


def is_about_words(task: Task) -> bool:
    """Whether a task, with all that is done in the same attempt, is about what code says to its reader, and no more."""
    title = _QUOTED.sub("", _own_title(task)).strip().lstrip("*_ ")
    rest = title.partition(" ")[2]
    return bool(_WORDS.match(title)) and not _BESIDES.search(rest) and all(map(is_about_words, task.subtasks))


def about(task: Task) -> About:
    """What a task that changes no behaviour can be done in, by its title; one in parts can be about anything."""
    title = _own_title(task).strip().lstrip("*_ ")
    if task.subtasks:
        return "anything"
    if _OF_DOCS.match(title) or _WORDS.match(title):
        return "words in code" if _WORDS_IN_CODE.search(title) else "documents"
    return "code" if _says_so(_SAYS_SO.sub("", title)) or _is_about_types(task) else "anything"


def part_about(change: Change, meant: About) -> Change:
    """The part of a change in which a task about this can be done; what is green says nothing about other files."""
    return Change(files=tuple(file for file in change.files if _can_be(file, meant)))


def _can_be(file: ChangedFile, meant: About) -> bool:
    is_code = suffix(file.path) in CODE or file.path.endswith(_STUBS)
    match meant:
        case "code":
            return is_code or (file.before is not None and not is_prose(file.path))
        case "words in code":
            return is_code
        case "documents":
            return is_code or is_prose(file.path) or file.before is not None
        case "anything":
            return True


def _own_title(task: Task) -> str:
    """The title of a task; the title of one that leads a group is made of all of theirs, and its text tells its own."""
    start = f"{task.id} "
    told = (line.removeprefix(start) for line in task.text.splitlines() if line.startswith(start))
    return next(told, task.title) if task.members else task.title


def _says_so(title: str) -> bool:
    """Whether a title says it plainly, as an order that it begins with."""
    words = title.strip().lstrip("*_ ")
    if _SAYS_SO.search(words):
        return True
    if started := _OF_DOCS_OR_TYPES.match(words):
        return not _BESIDES.search(words, started.end())
    if shaped := _SHAPED.match(_OBJECT_ENDS.split(words, maxsplit=1)[0]):
        return not _BESIDES.search(_QUOTED.sub("", words[shaped.end() :]))
    if started := _PLAINLY.match(words) or _OF_CODE.match(words):
        rest = words[started.end() :]
        what = _OBJECT_ENDS.split(rest, maxsplit=1)[0]
        plain = _PLAINLY.match(words) or _SOMETHING_OF_CODE.search(what)
        return bool(plain) and not _BESIDES.search(_QUOTED.sub("", rest))
    return False
