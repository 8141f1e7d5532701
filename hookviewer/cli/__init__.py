"""The command line: the window, and the same work without one.

Exit status 0; 1 with one sentence on standard error that the user can act on; 2 for wrong usage; 130 after
Ctrl+C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from hookviewer.cli.arguments import parse
from hookviewer.errors import HookViewerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; wrong usage ends the program with status 2."""
    chosen = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(chosen.run(chosen))
    except HookViewerError as error:
        print(f"hookviewer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the reader went away (`hookviewer tree … | head`); the interpreter must not complain when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
