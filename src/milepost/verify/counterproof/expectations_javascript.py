"""Other expectations for JavaScript and TypeScript tests: what they compare with is replaced by another value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.sources.javascript_tree import FUNCTIONS, arguments_of, dotted, parsed, string, text_of, walk
from milepost.verify.counterproof.built_javascript import names_of_product, other_objects
from milepost.verify.counterproof.edits import Edit, spliced
from milepost.verify.counterproof.sabotage_javascript import unchecked
from milepost.verify.witness.guest.other import Other

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({"test", "it", "describe", "suite", "context", "specify"})
_PAIRS = frozenset(
    {
        "equal",
        "strictEqual",
        "deepEqual",
        "deepStrictEqual",
        "is",
        "same",
        "eq",
        "deepLooseEqual",
        "partialDeepStrictEqual",
    }
)
_MATCHERS = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toMatchObject", "toHaveLength", "toBeCloseTo", "equal", "equals", "eql", "eq"}
)
_TRUTHS = frozenset({"assert", "ok", "truthy", "true", "isTrue"})
_CLAIMS = frozenset(
    {"toBeTruthy", "toBeFalsy", "toBeNull", "toBeDefined", "toBeUndefined", "toBeNaN", "toContain", "toContainEqual"}
    | {"toMatch", "toBeGreaterThan", "toBeGreaterThanOrEqual", "toBeLessThan", "toBeLessThanOrEqual", "toBeInstanceOf"}
    | {"toHaveProperty", "toHaveBeenCalled", "toHaveBeenCalledTimes", "toHaveBeenCalledWith"}
)
_BUILT = 2
_OPPOSITES = {
    "notEqual": "equal",
    "notStrictEqual": "strictEqual",
    "notDeepEqual": "deepEqual",
    "notDeepStrictEqual": "deepStrictEqual",
    "match": "doesNotMatch",
    "doesNotMatch": "match",
}
_FAILURES = frozenset({"throws", "rejects", "toThrow", "toThrowError", "throw", "throwsAsync", "toReject"})
_UNCERTAIN = frozenset(
    {"if_statement", "try_statement", "catch_clause", "switch_statement", "ternary_expression", "while_statement"}
    | {"for_statement", "do_statement"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Altered:
    """`tests` are the titles of those that must fail in `source`."""

    source: bytes
    tests: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alteration:
    """`rank` 0 is a value that is expected, 1 a claim that is turned round, _BUILT what goes into a value."""

    title: str
    edits: tuple[Edit, ...]
    rank: int
    certain: bool


def altered(
    path: str,
    source: bytes,
    wanted: frozenset[str],
    other: str,
    seed: str,
    *,
    last: bool = False,
    built: bool = False,
) -> Altered | None:
    """The test file with other expectations in the tests of these titles; None where there is nothing to replace.

    Titles are joined by ` > `. `other` is the name of the function that replaces a value at run time. With `last`
    only the last expectation of tests that have several is replaced. With `built` nothing is but the values in the
    objects of the product's classes that a test builds to compare with.
    """
    root = parsed(path, source.decode("utf-8", "replace"))
    if root.has_error:
        return None
    found = [each for each in _alterations(root, other, Other(seed)) if each.title in wanted]
    edits: list[Edit] = []
    tests: set[str] = set()
    for title in sorted({each.title for each in found}):
        mine = [each for each in found if each.title == title]
        for rank in (_BUILT,) if built else range(_BUILT):
            same = [each for each in mine if each.rank == rank]
            certain = [each for each in same if each.certain]
            if certain:
                chosen = same if not last else certain[-1:] if len(certain) > 1 else []
                edits += [edit for each in chosen for edit in each.edits]
                tests |= {title} if chosen else set()
                break
    changed = spliced(source, edits)
    if not tests or parsed(path, changed.decode("utf-8", "replace")).has_error:
        return None
    return Altered(source=unchecked(path, changed), tests=frozenset(tests))


def expecting_failures(path: str, source: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """The titles of tests that somewhere are content with any exception."""
    root = parsed(path, source.decode("utf-8", "replace"))
    calls = (node for node in walk(root) if node.type == "call_expression")
    return wanted & {_place(call)[0] for call in calls if _method(call) in _FAILURES}


def _alterations(root: Node, other: str, draw: Other) -> Iterator[_Alteration]:
    names = names_of_product(root)
    for node in walk(root):
        if node.type != "call_expression":
            continue
        for rank, edits in _of_call(node, other, draw, names):
            title, certain = _place(node)
            yield _Alteration(title=title, edits=edits, rank=rank, certain=certain)


def _of_call(call: Node, other: str, draw: Other, names: frozenset[str]) -> Iterator[tuple[int, tuple[Edit, ...]]]:
    method, words, arguments = _method(call), _chain(call), arguments_of(call)
    function = call.child_by_field_name("function")
    if function is None or any(each.type == "spread_element" for each in arguments):
        return
    is_expect = "expect" in words or "should" in words
    if is_expect and method in _MATCHERS | _CLAIMS and "not" in words[:-1]:
        if edit := _without_not(function):
            yield 1, (edit,)
    elif is_expect and method in _MATCHERS and arguments:
        yield 0, _instead(arguments[0], other, draw)
        yield from _built(arguments[:1], names, draw)
    elif is_expect and method in _CLAIMS and function.type == "member_expression":
        name = function.child_by_field_name("property")
        if name is not None:
            yield 1, (Edit(start=name.start_byte, end=name.start_byte, text="not."),)
    elif method in _PAIRS and len(arguments) > 1 and not is_expect:
        first, second, *_ = arguments
        yield 0, _instead(first if _is_literal(first) and not _is_literal(second) else second, other, draw)
        yield from _built([second, first], names, draw)
    elif method in _OPPOSITES and len(arguments) > 1 and not is_expect:
        at = function.end_byte
        yield 1, (Edit(start=at - len(method), end=at, text=_OPPOSITES[method]),)
    elif method in _TRUTHS and arguments and not is_expect:
        first = arguments[0]
        yield (
            1,
            (
                Edit(start=first.start_byte, end=first.start_byte, text="!("),
                Edit(start=first.end_byte, end=first.end_byte, text=")"),
            ),
        )


def _built(sides: list[Node], names: frozenset[str], draw: Other) -> Iterator[tuple[int, tuple[Edit, ...]]]:
    """The first side that is built from literals, with others in it."""
    found = (other_objects(side, names, lambda node: _other_literal(node, draw)) for side in sides)
    yield from ((_BUILT, edits) for edits in [next(filter(None, found), ())] if edits)


def _chain(call: Node) -> list[str]:
    """The names of a chain such as `expect(x).not.toBe`, calls left out."""
    return dotted(call.child_by_field_name("function")).split(".")


def _method(call: Node) -> str:
    return _chain(call)[-1]


def _without_not(function: Node) -> Edit | None:
    for node in walk(function):
        if node.type == "member_expression" and text_of(node.child_by_field_name("property")) == "not":
            inner = node.child_by_field_name("object")
            return Edit(start=inner.end_byte, end=node.end_byte, text="") if inner is not None else None
    return None


def _place(node: Node) -> tuple[str, bool]:
    """The title of the test that a node is in, and whether it is run whenever that test is."""
    titles: list[str] = []
    certain = True
    functions = 0
    current = node.parent
    while current is not None:
        if current.type == "call_expression" and (title := _title(current)) is not None and functions:
            certain = certain and (functions == 1 or bool(titles))
            titles.insert(0, title)
        elif not titles and current.type in FUNCTIONS:
            functions += 1
        elif not titles and current.type in _UNCERTAIN:
            certain = False
        elif not titles and current.type == "for_in_statement":
            right = current.child_by_field_name("right")
            certain = certain and right is not None and right.type == "array" and bool(right.named_children)
        current = current.parent
    return " > ".join(titles), certain and bool(titles)


def _title(call: Node) -> str | None:
    """The title of a test or of a group of tests, None for another call; a title that is put together is empty."""
    words = _chain(call)
    if not (words[0] in _TESTS or (words[-1] in ("test", "it") and len(words) == 2)):
        return None
    arguments = arguments_of(call)
    if len(arguments) < 2 or arguments[-1].type not in FUNCTIONS:
        return None
    return "" if "each" in words else string(arguments[0])


def _is_literal(node: Node) -> bool:
    return node.type in {"number", "string", "true", "false", "null", "undefined", "array", "object"} or (
        node.type == "unary_expression" and all(child.type == "number" for child in node.named_children)
    )


def _instead(node: Node, other: str, draw: Other) -> tuple[Edit, ...]:
    edit = _other_literal(node, draw)
    if edit is not None:
        return (edit,)
    return (
        Edit(start=node.start_byte, end=node.start_byte, text=f"{other}("),
        Edit(start=node.end_byte, end=node.end_byte, text=")"),
    )


def _other_literal(node: Node, draw: Other) -> Edit | None:
    """Another literal in the place of one; in an array or an object, of one of its parts."""
    text = text_of(node)
    new: str | None = None
    match node.type:
        case "number":
            plain = text.replace("_", "").removesuffix("n")
            if plain.isdecimal():
                new = str(draw(int(plain))) + ("n" if text.endswith("n") else "")
            elif plain.replace(".", "", 1).isdecimal():
                new = repr(draw(float(plain)))
        case "string" | "template_string" if "\\" not in text and "${" not in text:
            new = text[0] + draw(text[1:-1]) + text[-1]
        case "true" | "false":
            new = "false" if node.type == "true" else "true"
        case "null" | "undefined":
            new = "false"
        case "unary_expression" if text.startswith("-") and node.named_children:
            return _other_literal(node.named_children[0], draw)
        case "array" | "object":
            return _other_part(node, draw)
    return Edit(start=node.start_byte, end=node.end_byte, text=new) if new is not None else None


def _other_part(node: Node, draw: Other) -> Edit | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    if not parts:
        text = "[3]" if node.type == "array" else "({ a: 3 })"
        return Edit(start=node.start_byte, end=node.end_byte, text=text)
    for part in parts:
        value = part.child_by_field_name("value") if part.type == "pair" else part
        if node.type == "object" and part.type != "pair":
            continue
        if value is not None and (edit := _other_literal(value, draw)) is not None:
            return edit
    return None
