"""What tests use that a bare machine lacks (docs/development.md)."""

import unittest


def has(present: object, what: str) -> bool:
    """Says that a test uses this, "zsh (Debian: zsh)", or needs it where it is not there: in a line
    of its own, which `./dev test` reads."""
    print(f"\n{'uses' if present else 'needs'} {what}", flush=True)
    return bool(present)


def need(present: object, what: str) -> None:
    """Skips what needs it, where it is not there."""
    if not has(present, what):
        raise unittest.SkipTest(f"needs {what}")
