"""Python: imports, and lists of a name or a string a line, such as `__all__`."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from milepost.workspace.reconcile.file_kind import Kind, Proposed, newly, one_a_line, repeated
from milepost.workspace.reconcile.list_entries import Inline, Lines, ListEntry, ListReading

_FROM = re.compile(r"(\s*from\s+[.\w]+\s+import\s+)([^()#;*]+?)(\s*(?:#.*)?)")
_ALL = re.compile(r"(\s*__all__\s*(?::[^=]+)?=\s*[\[(]\s*)([^\[\]()#;]+?)(,?\s*[\])]\s*)")
_NAME = re.compile(r"\s*[A-Za-z_]\w*(?:\s+as\s+[A-Za-z_]\w*)?")
_COMMENTED = re.compile(r"(.*,)(\s+#[^\"']*)")
_Container = ast.List | ast.Set | ast.Tuple | ast.Dict | ast.ImportFrom


def _imports(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Whole statements that import, a line each."""
    return one_a_line(lines, lambda line: ListEntry(key=line.strip(), lines=(line,)) if _is_import(line) else None)


def _grown_imports(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Imports that are one for each module, to which both sides may have added names."""

    def entry(line: str) -> ListEntry | None:
        found = _FROM.fullmatch(line)
        if not _is_import(line):
            return None
        return _growing(line, found) if found else ListEntry(key=line.strip(), lines=(line,))

    return one_a_line(lines, entry)


def _grown_all(lines: Lines) -> tuple[ListEntry, ...] | None:
    """`__all__` in one line."""

    def entry(line: str) -> ListEntry | None:
        found = _ALL.fullmatch(line)
        return _growing(line, found) if found else None

    return one_a_line(lines, entry)


def _growing(line: str, found: re.Match[str]) -> ListEntry:
    head, items, tail = found.groups()
    inline = Inline(head=head, items=tuple(item.strip() for item in items.split(",")), tail=tail)
    return ListEntry(key=" ".join(head.split()), lines=(line,), inline=inline)


def _items(lines: Lines) -> tuple[ListEntry, ...] | None:
    """Names, strings, pairs and tuples of them, a line each; only the last may be without its comma."""
    found = one_a_line(lines, _item)
    if found is None or any(not line.strip() for line in lines):
        return None
    bare = [entry.lines[-1] != line for entry, line in zip(found, lines, strict=True)]
    return None if any(bare[:-1]) else found


def _item(line: str) -> ListEntry | None:
    commented = _COMMENTED.fullmatch(line)
    text = (commented[1] if commented else line).strip()
    item = text.removesuffix(",").strip()
    if not item or item.endswith(",") or (commented is None and "#" in line and not text.endswith(",")):
        return None
    key = item if _NAME.fullmatch(item) else _key_of(item)
    return ListEntry(key=key, lines=(line if text.endswith(",") else f"{line.rstrip()},",)) if key else None


def _key_of(item: str) -> str:
    """What makes an item the same on both sides: a pair's key, else the whole; empty for what is no plain value."""
    listed = _parsed(f"[{item}]")
    if listed is not None and isinstance(expression := listed.body[0], ast.Expr):
        value = expression.value
        if isinstance(value, ast.List) and len(value.elts) == 1 and _is_plain(value.elts[0]):
            return item
    paired = _parsed(f"{{{item}}}")
    if paired is not None and isinstance(expression := paired.body[0], ast.Expr):
        value = expression.value
        if isinstance(value, ast.Dict) and len(value.keys) == 1 and _is_text(value.keys[0]):
            return ast.unparse(value.keys[0]) if value.keys[0] and _is_plain(value.values[0], numbers=True) else ""
    return ""


def _is_plain(node: ast.expr, *, numbers: bool = False) -> bool:
    """A string, a name, `a.b`, or a tuple with any of them; a number by itself may be there twice for a reason."""
    match node:
        case ast.Constant(value=value):
            return numbers or isinstance(value, str)
        case ast.Attribute(value=value):
            return _is_plain(value) and not isinstance(value, ast.Constant)
        case ast.Tuple(elts=elements):
            return bool(elements) and all(_is_plain(element, numbers=True) for element in elements)
        case _:
            return isinstance(node, ast.Name)


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_import(line: str) -> bool:
    tree = _parsed(line.strip())
    return tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Import | ast.ImportFrom)


def _holds(proposed: Proposed) -> bool:
    """Whether it compiles, every line stands where it means what it was read as, and no name means two things."""
    tree = _parsed(proposed.result, compiled=True)
    if tree is None or newly(_ambiguous, proposed):
        return False
    statements = {(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    imports = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)}
    held = _held_lines(tree)
    for spot in proposed.spots:
        if spot.reading == "items":
            containers = [held.get(number) for number in spot.filled]
            if containers[0] is None or any(one is not containers[0] for one in containers):
                return False
        elif not all((number, number) in statements for number in spot.filled) or (
            spot.reading != "all" and not imports.issuperset(spot.filled)
        ):
            return False
    return True


def _held_lines(tree: ast.Module) -> dict[int, _Container]:
    """The lines that are one element of a list, a set, a dict or an import, and of which."""
    found: dict[int, _Container] = {}
    for node in ast.walk(tree):
        if not isinstance(node, _Container) or not _is_list(node):
            continue
        spans = list(_elements(node))
        alone = [begin for begin, end in spans if begin == end]
        crowded = repeated(str(number) for span in spans for number in set(span))
        found |= {number: node for number in alone if str(number) not in crowded and number not in found}
    return found


def _elements(node: _Container) -> Iterator[tuple[int, int]]:
    """The first and the last line of each element."""
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from ((key.lineno, value.end_lineno or 0) for key, value in zip(keys, values, strict=True) if key)
        case ast.ImportFrom(names=names):
            yield from ((name.lineno, name.end_lineno or 0) for name in names)
        case ast.List(elts=elements) | ast.Set(elts=elements) | ast.Tuple(elts=elements):
            yield from ((element.lineno, element.end_lineno or 0) for element in elements)


def _is_list(node: _Container) -> bool:
    """Whether one more element leaves the others what they are: a tuple of anything but strings may be a record."""
    match node:
        case ast.Tuple(elts=elements):
            return all(map(_is_text, elements))
        case ast.Dict(keys=keys):
            return all(map(_is_text, keys)) and not repeated(ast.dump(key) for key in keys if key)
        case _:
            return True


def _ambiguous(text: str) -> frozenset[str] | None:
    """The names that are imported from two places, or imported and defined as well."""
    tree = _parsed(text)
    if tree is None:
        return None
    sources: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                sources |= {_bound(name) for name in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                place = f"{'.' * level}{module or ''}"
                sources |= {(name.asname or name.name, f"{place}:{name.name}") for name in names if name.name != "*"}
    imported = {name for name, _ in sources}
    defined = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in imported
    }
    return repeated(name for name, _ in sources) | defined


def _bound(name: ast.alias) -> tuple[str, str]:
    """The name that `import a.b` binds, and what it is then."""
    first = name.name.partition(".")[0]
    return (name.asname, name.name) if name.asname else (first, first)


def _parsed(text: str, *, compiled: bool = False) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if compiled:
                compile(text, "<merged>", "exec", dont_inherit=True)
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain(entry: ListEntry) -> str:
    return entry.lines[-1].strip()


def _folded(entry: ListEntry) -> str:
    return _plain(entry).casefold()


def _by_module(entry: ListEntry) -> tuple[str, str]:
    kind, module, *_ = _plain(entry).split()
    return module.casefold(), kind


def _plain_imports_first(entry: ListEntry) -> tuple[bool, str]:
    kind, module, *_ = _plain(entry).split()
    return kind == "from", module.casefold()


_IMPORT_ORDERS = (_plain_imports_first, _plain, _folded, _by_module)
KIND = Kind(
    readings=(
        ListReading(name="imports", read=_imports, orders=_IMPORT_ORDERS, seen=1),
        ListReading(name="grown imports", read=_grown_imports, orders=_IMPORT_ORDERS, seen=1),
        ListReading(name="all", read=_grown_all),
        ListReading(name="items", read=_items, orders=(_plain, _folded), commas=True),
    ),
    holds=_holds,
)
