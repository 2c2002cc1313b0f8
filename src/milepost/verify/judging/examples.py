"""Examples in the docstrings of product files: they judge, while the code around them is judged."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from milepost.verify.counterproof.edits import Edit, PythonText, is_python, read_python, spliced
from milepost.verify.judging.paths import PYTHON, is_test_path, suffix

_Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def files_with_examples(ids: Iterable[str]) -> frozenset[str]:
    """The files that are no test files and of which nothing but examples was run, by the ids of what was."""
    names: dict[str, list[str]] = {}
    for id_ in ids:
        path, _, name = id_.partition("::")
        if suffix(path) in PYTHON and not is_test_path(path):
            names.setdefault(path, []).append(name)
    return frozenset(path for path, told in names.items() if all(_is_of_docstring(path, name) for name in told))


def with_examples_of(judge: bytes, work: bytes) -> bytes | None:
    """The file `work` with the examples of `judge`, and no others; None where one of them cannot be parsed.

    Docstrings stay as `work` has them where their examples are the same. Examples of what is gone are gone.
    """
    old, new = read_python(judge), read_python(work)
    if old is None or new is None:
        return None
    wanted = dict(_owners(old.tree))
    edits = [
        edit
        for name, owner in _owners(new.tree)
        if _examples(owner) != _examples(wanted.get(name))
        if (edit := _edit(new, owner, old, wanted.get(name))) is not None
    ]
    if not edits:
        return work
    made = spliced(new.text, edits)
    return made if is_python(made) else None


def _is_of_docstring(path: str, name: str) -> bool:
    """Whether a test is called as an example is: by its module, and what of it has the docstring."""
    module = path.removesuffix(".py").removesuffix("/__init__").split("/")
    dotted = (".".join(module[at:]) for at in range(len(module)))
    return any(name == each or name.startswith(f"{each}.") for each in dotted)


def _owners(tree: ast.Module) -> Iterator[tuple[tuple[str, int], _Owner]]:
    """What can have a docstring, by its dotted name and how often that came before."""
    seen: dict[str, int] = {}
    todo: list[tuple[str, ast.AST]] = [("", tree)]
    while todo:
        around, node = todo.pop(0)
        if isinstance(node, _Owner):
            name = f"{around}.{node.name}" if not isinstance(node, ast.Module) else ""
            yield (name, seen.get(name, 0)), node
            seen[name] = seen.get(name, 0) + 1
            around = name
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            todo += [(around, child) for child in ast.iter_child_nodes(node)]


def _examples(owner: _Owner | None) -> list[tuple[str, str, tuple[tuple[int, bool], ...]]] | str:
    text = ast.get_docstring(owner, clean=False) if owner is not None else None
    try:
        import doctest

        found = doctest.DocTestParser().get_examples(text or "")
    except ValueError:
        return text or ""
    return [(each.source, each.want, tuple(sorted(each.options.items()))) for each in found]


def _edit(new: PythonText, owner: _Owner, old: PythonText, judge: _Owner | None) -> Edit | None:
    """The docstring of `judge` for that of `owner`; where there is none, that of `owner` without its examples."""
    there = owner.body[0] if ast.get_docstring(owner, clean=False) is not None else None
    if judge is not None and ast.get_docstring(judge, clean=False) is not None:
        text = old.text[old.start(judge.body[0]) : old.end(judge.body[0])].decode("utf-8", "surrogatepass")
    else:
        text = repr((ast.get_docstring(owner, clean=False) or "").replace(">>>", ">"))
    if there is not None:
        return Edit(start=new.start(there), end=new.end(there), text=text)
    if not owner.body:
        return None
    first = owner.body[0]
    line = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
    start = new.starts[line - 1]
    indent = new.text[start : new.start(first)].split(b"\n")[-1].decode("utf-8", "replace")
    if indent.strip():
        return Edit(start=new.start(first), end=new.start(first), text=f"{text}; ")
    return Edit(start=start, end=start, text=f"{indent}{text}\n")
