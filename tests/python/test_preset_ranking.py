"""benchmarks/preset_ranking.py without a device: its mutants, its statistics, what it reports."""

import contextlib
import importlib.util
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../benchmarks/preset_ranking.py")  # fmt: skip
spec = importlib.util.spec_from_file_location("preset_ranking", SCRIPT)
pr = importlib.util.module_from_spec(spec)
sys.modules["preset_ranking"] = pr
spec.loader.exec_module(pr)


def all_shipped():
    folder = os.path.join(pr.ROOT, "harness", "candidates")
    return [each for name in pr.SETS for each in pr.shipped(os.path.join(folder, name), name)]


def result(point, verdict="passed", task="level1/1", spread=0.01):
    speedup = {"low": point - spread, "point": point, "high": point + spread}
    return {"verdict": verdict, "task": task, "speedup": speedup, "wall_s": 0.2,
            "stage_s": {"sample": 0.1}}  # fmt: skip


class Statistics(unittest.TestCase):
    def test_equal_values_share_the_mean_of_their_ranks(self):
        self.assertEqual(pr.ranks([3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0])
        self.assertEqual(pr.ranks([5.0, 5.0, 5.0]), [2.0, 2.0, 2.0])

    def test_spearman(self):
        self.assertEqual(pr.spearman([1, 2, 3], [10, 100, 1000]), 1)
        self.assertEqual(pr.spearman([1, 2, 3], [3, 2, 1]), -1)
        # 1 - 6 (1 + 1 + 1 + 1) / (4 * 15), without ties.
        self.assertAlmostEqual(pr.spearman([1, 2, 3, 4], [2, 1, 4, 3]), 0.6)
        # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5).
        self.assertAlmostEqual(pr.spearman([1, 2, 2, 3], [1, 2, 3, 4]), (4.5 / 5) ** 0.5)
        self.assertIsNone(pr.spearman([1, 1, 1], [1, 2, 3]))
        self.assertIsNone(pr.spearman([], []))
        with self.assertRaises(ValueError):
            pr.spearman([1], [1, 2])

    def test_percentile(self):
        values = list(range(1, 11))
        self.assertEqual(pr.percentile(values, 0.9), 9)
        self.assertEqual(pr.percentile(values, 0.5), 5)
        self.assertEqual(pr.percentile([7.0], 0.9), 7.0)

    def test_an_open_interval_is_apart_from_what_is_below_it_alone(self):
        few = {"speedup": {"low": 2, "point": 3, "high": None}}
        self.assertEqual(pr.apart(few, result(1)), 1)
        self.assertEqual(pr.apart(result(1), few), -1)
        self.assertEqual(pr.apart(few, result(9)), 0)

    def test_what_failed_at_one_preset_is_left_out(self):
        small = {"a": result(1), "b": result(2), "c": result(3), "d": result(4, "wrong_result"),
                 "e": result(5)}  # fmt: skip
        large = {"a": result(1.1), "b": result(3.1), "c": result(2.1), "d": result(4),
                 "e": result(9, "timeout")}  # fmt: skip
        found = pr.ranking(small, large)
        self.assertEqual(found.candidates, 3)
        self.assertAlmostEqual(found.overall, 0.5)
        self.assertEqual(list(found.by_task), ["level1/1"])
        self.assertEqual((found.pairs, found.reversed_pairs), (3, 1))

    def test_pairs_of_different_tasks_and_near_ones_do_not_count(self):
        small = {"a": result(1), "b": result(2), "c": result(3, task="level1/2")}
        large = {"a": result(1), "b": result(1.01), "c": result(3, task="level1/2")}
        found = pr.ranking(small, large)
        self.assertEqual((found.pairs, found.by_task), (0, {}))


class Mutants(unittest.TestCase):
    def test_a_candidate_has_the_files_it_names_and_includes(self):
        relu = next(each for each in all_shipped() if each.name == "fused/level1_019_relu.yaml")
        self.assertEqual(set(relu.files), {"candidate.yaml", "elementwise.comp", "address.glsl",
                                           "common.glsl"})  # fmt: skip
        self.assertEqual(relu.task, "level1/19")

    def test_there_are_as_many_as_asked_for_spread_evenly_and_all_different(self):
        originals = all_shipped()
        made = pr.mutants(originals, 200, 1)
        self.assertEqual(len(made), 200)
        for original in originals:
            stem = original.name[: -len(".yaml")] + "~"
            own = [each for each in made if each.name.startswith(stem)]
            self.assertIn(len(own), (4, 5))
            texts = [json.dumps(each.files, sort_keys=True) for each in own + [original]]
            self.assertEqual(len(set(texts)), len(texts))
            for each in own:
                self.assertEqual(each.task, original.task)
                self.assertEqual(set(each.files), set(original.files))
                self.assertTrue(each.changes)

    def test_a_seed_gives_the_same_ones(self):
        originals = all_shipped()
        self.assertEqual(pr.mutants(originals, 60, 3), pr.mutants(originals, 60, 3))
        self.assertNotEqual(pr.mutants(originals, 60, 3), pr.mutants(originals, 60, 4))

    def test_every_mutation_changes_some_candidate(self):
        originals = all_shipped()
        for mutation in pr.MUTATIONS:
            with self.subTest(mutation.__name__):
                draw = random.Random(5)
                changed = [mutation(each.files, draw) for each in originals]
                found = [each for each in changed if each is not None]
                self.assertGreater(len(found), 0)
                for mutated, original in zip(changed, originals):
                    if mutated is not None:
                        self.assertNotEqual(mutated[1], original.files)

    def test_workgroups_and_the_grid_change_together(self):
        files = {"common.glsl": "#define THREADS 256\n", "a.comp": "THREADS",
                 "candidate.yaml": 'groups: ["ceil_div(n, 256)"]'}  # fmt: skip
        change, mutated = pr.other_threads(files, random.Random(1))
        threads = change.split()[0]
        self.assertIn(f"THREADS {threads}", mutated["common.glsl"])
        self.assertIn(f"ceil_div(n, {threads})", mutated["candidate.yaml"])

    def test_a_repeated_step_stands_behind_itself(self):
        manifest = "a: 1\ndispatch:\n  - kernel: x\n    groups: [1]\n"
        draw = random.Random(1)
        made = [pr.repeated({"candidate.yaml": manifest}, draw) for _ in range(20)]
        self.assertIn(None, made)
        _, mutated = next(each for each in made if each is not None)
        step = "  - kernel: x\n    groups: [1]\n"
        text = mutated["candidate.yaml"]
        self.assertIn(text.count(step), (2, 3))
        self.assertEqual(text, "a: 1\ndispatch:\n" + step * text.count(step))


class Reports(unittest.TestCase):
    def report(self, train, large):
        with tempfile.TemporaryDirectory() as folder:
            for preset, results in (("train", train), ("v0.1", large)):
                judged = pr.Judged(results, 2.0, [0.1] * len(results))
                pr.write(pr.path_of(folder, preset), judged)
            run = subprocess.run([sys.executable, SCRIPT, "--read", folder], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        return run.returncode, run.stdout

    def test_says_how_the_presets_agree(self):
        train = {"fused/a.yaml": result(1), "fused/a~1.yaml": result(2),
                 "fused/a~2.yaml": result(3)}  # fmt: skip
        large = {"fused/a.yaml": result(1), "fused/a~1.yaml": result(3),
                 "fused/a~2.yaml": result(2)}  # fmt: skip
        code, said = self.report(train, large)
        self.assertEqual(code, 0, said)
        self.assertIn("train against v0.1: 3 candidates passed at both; Spearman 0.500", said)
        self.assertIn("1 of 3 pairs of a task that v0.1 tells apart (33.3%)", said)
        self.assertIn("train, all: 3 in 2.0 s, 90 a minute; line to answer median 0.100 s", said)

    def test_a_shipped_candidate_that_fails_is_named(self):
        wrong = {"fused/a.yaml": result(1, "wrong_result"), "fused/a~1.yaml": result(1, "timeout")}
        code, said = self.report(wrong, {"fused/a.yaml": result(1), "fused/a~1.yaml": result(1)})
        self.assertEqual(code, 1)
        self.assertIn("train: fused/a.yaml: wrong_result", said)
        self.assertNotIn("a~1.yaml: timeout", said)

    def test_bad_arguments_are_named(self):
        for arguments in ([], ["--read", "x", "--output", "y"], ["--read", "x", "--presets", "v0"]):
            with self.subTest(arguments), contextlib.redirect_stderr(io.StringIO()):
                run = subprocess.run([sys.executable, SCRIPT, *arguments], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)  # fmt: skip
                self.assertEqual(run.returncode, 2)
                self.assertIn("needed", run.stdout)


if __name__ == "__main__":
    unittest.main()
