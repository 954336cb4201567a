"""The man pages say what --help says, and groff has nothing against them."""

from __future__ import annotations

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import needs

PROGRAM = os.environ["KBENCH_PROGRAM"]
PAGES = pathlib.Path(os.environ["KBENCH_MAN_PAGES"])


def said(*arguments: str) -> str:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          check=True).stdout


def verbs() -> list[str]:
    """"run", "model prompt"."""

    def of(*command: str) -> list[str]:
        return [line.split("\t")[0] for line in said("complete-words", *command, "").splitlines()]

    return [*of(), *(f"model {verb}" for verb in of("model"))]


def page(verb: str) -> str:
    name = f"kbench-{verb.replace(' ', '-')}" if verb else "kbench"
    return gzip.decompress((PAGES / f"{name}.1.gz").read_bytes()).decode()


def groff(text: str, *options: str) -> tuple[str, str]:
    done = subprocess.run(["groff", "-man", *options], input=text, capture_output=True, text=True,
                          check=True)
    return done.stdout, done.stderr


def squeezed(text: str) -> str:
    """Without what lines are broken at, and without the marks of code."""
    return re.sub(r"[\s`]+", "", text)


class ManPages(unittest.TestCase):
    def setUp(self) -> None:
        needs.need(shutil.which("groff"), "groff (Debian: groff-base)")

    def test_there_is_one_for_every_verb(self) -> None:
        self.assertEqual(sorted(path.name for path in PAGES.iterdir()),
                         sorted(["kbench.1.gz", *(f"kbench-{verb.replace(' ', '-')}.1.gz" for verb in verbs())]))

    def test_groff_warns_of_nothing(self) -> None:
        for verb in ["", *verbs()]:
            with self.subTest(verb):
                self.assertEqual(groff(page(verb), "-ww", "-z"), ("", ""))

    def test_everything_on_the_help_page_is_in_them(self) -> None:
        for verb in ["", *verbs()]:
            shown, _ = groff(page(verb), "-Tascii", "-P-cbou")
            text = squeezed(shown)
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES",
                            "EXIT STATUS", "SEE ALSO"):
                self.assertRegex(shown, f"(?m)^{heading}$", verb)
            sections = said("help", *verb.split()).split("\n\n")
            for section in sections:
                # An option's name, type and default, and behind two blanks what it is; a verb.
                for name, meaning in re.findall(r"^  (\S.*?)(?:  +|\n +)(\S.*(?:\n {30}.*)*)",
                                                section, re.MULTILINE):
                    if name.startswith("kbench "):
                        continue
                    own_verb = verb in ("", "model") and not name.startswith("-")
                    called = f"kbench-{verb + '-' if verb else ''}{name}(1)" if own_verb else name
                    self.assertIn(squeezed(called), text, f"{verb}: {name}")
                    self.assertIn(squeezed(meaning.rstrip(".")), text, f"{verb}: {name}")
            for example in re.findall(r"^  (kbench .*)$", sections[-1], re.MULTILINE):
                self.assertIn(squeezed(example), text, verb)

    def test_they_have_no_date_but_the_one_that_was_asked_for(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for epoch, date in (("1700000000", "2023-11-14"), ("", ""), ("today", "")):
                subprocess.run([PROGRAM, "help", "--man", folder], check=True,
                               env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
                heading = (pathlib.Path(folder) / "kbench-run.1").read_text().splitlines()[0]
                self.assertTrue(heading.startswith(f'.TH kbench\\-run 1 "{date}" '), heading)


if __name__ == "__main__":
    unittest.main()
