"""`python -m hookviewer` is the same as `hookviewer`."""

from __future__ import annotations

import sys

from hookviewer.cli import main

if __name__ == "__main__":
    sys.exit(main())
