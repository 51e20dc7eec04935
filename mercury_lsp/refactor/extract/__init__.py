"""Moves selected code to a function or variable of its own, by the syntax tree alone."""
