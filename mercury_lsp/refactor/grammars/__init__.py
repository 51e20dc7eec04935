"""What each language's syntax tree says of names and of control flow."""
