"""Keeps public evaluation sets, and whatever quotes them, out of the training text. Knows no file and no token."""

from __future__ import annotations

import re

# By name, spaces and hyphens and underscores left out: the sets, their infilling and multilingual forms, and the edit evaluations of
# editor vendors.
_NAMES = (
    "humaneval", "crosscodeeval", "crosscodelongeval", "repobench", "execrepobench", "santacoder", "evalplus",
    "bigcodebench", "livecodebench", "canitedit", "zedindustries/zeta", "nextediteval", "nexteditbench", "cruxeval", "classeval",
)  # fmt: skip
_WORDS = frozenset({"mbpp", "safim", "mbppplus", "mbxp", "ds1000"})  # too short to be looked for inside other words
# By content: functions of HumanEval and MBPP whose names nobody else would choose.
_FUNCTIONS = (
    "has_close_elements", "separate_paren_groups", "below_zero", "parse_nested_parens", "filter_by_substring", "parse_music",
    "how_many_times", "find_closest_elements", "filter_integers", "remove_duplicates_and_sort", "count_distinct_characters",
    "sort_third", "triples_sum_to_zero", "car_race_collision", "pairs_sum_to_zero", "is_simple_power", "fruit_distribution",
    "strange_sort_list", "will_it_fly", "smallest_change", "total_match", "is_multiply_prime", "iscube", "hex_key",
    "decimal_to_binary", "numerical_letter_grade", "prime_length", "starts_one_ends", "anti_shuffle", "get_row",
    "sort_array_by_binary", "encode_shift", "words_string", "rounded_avg", "unique_digits", "by_length", "even_odd_palindrome",
    "count_nums", "move_one_ball", "odd_count", "minSubArraySum", "max_fill", "select_words", "get_closest_vowel", "match_parens",
    "add_elements", "get_odd_collatz", "valid_date", "split_words", "is_sorted_twice", "prod_signs", "minPath",
    "sum_squares_of_list", "words_in_sentence", "order_by_points", "specialFilter", "get_max_triples", "bf_planets",
    "sorted_list_sum", "x_or_y", "double_the_difference", "Strongest_Extension", "cycpattern_check", "even_odd_count",
    "int_to_mini_roman", "right_angle_triangle", "find_max_word", "do_algebra", "string_to_md5", "generate_integers_between",
    "similar_elements", "is_not_prime", "heap_queue_largest", "find_char_long", "differ_At_One_Bit_Pos", "count_ways_domino",
    "remove_Occ", "sort_matrix_by_sum", "text_lowercase_underscore", "square_perimeter", "remove_dirty_chars",
    "test_duplicate_chars", "is_woodall", "multiples_of_num", "find_first_duplicate", "maximum_Sum_lists", "max_chain_length",
    "first_repeated_char", "get_ludic",
)  # fmt: skip
# The ordinary names among them would cost us honest files.
_ORDINARY = {"below_zero", "get_row", "by_length", "add_elements", "split_words", "total_match", "hex_key", "valid_date", "match_parens"}
_TELLING = frozenset(_FUNCTIONS) - _ORDINARY
_DEFINED = re.compile(r"\b(?:def|function|func|fn)\s+(\w+)|entry_point\W+(\w+)")
_JOINTS = str.maketrans("", "", " -_")
_WORD = re.compile(r"[a-z]\w+")


def quotes_evaluation_set(path: str, text: str) -> bool:
    """Whether a file names a public evaluation set, in its path or text, or defines one of its functions."""
    plain = f"{path}\n{text}".lower()
    joined = plain.translate(_JOINTS)
    if any(name in joined for name in _NAMES):
        return True
    if any(word in joined for word in _WORDS) and not _WORDS.isdisjoint(_WORD.findall(plain.replace("-", ""))):
        return True
    return any(name in _TELLING for names in _DEFINED.findall(text) for name in names)
