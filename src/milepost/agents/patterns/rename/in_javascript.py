"""A name at the top of a JavaScript or TypeScript file, renamed there and wherever it is imported.

Only what is certain is renamed: a file in which the name means two things, or comes by a way that is not understood,
is refused.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milepost.agents.patterns.edits import TextEdit, edited
from milepost.sandbox.confined import PathRefused
from milepost.sources.javascript_tree import parsed, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_IDENTIFIERS = (
    "identifier",
    "type_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)
_TOP = ("program", "export_statement", "lexical_declaration", "variable_declaration", "variable_declarator")
_DECLARING = (
    "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
    "interface_declaration", "type_alias_declaration", "enum_declaration", "variable_declarator", "function_signature",
)  # fmt: skip

# What binds every name in it, and what binds only the name in one part of it.
_BINDING = frozenset(
    {
        "formal_parameters", "required_parameter", "optional_parameter", "catch_clause", "import_clause",
        "import_specifier", "namespace_import", "array_pattern", "object_pattern", "rest_pattern",
    }
)  # fmt: skip
_BINDING_PART = {
    **dict.fromkeys((*_DECLARING, "class", "function_expression", "type_parameter"), "name"),
    "arrow_function": "parameter",
    "for_in_statement": "left",
    "assignment_pattern": "left",
    "pair_pattern": "value",
    "export_specifier": "alias",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptFile:
    """A file that was read."""

    path: str
    text: str
    root: Node


@dataclass
class ScriptRenaming:
    """One renaming: `exporters` are the files that other files can import the name from."""

    old: str
    new: str
    scripts: Mapping[str, JavaScriptFile]
    home: str
    exporters: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def changed(self) -> dict[str, str]:
        """The new text of each file that changes; `PathRefused` with every place that is not certain."""
        self._find_exporters()
        changed: dict[str, str] = {}
        for script in self.scripts.values():
            edits = sorted(set(self._edits(script)), key=lambda edit: (edit.line, edit.column))
            if edits and (taken := next(_places(script, self.new), None)) is not None:
                self.problems.append(f"{_at(script, taken)} has a {self.new!r} already")
            if edits:
                changed[script.path] = edited(script.path, script.text, edits)
        if self.problems:
            raise PathRefused("; ".join(dict.fromkeys(self.problems)))
        return changed

    def _find_exporters(self) -> None:
        self.exporters = {self.home}
        while True:
            more = {
                script.path
                for script in self.scripts.values()
                if script.path not in self.exporters and self._passes_on(script)
            }
            if not more:
                return
            self.exporters |= more

    def _passes_on(self, script: JavaScriptFile) -> bool:
        """Whether a file exports the name under the same name, as it came from a file that has it."""
        imported = any(self._specifiers(script, "import_statement", alias=False))
        for node in script.root.named_children:
            if node.type != "export_statement":
                continue
            source = node.child_by_field_name("source")
            ours = self._is_ours(script, source) if source is not None else imported
            starred = source is not None and not any(
                child.type in ("export_clause", "namespace_export") for child in node.children
            )
            if ours and (starred or any(_exported(clause) == self.old for clause in _clauses(node))):
                return True
        return False

    def _edits(self, script: JavaScriptFile) -> Iterator[TextEdit]:
        imported = list(self._specifiers(script, "import_statement", alias=None))
        passed_on = list(self._specifiers(script, "export_statement", alias=None))
        for specifier in (*imported, *passed_on):
            yield self._edit(_named(specifier, "name"))
        yield from self._member_edits(script)
        unaliased = any(specifier.child_by_field_name("alias") is None for specifier in imported)
        if script.path != self.home and not unaliased:
            self._refuse_other_ways(script)
            return
        done = {node.id for specifier in (*imported, *passed_on) for node in walk(specifier)}
        foreign = {node.id for clause in self._foreign(script) for node in walk(clause)}
        for node in _places(script, self.old):
            if node.id in done:
                continue
            if node.id in foreign or (_declares(node) and not (script.path == self.home and _is_at_top(node))):
                self.problems.append(f"{_at(script, node)} gives {self.old!r} another meaning")
            elif node.type == "shorthand_property_identifier":
                yield self._edit(node, f"{self.old}: {self.new}")
            else:
                yield self._edit(node)

    def _specifiers(self, script: JavaScriptFile, statement: str, *, alias: bool | None) -> Iterator[Node]:
        """The places in imports, or exports from elsewhere, that take the name from a file that has it."""
        for node in script.root.named_children:
            source = node.child_by_field_name("source") if node.type == statement else None
            if source is None or not self._is_ours(script, source):
                continue
            for clause in _clauses(node):
                name, other = clause.child_by_field_name("name"), clause.child_by_field_name("alias")
                if name is not None and text_of(name) == self.old and alias in (None, other is not None):
                    yield clause

    def _foreign(self, script: JavaScriptFile) -> Iterator[Node]:
        """Imports and exports of the name from other files."""
        for node in script.root.named_children:
            source = (
                node.child_by_field_name("source") if node.type in ("import_statement", "export_statement") else None
            )
            if source is not None and not self._is_ours(script, source):
                yield from _clauses(node)
                yield from (child for child in node.children if child.type == "import_clause")

    def _member_edits(self, script: JavaScriptFile) -> Iterator[TextEdit]:
        """`module.name` where the module was imported as a whole."""
        spaces = {
            text_of(node.named_children[-1])
            for statement in script.root.named_children
            if statement.type == "import_statement" and self._is_ours(script, statement.child_by_field_name("source"))
            for node in walk(statement)
            if node.type == "namespace_import" and node.named_children
        }
        for node in walk(script.root):
            if node.type != "member_expression" or text_of(node.child_by_field_name("property")) != self.old:
                continue
            if text_of(node.child_by_field_name("object")) in spaces:
                yield self._edit(_named(node, "property"))
            else:
                self.left.append(_at(script, node))

    def _refuse_other_ways(self, script: JavaScriptFile) -> None:
        """Refuse a file that may have the name by `require`, `import()` or a path that is not a relative one."""
        stem = posixpath.basename(self.home).partition(".")[0]
        for node in walk(script.root):
            if node.type == "call_expression" and text_of(node.child_by_field_name("function")) in (
                "require",
                "import",
            ):
                words = [each for each in walk(node) if each.type == "string"]
                if any(self._is_ours(script, word) for word in words) and self.old in script.text:
                    self.problems.append(f"{_at(script, node)} loads {self.home} in a way that is not followed")
            elif node.type == "import_statement":
                source = text_of(node.child_by_field_name("source")).strip("'\"")
                last = posixpath.basename(source).partition(".")[0]
                names = [text_of(clause.child_by_field_name("name")) for clause in _clauses(node)]
                if not source.startswith(".") and last == stem and self.old in names:
                    self.problems.append(f"{_at(script, node)} may import it by the path {source!r}")

    def _is_ours(self, script: JavaScriptFile, source: Node | None) -> bool:
        return source is not None and self._target(script, text_of(source).strip("'\"`")) in self.exporters

    def _target(self, script: JavaScriptFile, source: str) -> str:
        """The file of the project that a relative path means, as node, bundlers and TypeScript find it."""
        if not source.startswith("."):
            return ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(script.path), source))
        stem = path[: -len(posixpath.splitext(path)[1])] if path.endswith(SUFFIXES) else path
        tried = (path, *(f"{each}{end}" for each in (path, stem, f"{path}/index") for end in SUFFIXES))
        return next((each for each in tried if each in self.scripts), "")

    def _edit(self, node: Node, new: str = "") -> TextEdit:
        return TextEdit(line=node.start_point[0] + 1, column=node.start_point[1], old=self.old, new=new or self.new)


def read(path: str, text: str) -> JavaScriptFile:
    """A file as it is looked at; one that cannot be read is refused, for the name may be in it."""
    root = parsed(path, text)
    if root.has_error:
        raise PathRefused(f"{path} cannot be read: it has an error of syntax")
    return JavaScriptFile(path=path, text=text, root=root)


def defines(script: JavaScriptFile, name: str) -> bool:
    """Whether a file declares the name at its top."""
    return any(_declares(node) and _is_at_top(node) for node in _places(script, name))


def _places(script: JavaScriptFile, name: str) -> Iterator[Node]:
    """Where the name stands for something that a scope binds; properties and labels are named apart."""
    return (node for node in walk(script.root) if node.type in _IDENTIFIERS and text_of(node) == name)


def _declares(node: Node) -> bool:
    """Whether an identifier is the name that a declaration, a parameter or an import binds."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type in _BINDING_PART:
        return parent.child_by_field_name(_BINDING_PART[parent.type]) == node
    return parent.type in _BINDING or node.type == "shorthand_property_identifier_pattern"


def _is_at_top(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type not in _DECLARING:
        return False
    above = parent.parent if parent.type != "variable_declarator" else parent
    while above is not None and above.type in _TOP:
        if above.type == "program":
            return True
        above = above.parent
    return False


def _clauses(statement: Node) -> Iterator[Node]:
    return (node for node in walk(statement) if node.type in ("import_specifier", "export_specifier"))


def _exported(clause: Node) -> str:
    return text_of(clause.child_by_field_name("alias") or clause.child_by_field_name("name"))


def _named(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None
    return found


def _at(script: JavaScriptFile, node: Node) -> str:
    return f"{script.path}:{node.start_point[0] + 1}"
