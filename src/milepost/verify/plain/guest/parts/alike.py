"""Values like others: of the same type and shape, some letters, digits or places different."""

# ruff: noqa: S311 -- nothing here is secret
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import os
import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONGEST = 4000
MOST_LEAVES = 300
LARGER, MOST_LARGER = 1000, 6  # in these trials texts and lists are longer, turn by turn
_TEXT_LENGTHS, _LIST_LENGTHS = (60, 256, 2000), (30, 100, 1000)
_LEAVES = (str, int, float, bytes)


class Alike:
    """Takes note of the values it is given in trial 0, and replaces some or all of them in those that follow.

    What is the same value twice is the same other value twice. `words` are further values that may be tried; `leaves`
    are the values that are replaced, where these are known: the same draws are then made of them.
    """

    def __init__(self, seed, words=(), leaves=()):
        self.seed, self.words, self.trial = seed, words, 0
        self._leaves, self._instead = {(type(leaf), leaf): leaf for leaf in leaves}, {}
        self._known = bool(leaves)
        self._reshapes = self._list_length = None

    def begin(self, trial):
        """From here on the values are those of this trial."""
        draw = random.Random(f"{self.seed} {trial}")
        self.trial, self._reshapes = trial, draw if trial % 4 == 3 else None
        leaves = list(self._leaves.values())
        if trial >= LARGER:
            self._begin_larger(draw, *divmod(trial - LARGER, 2))
            return
        if not trial or not leaves:
            return
        way = trial % 4
        if way < 2:
            chosen = leaves if not way else [leaf for leaf in leaves if draw.random() < 0.5]
        else:
            chosen = [leaves[(trial // 4 * 2 + way) % len(leaves)]]
        wild = way == 0 and trial % 8 == 0
        self._instead = {(type(leaf), leaf): self._other(leaf, draw, wild) for leaf in chosen}

    def _begin_larger(self, draw, size, of_lists):
        """Lengthen all texts, or all lists: by others like them, so that nothing is a mere repetition."""
        self._instead, self._reshapes = {}, draw
        self._list_length = _LIST_LENGTHS[size] if of_lists else 0
        texts = [leaf for leaf in self._leaves.values() if type(leaf) is str]
        for leaf in () if of_lists else texts:
            longer = leaf
            while len(longer) < max(_TEXT_LENGTHS[size], 10 * len(leaf) * (size == 0)):
                longer += _text(leaf, draw, [])
            self._instead[str, leaf] = longer

    def leaves(self):
        """All that may be replaced."""
        return list(self._leaves.values())

    def value(self, value):
        """The value in this trial."""
        if not self.trial:
            if not self._known:
                self._note(value)
            return value
        return self._replaced(value)

    def _note(self, value):
        if type(value) in (list, tuple, set, frozenset):
            for one in value:
                self._note(one)
        elif type(value) is dict:
            for one in value.values():
                self._note(one)
        elif (
            type(value) in _LEAVES
            and len(self._leaves) < MOST_LEAVES
            and 0 < len(str(value)) < LONGEST
            and not _is_word(value)
        ):
            self._leaves[type(value), value] = value

    def _replaced(self, value):
        kind = type(value)
        if kind in (list, tuple, set, frozenset):
            found = [self._replaced(one) for one in value]
            return kind(self._reshaped(found, self._reshapes) if kind is list and self._reshapes else found)
        if kind is dict:
            return {self._replaced(key): self._replaced(one) for key, one in value.items()}
        return self._instead.get((kind, value), value) if kind in _LEAVES else value

    def _reshaped(self, values, draw):
        if self._list_length is not None:
            more = range(len(values), self._list_length if values else 0)
            return values + [self._varied(values[at % len(values)], draw) for at in more]
        if len(values) < 2 or draw.random() < 0.3:
            return values
        at = draw.randrange(len(values))
        return draw.choice((values[::-1], values[:at] + values[at + 1 :], [*values, values[at]]))

    def _varied(self, value, draw):
        """A further entry of a list, like one that it has."""
        kind = type(value)
        if kind in (list, tuple):
            return kind([self._varied(one, draw) for one in value])
        if kind is dict:
            return {key: self._varied(one, draw) for key, one in value.items()}
        return self._other(value, draw, False) if kind in _LEAVES and value not in ("", b"") else value

    def _other(self, leaf, draw, wild):
        kind = type(leaf)
        if self.words and draw.random() < 0.25:
            words = [word for word in self.words if type(word) is kind and word != leaf]
            if words:
                word = draw.choice(words)
                return word if kind is not str or draw.random() < 0.5 else _with_word(leaf, word, draw)
        if kind is int:
            return _number(leaf, draw)
        if kind is float:
            return draw.choice((leaf + 1, leaf - 1, leaf * 2, leaf + 0.5, float(_number(int(leaf), draw))))
        text = leaf if kind is str else leaf.decode("latin-1")
        pool = [one for other in self._leaves.values() if type(other) is str for one in other]
        found = _wild(text, draw) if wild else _text(text, draw, pool)
        return found if kind is str else found.encode("latin-1", "replace")


def _is_word(value):
    """Whether a value is a file of the product or an option of a program, which others like it are not."""
    if not isinstance(value, str):
        return False
    is_option = value.startswith("-") and value.lstrip("-")[:1].isalpha()
    return is_option or os.path.exists(value)  # noqa: PTH110 -- pathlib would be one more module


def _number(value, draw):
    digits = list(str(abs(value)))
    at = draw.randrange(len(digits))
    digits[at] = draw.choice([digit for digit in "123456789" if digit != digits[at]])
    other = int("".join(digits)) if value >= 0 else -int("".join(digits))
    return draw.choice((value + 1, value - 1, value + 2, other, other, other + 1))


def _text(text, draw, pool):
    """A sign replaced by another of its kind, left out, doubled, or swapped with the next; or the text twice."""
    plain = [at for at, sign in enumerate(text) if sign.isalnum()]
    if not plain:
        return draw.choice((text + text, text + draw.choice(LETTERS), draw.choice(LETTERS) + text))
    at = draw.choice(plain)
    way = draw.randrange(10)
    if way < 3:
        known = [sign for sign in pool if _is_like(sign, text[at]) and sign != text[at]]
        return text[:at] + (draw.choice(known) if known else _sign(text[at], draw)) + text[at + 1 :]
    if way < 6:
        return text[:at] + _sign(text[at], draw) + text[at + 1 :]
    if way == 6 and len(text) > 1:
        return text[:at] + text[at + 1 :]
    if way == 7 and at + 1 < len(text) and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at] + text[at:] if way < 9 else text + text


def _wild(text, draw):
    return "".join(_sign(sign, draw) if sign.isalnum() and sign.isascii() else sign for sign in text)


def _with_word(text, word, draw):
    """The text with one of its words replaced by what is a word of another."""
    inner = "".join(sign for sign in word if sign.isalnum() or sign == "_")
    parts: list[str] = []
    last = None
    for sign in text:
        if sign.isalnum() == last:
            parts[-1] += sign
        else:
            parts.append(sign)
        last = sign.isalnum()
    places = [at for at, part in enumerate(parts) if part[0].isalnum()]
    if not inner or not places:
        return word
    parts[draw.choice(places)] = inner
    return "".join(parts)


def _is_like(one, other):
    return one.isdigit() == other.isdigit() and one.isupper() == other.isupper() and one.isalnum()


def _sign(sign, draw):
    signs = "0123456789" if sign.isdigit() else LETTERS.upper() if sign.isupper() else LETTERS
    return draw.choice(signs.replace(sign, ""))
