"""benchmarks/compare_reference.py refuses to compare nothing. Needs no PyTorch: both
benchmarks are small programs that print fixed results."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../benchmarks/compare_reference.py")  # fmt: skip
REFERENCE = {"benchmarks": [{"name": "reference/level1/1_Product", "median_ms": 2.0}]}


def program(path, printed):
    """Writes a program that prints `printed` as JSON."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f"#!{sys.executable}\nprint({json.dumps(json.dumps(printed))})\n")
    os.chmod(path, 0o755)


class CompareReference(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.kernelbench = os.path.join(self.folder, "checkout")
        program(os.path.join(self.folder, "benchmarks/reference_benchmark"), REFERENCE)

    def compare(self, pytorch):
        """Runs the script; `pytorch` is what PyTorch's side reports."""
        program(os.path.join(self.folder, "python"), {"torch": "1.13.1", "threads": 2, **pytorch})
        return subprocess.run(
            [sys.executable, SCRIPT, self.folder, "--kernelbench", self.kernelbench, "--rounds=1",
             "--python", os.path.join(self.folder, "python")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip

    def make_checkout(self):
        path = os.path.join(self.kernelbench, "KernelBench/level1/1_Product.py")
        os.makedirs(os.path.dirname(path))
        open(path, "w").close()

    def test_refuses_a_folder_without_kernelbench(self):
        ran = self.compare({"ms": {"level1/1": 4.0}, "failed": {}})
        self.assertEqual(ran.returncode, 2)
        self.assertIn(f"no checkout of KernelBench at '{self.kernelbench}'", ran.stderr)

    def test_refuses_where_pytorch_ran_no_task(self):
        self.make_checkout()
        ran = self.compare({"ms": {}, "failed": {"level1/1": "ImportError: no einops"}})
        self.assertEqual(ran.returncode, 2)
        self.assertIn("nothing to compare: PyTorch ran none: ImportError: no einops", ran.stderr)

    def test_compares_what_both_have(self):
        self.make_checkout()
        ran = self.compare({"ms": {"level1/1": 4.0}, "failed": {}})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("| 1/1 Product | 4.000 | 2.000 | 2.00 |", ran.stdout)


if __name__ == "__main__":
    unittest.main()
