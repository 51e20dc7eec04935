"""Measurements, one file a question. Not part of what is installed: run from the repository with `python -m benchmarks.bench_…`."""
