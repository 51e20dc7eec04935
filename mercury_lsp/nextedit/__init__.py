"""What is to be changed next, and where, after what was changed so far. The ways to tell it from the syntax tree know no model."""
