"""Where a grammar has names: captures of definitions are called by their kind, those of uses `use`."""

from __future__ import annotations

from collections.abc import Mapping

_SCRIPT = """
(function_declaration name: (identifier) @function)
(generator_function_declaration name: (identifier) @function)
(method_definition name: [(property_identifier) (private_property_identifier)] @method)
(program (lexical_declaration (variable_declarator name: (identifier) @constant)))
(program (variable_declaration (variable_declarator name: (identifier) @constant)))
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @constant)))
(call_expression function: [(identifier) @use (member_expression property: (property_identifier) @use)])
(new_expression constructor: [(identifier) @use (member_expression property: (property_identifier) @use)])
(import_specifier name: (identifier) @use)
(import_clause (identifier) @use)
"""

_MARKUP = """
(jsx_opening_element name: (identifier) @use)
(jsx_self_closing_element name: (identifier) @use)
"""
_TYPESCRIPT = f"""
{_SCRIPT}
(class_declaration name: (type_identifier) @class)
(abstract_class_declaration name: (type_identifier) @class)
(interface_declaration name: (type_identifier) @interface)
(type_alias_declaration name: (type_identifier) @type)
(enum_declaration name: (identifier) @class)
(function_signature name: (identifier) @function)
(method_signature name: (property_identifier) @method)
(abstract_method_signature name: (property_identifier) @method)
(extends_clause value: [(identifier) @use (member_expression property: (property_identifier) @use)])
(type_annotation (type_identifier) @use)
(type_annotation (_ (type_identifier) @use))
(type_arguments (type_identifier) @use)
(implements_clause (type_identifier) @use)
"""

QUERIES: Mapping[str, str] = {
    "python": """
        (class_definition name: (identifier) @class)
        (function_definition name: (identifier) @function)
        (type_alias_statement left: (type (identifier) @type))
        (module (expression_statement (assignment left: (identifier) @constant)))
        (call function: [(identifier) @use (attribute attribute: (identifier) @use)])
        (import_from_statement name: [
            (dotted_name (identifier) @use)
            (aliased_import name: (dotted_name (identifier) @use))
        ])
        (import_from_statement module_name: (dotted_name (identifier) @use .))
        (class_definition superclasses: (argument_list [
            (identifier) @use
            (attribute attribute: (identifier) @use)
            (subscript value: (identifier) @use)
        ]))
        (type [(identifier) @use (attribute attribute: (identifier) @use)])
        (type (_ (identifier) @use))
        (type_parameter (type (identifier) @use))
        (decorator [(identifier) @use (attribute attribute: (identifier) @use)])
        (except_clause value: (identifier) @use)
    """,
    "javascript": f"""
        {_SCRIPT}
        {_MARKUP}
        (class_declaration name: (identifier) @class)
        (class_heritage [(identifier) @use (member_expression property: (property_identifier) @use)])
    """,
    "typescript": _TYPESCRIPT,
    "tsx": f"{_TYPESCRIPT}{_MARKUP}",
    "bash": """
        (function_definition name: (word) @function)
        (command name: (command_name (word) @use))
    """,
    "go": """
        (function_declaration name: (identifier) @function)
        (method_declaration name: (field_identifier) @method)
        (type_spec name: (type_identifier) @type)
        (source_file (const_declaration (const_spec name: (identifier) @constant)))
        (source_file (var_declaration (var_spec name: (identifier) @constant)))
        (call_expression function: [(identifier) @use (selector_expression field: (field_identifier) @use)])
        (parameter_declaration type: (_ (type_identifier) @use))
        (type_identifier) @use
    """,
    "rust": """
        (function_item name: (identifier) @function)
        (function_signature_item name: (identifier) @function)
        (struct_item name: (type_identifier) @class)
        (enum_item name: (type_identifier) @class)
        (union_item name: (type_identifier) @class)
        (trait_item name: (type_identifier) @interface)
        (type_item name: (type_identifier) @type)
        (const_item name: (identifier) @constant)
        (static_item name: (identifier) @constant)
        (macro_definition name: (identifier) @function)
        (mod_item name: (identifier) @module)
        (call_expression function: [
            (identifier) @use
            (field_expression field: (field_identifier) @use)
            (scoped_identifier name: (identifier) @use)
        ])
        (macro_invocation macro: (identifier) @use)
        (use_list (identifier) @use)
        (scoped_identifier name: (identifier) @use)
        (type_identifier) @use
    """,
    "java": """
        (class_declaration name: (identifier) @class)
        (interface_declaration name: (identifier) @interface)
        (enum_declaration name: (identifier) @class)
        (record_declaration name: (identifier) @class)
        (annotation_type_declaration name: (identifier) @interface)
        (method_declaration name: (identifier) @method)
        (constructor_declaration name: (identifier) @method)
        (method_invocation name: (identifier) @use)
        (object_creation_expression type: (type_identifier) @use)
        (type_identifier) @use
    """,
    "c": """
        (function_definition declarator: (_ declarator: (identifier) @function))
        (function_definition declarator: (pointer_declarator declarator: (_ declarator: (identifier) @function)))
        (translation_unit (declaration declarator: (function_declarator declarator: (identifier) @function)))
        (struct_specifier name: (type_identifier) @class body: (_))
        (union_specifier name: (type_identifier) @class body: (_))
        (enum_specifier name: (type_identifier) @class body: (_))
        (type_definition declarator: (type_identifier) @type)
        (preproc_def name: (identifier) @constant)
        (preproc_function_def name: (identifier) @function)
        (call_expression function: (identifier) @use)
        (type_identifier) @use
    """,
    "cpp": """
        (function_definition declarator: (function_declarator declarator: [
            (identifier) @function
            (field_identifier) @method
            (qualified_identifier name: (identifier) @method)
            (qualified_identifier name: (qualified_identifier name: (identifier) @method))
        ]))
        (function_definition declarator: (_ declarator: (function_declarator declarator: (identifier) @function)))
        (field_declaration declarator: (function_declarator declarator: (field_identifier) @method))
        (class_specifier name: (type_identifier) @class body: (_))
        (struct_specifier name: (type_identifier) @class body: (_))
        (enum_specifier name: (type_identifier) @class body: (_))
        (alias_declaration name: (type_identifier) @type)
        (namespace_definition name: (namespace_identifier) @module)
        (preproc_def name: (identifier) @constant)
        (preproc_function_def name: (identifier) @function)
        (call_expression function: [
            (identifier) @use
            (field_expression field: (field_identifier) @use)
            (qualified_identifier name: (identifier) @use)
        ])
        (type_identifier) @use
    """,
    "ruby": """
        (method name: (identifier) @method)
        (singleton_method name: (identifier) @method)
        (class name: (constant) @class)
        (class name: (scope_resolution name: (constant) @class))
        (module name: (constant) @module)
        (assignment left: (constant) @constant)
        (call method: (identifier) @use)
        (constant) @use
    """,
    "php": """
        (function_definition name: (name) @function)
        (method_declaration name: (name) @method)
        (class_declaration name: (name) @class)
        (interface_declaration name: (name) @interface)
        (trait_declaration name: (name) @class)
        (enum_declaration name: (name) @class)
        (const_element (name) @constant)
        (function_call_expression function: (name) @use)
        (member_call_expression name: (name) @use)
        (scoped_call_expression name: (name) @use)
        (object_creation_expression (name) @use)
        (named_type (name) @use)
        (base_clause (name) @use)
        (class_interface_clause (name) @use)
    """,
}
