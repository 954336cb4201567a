"""types_with_mypy.py ARGUMENTS: mypy with these, 77 where it is missing."""

import os
import shutil
import sys

import needs

mypy = shutil.which("mypy")
if not needs.has(mypy, "mypy (Debian: mypy)"):
    sys.exit(77)
os.execv(mypy, [mypy, *sys.argv[1:]])
