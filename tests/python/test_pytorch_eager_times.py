"""benchmarks/pytorch_eager_times.py, on the CPU: it goes on where it stopped, and says what it did."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import needs

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../benchmarks/pytorch_eager_times.py")  # fmt: skip
TASKS = "1/19,1/95,2/1"


class PytorchEagerTimes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs.need(importlib.util.find_spec("torch"), "torch (Debian: python3-torch)")
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        cls.tasks = os.path.join(cls.folder, "tasks.json")
        ran = cls.script("--kbench", os.environ["KBENCH_PROGRAM"], "--preset", "smoke",
                         "--task", TASKS, "--write-tasks", cls.tasks)  # fmt: skip
        assert ran.returncode == 0, ran.stderr

    @staticmethod
    def script(*arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def times(self, output, dtype, *more):
        return self.script("--tasks", self.tasks, "--device", "cpu", "--dtype", dtype,
                           "--output", os.path.join(self.folder, output), *more)  # fmt: skip

    def read(self, output):
        with open(os.path.join(self.folder, output), encoding="utf-8") as file:
            return json.load(file)

    def test_goes_on_where_the_budget_ended(self):
        self.assertEqual(self.times("a.json", "bf16", "--task", "1/19").returncode, 0)
        first = self.read("a.json")
        self.assertEqual(list(first["tasks"]), ["1/19"])
        ended = self.times("a.json", "bf16", "--budget-seconds", "0")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("2 tasks are left", ended.stderr)
        whole = self.times("a.json", "bf16")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        second = self.read("a.json")
        self.assertEqual((second["dtype"], second["preset"]), ("bf16", "smoke"))
        self.assertEqual(set(second["tasks"]), set(TASKS.split(",")))
        self.assertEqual(second["tasks"]["1/19"], first["tasks"]["1/19"])
        for task in second["tasks"].values():
            self.assertGreater(task["eager_strict_ms"], 0)

    def test_two_dtypes_do_not_share_a_file(self):
        self.assertEqual(self.times("b.json", "f32", "--task", "1/19").returncode, 0)
        other = self.times("b.json", "bf16", "--task", "1/19")
        self.assertEqual(other.returncode, 1)
        self.assertIn("was begun with dtype 'f32', and this is 'bf16'", other.stderr)


if __name__ == "__main__":
    unittest.main()
