"""Commands that change code at the user's word: moved by the syntax tree, or written by the model and checked."""
