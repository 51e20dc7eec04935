"""A language server whose completions come from a diffusion language model in the same process. Speaks LSP, knows no tensor."""

__version__ = "0.1.0"
