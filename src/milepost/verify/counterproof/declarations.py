"""Whether a change declares things outside of functions: constants, fields, data. No sabotage can take these out."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from milepost.core.change import ChangedFile
from milepost.sources.javascript_tree import FUNCTIONS, parsed, text_of, walk
from milepost.sources.python_tree import parsed as parsed_python
from milepost.verify.counterproof.languages import language_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DECLARED = frozenset(
    {"lexical_declaration", "variable_declaration", "class_declaration", "export_statement", "import_statement"}
    | {"public_field_definition", "field_definition", "enum_declaration"}
)


def declares(file: ChangedFile) -> bool:
    """Whether what changed outside of functions are declarations only, and there are some; data declares."""
    language = language_of(file.path)
    if not language:
        return True
    outside = _python if language == "Python" else _javascript
    before = Counter(outside(file.path, file.text_before))
    new = Counter(outside(file.path, file.text_after)) - before
    kinds = {kind for kind, _ in new}
    return "declares" in kinds and "runs" not in kinds


def _python(_: str, source: str) -> Iterator[tuple[str, str]]:
    """Each statement outside of functions: whether it declares or runs something, and its text."""
    tree = parsed_python(source)
    todo: list[ast.stmt] = list(tree.body) if tree is not None else []
    while todo:
        node = todo.pop()
        if isinstance(node, _FUNCTIONS):
            yield from (("declares", ast.dump(each)) for each in node.decorator_list)
        elif isinstance(node, ast.ClassDef):
            yield "declares", f"{node.name} {[ast.dump(each) for each in (*node.bases, *node.decorator_list)]}"
            todo += node.body
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            plain = all(isinstance(each, ast.Name | ast.Tuple) for each in targets)
            yield "declares" if plain else "runs", ast.dump(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield "imports", ast.dump(node)
        elif not (isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))):
            yield "runs", ast.dump(node)


def _javascript(path: str, source: str) -> Iterator[tuple[str, str]]:
    for node in parsed(path, source).named_children:
        text = text_of(node)
        for each in walk(node):
            body = each.child_by_field_name("body") if each.type in FUNCTIONS else None
            if body is not None:
                text = text.replace(text_of(body), "")
        exports = node.type == "expression_statement" and text.startswith(("module.exports", "exports."))
        if node.type not in ("function_declaration", "comment", "interface_declaration", "type_alias_declaration"):
            yield "declares" if exports or node.type in _DECLARED else "runs", text
