"""The command line: ``python -m zwang run slung_load``."""
from __future__ import annotations

import sys

from . import _core


def main() -> None:
    sys.stdout.flush()
    sys.exit(_core.command_line(["zwang", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
