"""bash, zsh and fish complete kbench's command line, as somebody who types sees it."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import shutil
import stat
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable

import needs

PROGRAM = os.environ["KBENCH_PROGRAM"]
COMPLETIONS = pathlib.Path(os.environ["KBENCH_COMPLETIONS"])
SECONDS = 60


def words(*line: str) -> list[str]:
    """What kbench says to a shell, without what the words mean."""
    said = subprocess.run([PROGRAM, "complete-words", *line], capture_output=True, text=True,
                          timeout=SECONDS, check=True)
    if said.stderr:
        raise AssertionError(said.stderr)
    return [each.split("\t")[0] for each in said.stdout.splitlines()]


def help_page(*verbs: str) -> str:
    return subprocess.run([PROGRAM, "help", *verbs], capture_output=True, text=True,
                          check=True).stdout


class Program(unittest.TestCase):
    def test_every_flag_of_every_verb(self) -> None:
        verbs = words("")
        self.assertIn("run", verbs)
        commands = [[], *([verb] for verb in verbs),
                    *(["model", verb] for verb in words("model", ""))]
        for before in commands:
            options = re.findall(r"^  (?:-\w,)?(--[^ ,]+)", help_page(*before), re.MULTILINE)
            self.assertCountEqual(words(*before, "--"), options, before)

    def test_words_follow_from_what_stands_before(self) -> None:
        self.assertEqual(words("run", "--preset", "v0."), ["v0.1"])
        self.assertEqual(words("list", "--task", "level1/100"), ["level1/100"])
        self.assertEqual(words("show", "level2/76"), ["level2/76"])
        self.assertEqual(words("task", "che"), ["check"])
        self.assertEqual(words("model", "che"), ["check"])
        self.assertEqual(words("model", "prompt", "--lang"), ["--language"])
        self.assertEqual(words("help", "sho"), ["show"])
        self.assertEqual(words("run", "--tolerance", "kernel"), ["kernelbench"])
        self.assertEqual(words("frobnicate", "--pres"), ["--preset"])

    def test_files_are_left_to_the_shell(self) -> None:
        for line in (["run", ""], ["run", "--output", ""], ["run", "--frobnicate", ""],
                     ["run", "--tolerance", "x"], ["list", "--", "--nothing"]):
            self.assertEqual(words(*line), [], line)
        self.assertEqual(words(), words(""))


class InAFolder(unittest.TestCase):
    """A folder with a candidate, and `kbench`, which notes how it was called."""

    shell = ""

    def setUp(self) -> None:
        if self.shell != "bash":  # which every Debian has
            needs.need(shutil.which(self.shell), f"{self.shell} (Debian: {self.shell})")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "my relu.yaml").touch()
        (self.folder / "mine.yaml").touch()
        (self.folder / "runs").mkdir()
        program = self.folder / "bin" / "kbench"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\n[ "$1" = complete-words ] && exec "$KBENCH_PROGRAM" "$@"\n'
                           "printf '%s\\n' \"$@\" > typed.part && mv typed.part typed\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}",
                            "TERM": "xterm", "PS1": "> ", "HOME": str(self.folder)}

    def asked(self, arguments: list[str]) -> list[str]:
        said = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS,
                              cwd=self.folder, env=self.environment, check=True)
        self.assertEqual(said.stderr, "")
        return said.stdout.splitlines()


class Typed(InAFolder):
    """What a line becomes that is typed at a terminal. Not a test itself."""

    arguments: list[str] = []
    setup = ""

    def setUp(self) -> None:
        super().setUp()
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(self.folder)
            os.execvpe(self.arguments[0], self.arguments, self.environment)
        self.addCleanup(self.end)
        self.screen = ""
        # Echoed with its quotes, printed without.
        os.write(self.terminal, (self.setup + "echo rea''dy\n").encode())
        self.read_until(lambda: re.search(r"[\r\n]ready", self.screen) is not None)

    def end(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.child, 0)

    def read_until(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not done():
            self.assertLess(time.monotonic(), deadline, self.screen)
            if select.select([self.terminal], [], [], 0.02)[0]:
                self.screen += os.read(self.terminal, 65536).decode(errors="replace")

    def typed(self, line: str) -> list[str]:
        """The arguments that kbench got."""
        noted = self.folder / "typed"
        noted.unlink(missing_ok=True)
        os.write(self.terminal, f"kbench {line}\n".encode())
        self.read_until(noted.exists)
        return noted.read_text().splitlines()

    def check_lines(self) -> None:
        for line, arguments in (
                ("devi\t--js\t", ["devices", "--json"]),
                ("run mi\t--pres\tsm\t", ["run", "mine.yaml", "--preset", "smoke"]),
                ("run my\t", ["run", "my relu.yaml"]),
                ("run --dtype b\t./mi\t", ["run", "--dtype", "bf16", "./mine.yaml"]),
                ("show level2/7\t6\t", ["show", "level2/76"]),
                ("frobnicate --zzz x\t", ["frobnicate", "--zzz", "x"])):
            with self.subTest(line):
                # Whether the slash behind a folder stays is the shell's matter.
                self.assertEqual([each.rstrip("/") for each in self.typed(line)], arguments)
        self.assertNotIn("kbench: ", self.screen)


class Bash(Typed):
    shell = "bash"
    arguments = ["bash", "--norc", "--noprofile", "-i"]
    setup = f"source '{COMPLETIONS}/kbench.bash'\n"

    def test_lines_become_what_was_meant(self) -> None:
        self.check_lines()

    def test_the_function_lists_words(self) -> None:
        script = ('source "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _kbench "$1"\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"')

        def listed(*line: str) -> list[str]:
            return self.asked(["bash", "-c", script, f"{COMPLETIONS}/kbench.bash", *line])

        self.assertEqual(listed("kbench", "run", "--dtype", ""), ["f32", "f16", "bf16"])
        self.assertIn("show", listed("kbench", ""))
        self.assertEqual(listed("/no/such/program", "run", "--pre"), [""])


class Zsh(Typed):
    shell = "zsh"
    arguments = ["zsh", "-f", "-i"]
    setup = f"fpath=('{COMPLETIONS}' $fpath); autoload -U compinit; compinit -u -D\n"

    def test_lines_become_what_was_meant(self) -> None:
        self.check_lines()

    def test_words_are_listed_with_what_they_mean(self) -> None:
        os.write(self.terminal, b"kbench show --\t\t")
        self.read_until(lambda: "Print a candidate file to start from" in self.screen)


class Fish(InAFolder):
    shell = "fish"

    def completed(self, line: str) -> list[str]:
        return self.asked(["fish", "--no-config", "-c",
                           f"source '{COMPLETIONS}/kbench.fish'; complete -C '{line}'"])

    def test_fish_says_what_there_is(self) -> None:
        self.assertEqual(self.completed("kbench run --preset v0."), ["v0.1"])
        self.assertIn("mine.yaml", [each.split("\t")[0] for each in self.completed("kbench run m")])
        self.assertIn("show\tOne task as a candidate's author needs it",
                      self.completed("kbench sh"))

    def test_nothing_is_said_where_there_is_no_kbench(self) -> None:
        (self.folder / "bin" / "kbench").unlink()
        self.assertEqual(self.completed("kbench run --pre"), [])


if __name__ == "__main__":
    unittest.main()
