"""`python -m mercury_lsp` is `mercury-lsp`."""

import sys

from mercury_lsp.cli import main

sys.exit(main())
