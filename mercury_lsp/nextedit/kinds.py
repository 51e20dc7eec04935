"""Kinds of nodes, by what stands in them: hardly one grammar calls a thing otherwise than the others. Knows no tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

NAMES = frozenset(
    "identifier property_identifier field_identifier type_identifier shorthand_property_identifier namespace_identifier name constant"
    " shorthand_property_identifier_pattern private_property_identifier variable_name word shorthand_field_identifier".split()
)
# What stands behind the dot of these is a member.
ACCESS = {
    "attribute": "attribute",
    "member_expression": "property",
    "selector_expression": "field",
    "qualified_type": "name",
    "field_expression": "field",
    "field_access": "field",
    "method_invocation": "name",
    "member_access_expression": "name",
    "member_call_expression": "name",
    "dot_index_expression": "field",
    "method_index_expression": "method",
    "scoped_identifier": "name",
    "scoped_type_identifier": "name",
    "qualified_identifier": "name",
    "scoped_call_expression": "name",
    "class_constant_access_expression": "name",
}
RECEIVERS = ("object", "operand", "value", "argument", "expression", "table", "path", "scope", "receiver")
KEYS = {
    "keyword_argument": "name",
    "pair": "key",
    "pair_pattern": "key",
    "field_initializer": "field",
    "named_argument": "name",
    "argument": "name",  # of C#
}
CLASS_BODIES = frozenset(
    "class_body interface_body enum_body enum_body_declarations declaration_list field_declaration_list object_type"
    " annotation_type_body enum_variant_list enumerator_list enum_declaration_list body_statement".split()
)
CLASSES = frozenset(
    "class_definition class_declaration abstract_class_declaration class class_specifier struct_specifier impl_item trait_item"
    " interface_declaration enum_declaration record_declaration struct_declaration struct_item enum_item type_spec singleton_class"
    " type_alias_declaration trait_declaration module".split()
)
FUNCTIONS = frozenset(
    "function_definition function_declaration generator_function_declaration function_expression generator_function arrow_function"
    " method_definition method_declaration func_literal function_item closure_expression constructor_declaration lambda_expression lambda"
    " method singleton_method anonymous_function anonymous_function_creation_expression local_function_statement function_signature"
    " method_signature abstract_method_signature function_signature_item do_block list_comprehension set_comprehension"
    " dictionary_comprehension generator_expression method_elem".split()
)
BLOCKS = frozenset(
    "statement_block block compound_statement for_statement for_in_statement for_expression enhanced_for_statement for_range_loop"
    " for_each_statement foreach_statement catch_clause if_statement expression_switch_statement type_switch_statement expression_case"
    " communication_case match_arm if_expression while_expression switch_statement switch_block do_statement while_statement"
    " repeat_statement try_with_resources_statement using_statement switch_body".split()
)
PROTOTYPES = frozenset({"declaration", "field_declaration"})  # of C
# A variable belongs to the whole function; what assigns it first declares it.
FUNCTION_SCOPED = frozenset({"python", "php", "ruby", "bash"})
ASSIGNMENTS = frozenset({"assignment", "assignment_expression", "variable_assignment"})
DECLARING = (
    "declara", "parameter", "for_", "foreach", "range_clause", "short_var", "with_item", "as_pattern", "let_", "_spec", "named_expression"
)  # fmt: skip
DECLARING_FIELDS = ("left", "pattern", "name", "declarator", "alias", "key")
BY_NAME = frozenset(
    "const_item static_item type_item mod_item enum_variant variable_declarator preproc_def preproc_function_def enumerator enum_assignment"
    " property_signature public_field_definition field_definition const_spec macro_definition".split()
)
# Between a name and what declares it.
WRAPPED = frozenset(
    "expression_list pattern_list tuple_pattern variable_list list_pattern array_pattern identifier_list pointer_declarator"
    " reference_declarator array_declarator function_declarator init_declarator as_pattern_target mut_pattern ref_pattern"
    " captured_pattern reference_pattern typed_parameter list_splat_pattern dictionary_splat_pattern object_pattern pair_pattern"
    " assignment_pattern object_assignment_pattern rest_pattern slice_pattern tuple_struct_pattern qualified_identifier".split()
)
OWN = frozenset({"self", "this", "cls", "Self", "@", "$this"})
IN_FIELDS = frozenset(
    "variable_declarator variable_declaration assignment expression_statement pointer_declarator reference_declarator array_declarator"
    " function_declarator init_declarator".split()
)
NO_CLASSES = frozenset({"namespace_declaration", "namespace_definition", "mod_item", "foreign_mod_item", "method", "singleton_method"})


def is_field(parent: Node, field: str | None, child: Node) -> bool:
    return field is not None and child in parent.children_by_field_name(field)


def is_value(parent: Node, child: Node) -> bool:
    """Whether a child is what a name is set to, or its type."""
    if parent.type == "pair_pattern":
        return is_field(parent, "key", child)
    return any(is_field(parent, field, child) for field in ("value", "right", "type", "size", "parameters", "scope"))
