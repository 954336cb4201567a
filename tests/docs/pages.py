"""Reads the pages of the documentation: fenced blocks, prose, links."""

import fnmatch
import os
import re
import shutil
import subprocess
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Block(NamedTuple):
    """A fenced block."""

    page: str  # "docs/tutorial.md"
    line: int  # of its first line
    language: str  # behind the fence, or empty
    name: str  # from a line "`name`:" just before the fence, or empty
    text: str


def pages():
    """The README and all pages below docs/, as paths from the root."""
    found = ["README.md"]
    for folder, _, files in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files if f.endswith(".md")]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def split(page):
    """The page's lines outside of fenced blocks as (number, line), and its blocks."""
    prose, blocks, fence = [], [], None
    before = ""
    for number, line in enumerate(read(page).split("\n"), 1):
        mark = re.match(r"( *)(`{3,})([a-z]*)$", line)
        if fence is None and mark:
            named = re.match(r"`([\w/.]+)`:$", before.strip())
            fence, first, body = mark, number + 1, []
            name = named[1] if named else ""
        elif fence is not None and line.strip() == fence[2]:
            text = "\n".join(b[len(fence[1]):] for b in body) + "\n"
            blocks.append(Block(page, first, fence[3], name, text))
            fence = None
        elif fence is not None:
            body.append(line)
        else:
            prose.append((number, line))
            before = line or before
    return prose, blocks


def commands():
    """Each command of kbench's and kbench-dev's in a fenced block, as (page, line, command), with
    "kbench" for "./dev run" and for a path to the program. Comments are cut off, continued lines joined."""
    found = []
    for page in pages():
        for block in split(page)[1]:
            if block.language:
                continue
            text = re.sub(r"\\\n *", "", block.text)
            for line in text.split("\n"):
                line = re.sub(r"(^|\s)#\s.*", "", line).strip()
                line = re.sub(r"^(\$ )?(\./dev run\b|kbench(?= ))", "kbench", line)
                if line.startswith(("kbench ", "kbench-dev ")) and not line.startswith("kbench runner-process"):
                    found.append((page, block.line, line))
    return found


def tracked(*patterns):
    """Paths in the source tree that git knows, or where there is no git, that are there."""
    if shutil.which("git"):
        ran = subprocess.run(["git", "-C", ROOT, "ls-files", *patterns], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)  # fmt: skip
        if ran.returncode == 0 and ran.stdout:
            return ran.stdout.split("\n")[:-1]
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", ".git")]
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return [path for path in found
            if not patterns or any(fnmatch.fnmatch(path, each) for each in patterns)]
