"""The context of a task: the part of the repository that an agent is shown with it, within a budget of tokens.

It is made of sections. Each has a share of the budget; what one leaves goes to the others, those that matter most
first, and when the budget is small those that matter least are left out first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from milepost.plan.context.tokens import BYTES_PER_TOKEN, size_of, tokens_of

TOKENS = 50_000
LEAST_ROOM = 120  # bytes below which a section has nothing to say


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBounds:
    """How much of the repository is shown: so many tokens, each of so many bytes. A run keeps those it began with."""

    tokens: int = TOKENS
    bytes_per_token: float = BYTES_PER_TOKEN

    @property
    def room(self) -> int:
        """The same in bytes."""
        return int(self.tokens * self.bytes_per_token)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a section says within some room; `cut` when there is more to say."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section that may be shown: `show` says as much as fits into so many bytes, nothing when that is too little."""

    name: str
    title: str
    share: float
    show: Callable[[int], Shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSection:
    """A section that is shown."""

    name: str
    text: str
    tokens: int
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an agent is shown, section by section; `left_out` names what there was no room for."""

    sections: tuple[ContextSection, ...] = ()
    left_out: tuple[str, ...] = ()
    bounds: ContextBounds = ContextBounds()

    @property
    def text(self) -> str:
        return _SEAM.join(section.text for section in self.sections)

    @property
    def tokens(self) -> int:
        return tokens_of(self.text, self.bounds.bytes_per_token)


_SEAM = "\n\n"


def composed(parts: Sequence[Part], bounds: ContextBounds) -> Context:
    """The parts that fit into the bounds, in their order, which is that of their weight."""
    left, shown = bounds.room, dict[str, Shown]()
    for part in parts:
        said = _within(part, min(left, max(int(bounds.room * part.share), LEAST_ROOM)))
        shown[part.name] = said
        left -= _cost(said)
    for part in parts:
        said = shown[part.name]
        if said.cut and left > 0:
            more = _within(part, left + _cost(said))
            left -= _cost(more) - _cost(said)
            shown[part.name] = more
    sections = [_section(part.name, shown[part.name], bounds) for part in parts if shown[part.name].text]
    missing = [part.name for part in parts if shown[part.name].cut and not shown[part.name].text]
    return Context(sections=tuple(sections), left_out=tuple(missing), bounds=bounds)


def rewritten(context: Context, rewrite: Callable[[str], str]) -> Context:
    """The same context in other words, section by section; what became too long for it is cut off at the end."""
    left, bounds, sections = context.bounds.room, context.bounds, []
    for section in context.sections:
        text = beginning(rewrite(section.text), left - len(_SEAM))
        left -= size_of(text) + len(_SEAM)
        cut = section.cut or text != section.text
        sections.append(replace(section, text=text, tokens=tokens_of(text, bounds.bytes_per_token), cut=cut))
    return replace(context, sections=tuple(section for section in sections if section.text))


def beginning(text: str, room: int) -> str:
    """As much of the beginning of a text as fits into so many bytes."""
    if size_of(text) <= room:
        return text
    return text.encode("utf-8", "surrogatepass")[: max(0, room)].decode("utf-8", "ignore")


def _within(part: Part, room: int) -> Shown:
    """A part with its title, in so many bytes with the seam after it."""
    title = f"# {part.title}\n"
    said = part.show(room - size_of(title) - len(_SEAM))
    text = said.text.rstrip()
    return Shown(f"{title}{text}", said.cut) if text else Shown("", said.cut)


def _cost(said: Shown) -> int:
    return size_of(said.text) + len(_SEAM) if said.text else 0


def _section(name: str, said: Shown, bounds: ContextBounds) -> ContextSection:
    return ContextSection(name=name, text=said.text, tokens=tokens_of(said.text, bounds.bytes_per_token), cut=said.cut)
