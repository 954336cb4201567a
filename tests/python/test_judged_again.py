"""benchmarks/judged_again.py on a few made-up results: what it counts, and what it leaves out."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../benchmarks/judged_again.py")  # fmt: skip


def file_of(problem):
    return f"level_2_problem_{problem}_sample_0_kernel.py"


def result(problem, verdict="passed", baseline="eager", low=0.5, point=0.6, **more):
    return {"set": "one", "candidate": file_of(problem), "task": f"level2/{problem}",
            "verdict": verdict, "baseline": baseline, "certificate": "precision", "message": "",
            "speedup": {"low": low, "point": point, "high": None}, **more}  # fmt: skip


class JudgedAgain(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def judged(self, said, results, *arguments, torn=""):
        """The tables' rows as lists of cells, by title, and the whole text."""
        os.makedirs(os.path.join(self.folder, "one"), exist_ok=True)
        path = os.path.join(self.folder, "one", "said.json")
        with open(path, "w") as file:
            json.dump({file_of(problem): each for problem, each in said.items()}, file)
        lines = os.path.join(self.folder, "results.jsonl")
        with open(lines, "w") as file:
            file.writelines(json.dumps(each) + "\n" for each in results)
            file.write(torn)
        ran = subprocess.run([sys.executable, "-W", "error", SCRIPT, lines, "--said", path, *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.code, self.error = ran.returncode, ran.stderr
        tables, title = {}, None
        for line in ran.stdout.splitlines():
            if line.startswith("## "):
                title = line[3:]
            elif line.startswith("| ") and not line.startswith(("| set", "| ---")):
                tables.setdefault(title, []).append([cell.strip() for cell in line[2:-2].split(" | ")])
        return tables, ran.stdout

    def test_verdicts_beside_what_kernelbench_said(self):
        said = {1: {"correct": True}, 2: {"correct": True}, 3: {"correct": False}, 4: {"correct": None},
                5: {"correct": None, "claimed": True}}  # fmt: skip
        tables, _ = self.judged(said, [result(1), result(2, "wrong_values"), result(3),
                                       result(4, "crashed"), result(5, "low_precision")])  # fmt: skip
        self.assertEqual((self.code, self.error), (0, ""))
        self.assertEqual(tables["Verdicts"], [[
            "one", "5", "2: 67% [21, 94] of 3", "2: 40% [12, 77]", "1: 20% [4, 62]", "1: 20% [4, 62]",
            "1 crashed"]])  # fmt: skip
        cross = tables["KernelBench's word and kbench's verdict"]
        self.assertEqual([row[:4] for row in cross],
                         [["one", "correct", "2", "1: 50% [9, 91]"],
                          ["one", "claimed correct", "1", "0: 0% [0, 79]"],
                          ["one", "incorrect", "1", "1: 100% [21, 100]"],
                          ["one", "not known", "1", "0: 0% [0, 79]"]])  # fmt: skip

    def test_what_passed_by_certificate_algebra_and_own_kernel(self):
        said = {14: {"own_kernel": False}, 2: {"uses": ["cuda", "stream"]}, 80: {"uses": ["torch_ops"]},
                4: {}}  # fmt: skip
        results = [result(14, certificate="values"), result(2), result(80, certificate="trivial"),
                   result(4, certificate="none")]  # fmt: skip
        tables, _ = self.judged(said, results)
        one = "1: 25% [5, 70]"
        self.assertEqual(tables["What passed"],
                         [["one", "4", one, one, one, one, one, "2: 67% [21, 94]"]])  # fmt: skip

    def test_faster_than_each_opponent(self):
        results = [result(1, low=1.1, point=1.2), result(2, low=0.9, point=1.1),
                   result(80, low=900, point=1000, certificate="trivial"),
                   result(1, baseline="best", low=0.9, point=0.95, opponent_finding="wrong"),
                   result(2, "timeout", baseline="best"),
                   result(80, baseline="best", low=1.5, point=None, certificate="trivial")]  # fmt: skip
        tables, text = self.judged({1: {}, 2: {}, 80: {}}, results)
        # What fails against one opponent has not passed: it is faster than none.
        self.assertEqual(tables["Faster than"],
                         [["one", "eager", "2", "2: 100% [34, 100]", "2: 100% [34, 100]", "1", "0"],
                          ["one", "best", "2", "0: 0% [0, 66]", "1: 50% [9, 91]", "1", "1"]])  # fmt: skip
        self.assertIn("one: 1 passed against one opponent and not against another", text)

    def test_the_last_result_counts_and_a_torn_line_does_not(self):
        tables, _ = self.judged({1: {"correct": True}}, [result(1, "crashed"), result(1)],
                                torn='{"set": "one"')  # fmt: skip
        self.assertEqual(tables["Verdicts"][0][3], "1: 100% [21, 100]")

    def test_what_says_nothing_of_the_candidate_is_told_apart(self):
        said = {1: {}, 2: {}, 3: {"runs": False}, 4: {}, 5: {}}
        results = [result(1), result(2, "harness_error"), result(3, "compile_error"),
                   result(4, "does_not_fit"), result(4, baseline="torch"), result(9)]  # fmt: skip
        tables, text = self.judged(said, results)
        self.assertEqual(tables["Verdicts"][0][1:4], ["2", "-", "2: 100% [34, 100]"])
        for note in ("1 harness_error", "1 needs other packages", "1 no result",
                     "1 results are of no file"):  # fmt: skip
            self.assertIn(note, text)

    def test_lists_disagreements(self):
        said = {1: {"correct": True, "status": "correct"}, 2: {"correct": False}, 3: {"correct": True},
                4: {"correct": None}}  # fmt: skip
        results = [result(1, "wrong_values", message="3|4"), result(2), result(3), result(4)]
        tables, _ = self.judged(said, results, "--list")
        self.assertEqual([row[1:5] for row in tables["Where they disagree"]],
                         [["level2/1", file_of(1), "correct", "wrong_values"],
                          ["level2/2", file_of(2), "incorrect", "passed"]])  # fmt: skip
        self.assertEqual(tables["Where they disagree"][0][6], "3\\|4")

    def test_refuses_where_no_result_is_of_the_sets(self):
        self.judged({1: {}}, [dict(result(1), set="another")])
        self.assertEqual(self.code, 1)
        self.assertIn("no result is of a file of these sets", self.error)


if __name__ == "__main__":
    unittest.main()
