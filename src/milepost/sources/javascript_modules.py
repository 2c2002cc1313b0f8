"""What JavaScript and TypeScript files import from their neighbours, and whether it is there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_TRIED = ("", *SUFFIXES, ".d.ts", ".json", ".node", ".vue", ".svelte", ".css", ".scss")
_WRITTEN_FOR = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_OPENING = re.compile(r"[/'\"`{}]")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_TEMPLATE_PART = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(?:`|\$\{|\Z)", re.DOTALL)
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}\]|[^/\\\n\[]){1,2000}/\w*")
_BEFORE_A_PATTERN = re.compile(
    r"(?:^|[=(,:;!&|?{}\[+\-*%~^>\n]|\b(?:return|typeof|case|in|of|do|else|void|delete))\s*\Z"
)
_STATIC = re.compile(
    r"""(?:^|[;}])[ \t]*(?:(?:import|export)\b(?P<what>[\w\s{},*$]{0,1000}?)\bfrom\s*|import\s*)"(?P<text>\d+)\"""",
    re.MULTILINE,
)
_CALL = re.compile(r"""(?<![\w$.])(?:require|import)\s*\(\s*"(?P<text>\d+)"\s*\)""")
_BRACES = re.compile(r"\{([^}]*)\}")
_EXPORTED = re.compile(
    r"\bexport\s+(?:declare\s+|abstract\s+|async\s+|opaque\s+)*"
    r"(?:function\b\s*\*?|class\b|(?:const\s+)?enum\b|interface\b|type\b|namespace\b|module\b)\s*([\w$]+)"
)
_EXPORTED_VALUES = re.compile(r"\bexport\s+(?:declare\s+)?(?:const|let|var)\b[^\n]*")
_EXPORT_LIST = re.compile(r"\bexport\s+(?:type\s+)?\{([^}]*)\}")
_UNCERTAIN = re.compile(
    r"\bexport\s*\*|\bmodule\s*\.\s*exports|\bexports\s*[.\[]|\bexport\s+(?:const|let|var)\s*[{\[]|\bexport\s*=|"
    r"\bexport\s+(?:const|let|var)\b[^;\n]{0,2000},[ \t]*$|\bexport\s+import\b|\bdeclare\s+(?:module|global)\b",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import of a neighbour: where it points, on which line, and the names that are taken from it."""

    target: str
    line: int
    names: tuple[str, ...] = ()


def imports_of(text: str) -> tuple[Import, ...]:
    """The imports of a text that begin with a dot; what stands in comments and strings is none."""
    code, strings = _without_strings(text)
    found: list[Import] = []
    for hit in sorted((*_STATIC.finditer(code), *_CALL.finditer(code)), key=lambda hit: hit.start("text")):
        target = strings[int(hit["text"])].partition("?")[0].partition("#")[0]
        if target.startswith(("./", "../")) or target in (".", ".."):
            line = code.count("\n", 0, hit.start("text")) + 1
            found.append(Import(target=target, line=line, names=tuple(_taken(hit.groupdict().get("what") or ""))))
    return tuple(found)


def exports_of(text: str) -> frozenset[str] | None:
    """The names that a module exports; None where they cannot be told by looking."""
    code, _ = _without_strings(text)
    if _UNCERTAIN.search(code) or not re.search(r"\bexport\b", code):
        return None
    names = set(_EXPORTED.findall(code))
    for line in _EXPORTED_VALUES.findall(code):
        names.update(re.findall(r"[\w$]+", line))  # more than there are: one line may declare several
    for group in _EXPORT_LIST.findall(code):
        names.update(part.split()[-1] for part in group.split(",") if part.split())
    return frozenset(names)


def resolve(path: str, target: str, exists: Callable[[str], bool]) -> str | None:
    """The file that an import in `path` means, as Node, compilers and bundlers find it; None when there is none."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if place.startswith(".."):
        return place  # beyond the checkout: nobody here can tell
    return next(filter(exists, _candidates("" if place == "." else place)), None)


def _candidates(place: str) -> Iterator[str]:
    stem, dot, ending = place.rpartition(".")
    if place:
        yield from (f"{place}{suffix}" for suffix in _TRIED)
        yield from (f"{stem}{suffix}" for suffix in _WRITTEN_FOR.get(f"{dot}{ending}", ()))
    inside = f"{place}/" if place else ""
    yield f"{inside}package.json"
    yield from (f"{inside}index{suffix}" for suffix in _TRIED[1:])


def _without_strings(text: str) -> tuple[str, list[str]]:
    """The code of a text: comments, templates and patterns blank, each string replaced by its number, lines kept."""
    code: list[str] = []
    strings: list[str] = []
    depths: list[int] = []  # of braces, in each template that is open around here
    position = 0
    while opening := _OPENING.search(text, position):
        code.append(text[position : opening.start()])
        position, sign = opening.start(), opening[0]
        if sign == "}" and depths and depths[-1] == 0:
            depths.pop()
            sign = "`"
        elif sign in "{}" and depths:
            depths[-1] += 1 if sign == "{" else -1
        if sign == "`" and (part := _TEMPLATE_PART.match(text, position + 1)):
            if part[0].endswith("${"):
                depths.append(0)
            code.append(_blank(part[0]))
            position = part.end()
        elif sign in "\"'" and (string := _STRING.match(text, position)):
            strings.append(string[0][1:-1])
            code.append(f'"{len(strings) - 1}"')
            position = string.end()
        elif sign == "/" and (skipped := _COMMENT.match(text, position) or _pattern(text, position)):
            code.append(_blank(skipped[0]))
            position = skipped.end()
        else:
            code.append(sign)
            position += 1
    code.append(text[position:])
    return "".join(code), strings


def _pattern(text: str, position: int) -> re.Match[str] | None:
    before = text[max(0, position - 40) : position]
    return _PATTERN.match(text, position) if _BEFORE_A_PATTERN.search(before) else None


def _blank(text: str) -> str:
    return "\n" * text.count("\n") or " "


def _taken(what: str) -> Iterator[str]:
    for group in _BRACES.findall(what):
        for part in group.split(","):
            words = part.split()
            if words[:1] == ["type"] and len(words) > 1 and words[1] != "as":
                words = words[1:]
            if words and words[0] != "default":
                yield words[0]
