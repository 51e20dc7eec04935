"""Commands whose result the model writes, and the checks that it has to pass."""
