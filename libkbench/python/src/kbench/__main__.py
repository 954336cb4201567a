"""`python -m kbench`, and the `kbench` of a wheel with the program inside: runs the program."""

from __future__ import annotations

import os
import shutil
import sys
from typing import NoReturn

from ._library import BUNDLED


def main() -> NoReturn:
    program = BUNDLED / "bin" / "kbench"
    found = str(program) if program.exists() else shutil.which("kbench")
    if found is None:
        sys.exit("kbench: no kbench program on PATH; install kbench")
    try:
        os.execv(found, ["kbench", *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"kbench: {found} cannot be run: {problem.strerror}")


if __name__ == "__main__":
    main()
