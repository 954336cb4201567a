"""The Python module against the built library, and a device where there is one."""

import dataclasses
import inspect
import json
import math
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

import kbench
from devices import expect_device
from kbench._library import library
from served import OWN_TASK, RELU

REPOSITORY = Path(__file__).resolve().parents[2]
QUICK = kbench.Options(preset="smoke", plan=kbench.Plan(max_seconds=0.1, min_samples=4))


def relu_in_memory() -> dict[str, str]:
    files = {path.name: path.read_text() for path in RELU.parent.glob("*.glsl")}
    files["relu.comp"] = (RELU.parent / "relu.comp").read_text()
    files["candidate.yaml"] = RELU.read_text()
    return files


def field_names(record: Any) -> set[str]:
    return {each.name for each in dataclasses.fields(record)}


class WithoutADevice(unittest.TestCase):
    def test_versions_agree(self) -> None:
        self.assertEqual(kbench.version(), kbench.__version__)

    def test_tasks(self) -> None:
        self.assertEqual(len(kbench.tasks()), 250)
        (relu,) = kbench.tasks("1/19")
        self.assertEqual((relu.task, relu.name), ("level1/19", "ReLU"))
        with self.assertRaises(kbench.NotFoundError):
            kbench.tasks("9/1")
        self.assertIn("relu", kbench.describe("1/19", "smoke"))
        self.assertIn("kbench: 1", kbench.built_in_candidate("1/19", "smoke"))
        self.assertIsInstance(kbench.facts("1/19", "smoke", {"dim": 65}), dict)
        whole = kbench.facts("1/19", "smoke")["least_bytes"]
        self.assertEqual(kbench.facts("1/19", "smoke", dtype="bf16")["least_bytes"], whole / 2)

    def test_tasks_of_ones_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scale.yaml"
            path.write_text(OWN_TASK)
            (task,) = kbench.tasks(str(path))
        self.assertEqual((task.task, task.name), ("client/scale", "Doubled"))
        self.assertIn("mul_scalar", kbench.describe("client/scale", "smoke"))
        self.assertIn("task: client/scale", kbench.built_in_candidate("client/scale", "smoke"))
        with self.assertRaises(kbench.IoError):
            kbench.tasks("/nowhere/task.yaml")

    def test_errors_are_of_their_kind(self) -> None:
        with self.assertRaises(kbench.InvalidArgumentError) as caught:
            kbench.describe("1/19", "huge")
        self.assertIsInstance(caught.exception, ValueError)
        self.assertEqual(caught.exception.code, "invalid_argument")
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "f32, f16, bf16"):
            kbench.describe("1/19", "smoke", dtype="f64")
        with self.assertRaisesRegex(kbench.ParseError, "dtype.*f32, f16, bf16"):
            kbench.Evaluator(kbench.Options(dtype="f64"))
        with self.assertRaises(LookupError):
            kbench.evaluate("/nowhere.yaml")
        with self.assertRaises(kbench.NotFoundError):
            kbench.evaluate({})
        with self.assertRaises(kbench.NotFoundError):
            kbench.Evaluator(kbench.Options(program="/nowhere/kbench")).evaluate(RELU)
        with self.assertRaises(kbench.ParseError):
            kbench.Evaluator(kbench.Options(rule=kbench.Rule(tolerance="none")))
        with self.assertRaises(ValueError):
            kbench.Evaluator(kbench.Options(plan=kbench.Plan(precision=math.nan)))

    def test_options_are_those_of_the_library(self) -> None:
        maker = runpy.run_path(str(REPOSITORY / "libkbench/python/make_options.py"))
        schema = library().ask("kbench_question_schema", {})
        written = Path(inspect.getfile(kbench.Options)).read_text()
        self.assertEqual(written, maker["text_of"](schema), "run libkbench/python/make_options.py")
        with self.assertRaisesRegex(kbench.ParseError, "no field 'no_such_field'") as caught:
            library().new_evaluator({"no_such_field": 1}, lambda *_: 0)
        known = str(caught.exception).split("it may have ")[1].split(", ")
        self.assertEqual(set(known) - {"check"}, field_names(kbench.Options))

    def test_verdicts(self) -> None:
        verdicts = kbench.verdicts()
        self.assertTrue(verdicts["wrong_values"])
        self.assertFalse(verdicts["harness_error"])

    def test_language_models(self) -> None:
        messages = kbench.prompt("1/19", "smoke")
        self.assertEqual(messages[-1]["role"], "user")
        answer = "```yaml\nkbench: 1\ntask: level1/19\n```\n"
        found = kbench.extract(answer, "1/19")
        self.assertEqual(found.outcome, "candidate")
        self.assertIn("candidate.yaml", found.files)
        again = kbench.prompt(
            "1/19",
            "smoke",
            attempts=[kbench.ShownAttempt(feedback="It lacks a dispatch.", files=found.files)],
        )
        self.assertGreater(len(again), len(messages))
        self.assertIn("It lacks a dispatch.", again[-1]["content"])
        self.assertEqual(kbench.extract("I cannot.", "1/19").outcome, "no_candidate")

    def test_says_what_cannot_be_loaded(self) -> None:
        script = "import kbench\ntry:\n  kbench.tasks()\nexcept kbench.NotFoundError as e:\n  print(e)"
        environment = {**os.environ, "KBENCH_LIBRARY": "/nowhere/libkbench.so"}
        said = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        self.assertEqual(said.stderr, "")
        self.assertIn("/nowhere/libkbench.so", said.stdout)


class OnADevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        expect_device()

    def test_evaluates_a_shipped_candidate(self) -> None:
        stages: list[str] = []
        with kbench.Evaluator(QUICK, on_stage=stages.append) as evaluator:
            result = evaluator.evaluate(RELU)
            self.assertEqual(result.verdict, "passed", result.message)
            self.assertTrue(result.correct)
            self.assertGreater(result.speedup.point, 0)
            self.assertEqual(result.task, "level1/19")
            left_out = {"json", "dtype", "made_for", "library_calls"}  # empty, or of float32
            left_out |= {"roof_gbytes_per_s", "roof_tflops"}  # not measured on a CPU
            left_out |= {"failed_sample", "sanitized", "workloads"}  # it passed; not asked for
            self.assertIsInstance(result.seed, int)
            self.assertEqual(set(result.json), field_names(kbench.Result) - left_out)
            self.assertEqual(set(result.json["speedup"]), field_names(kbench.Interval))
            self.assertIn("sample", stages)

            again = evaluator.evaluate(kbench.Candidate(relu_in_memory(), name="mine/relu.yaml"))
            self.assertEqual(again.verdict, "passed", again.message)
            self.assertEqual((again.set, again.candidate), ("mine", "relu.yaml"))
            self.assertEqual(again.candidate_hash, result.candidate_hash)

            wrong = relu_in_memory()
            wrong["relu.comp"] = wrong["relu.comp"].replace("max", "min")
            failed = evaluator.evaluate(wrong)
            self.assertEqual(failed.verdict, "wrong_values")
            self.assertIn("wrong_values", kbench.feedback(failed, wrong))
            refused = evaluator.check({**wrong, "relu.comp": "void main() { nonsense; }"})
            self.assertEqual(refused.verdict, "compile_error")
            self.assertEqual(refused.diagnostics[0].severity, "error")
        with self.assertRaises(kbench.InvalidArgumentError):
            evaluator.evaluate(RELU)

        board = kbench.leaderboard([result, again], thresholds=[0, 1])
        self.assertEqual({row["set"] for row in board.rows}, {"simple", "mine"})
        self.assertIn("mine", str(board))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.jsonl"
            path.write_text(json.dumps(result.json) + "\n")
            (row,) = kbench.leaderboard(files=[str(path)], tasks="1/19,1/23").rows
            self.assertEqual((row["correct"], row["tasks"]), (1, 2))
            self.assertEqual((row["certified"]["tasks"], row["untried"]), (1, 0))
        other = {**result.json, "variables": {"batch_size": 1, "dim": 3}, "certificate": "untried"}
        (row,) = kbench.leaderboard([other]).rows
        self.assertEqual((row["correct"], row["certified"]["tasks"], row["untried"]), (1, 0, 1))
        self.assertEqual(kbench.Result.from_json(result.json), result)

    def test_evaluates_in_float16(self) -> None:
        steps = kbench.built_in_candidate("1/19", "smoke", dtype="f16")
        options = dataclasses.replace(QUICK, dtype="f16")
        result = kbench.evaluate({"candidate.yaml": steps}, options)
        self.assertEqual((result.verdict, result.dtype), ("passed", "f16"), result.message)
        self.assertEqual(kbench.Result.from_json(result.json), result)
        whole = {name: value for name, value in result.json.items() if name != "dtype"}
        self.assertEqual(kbench.Result.from_json(whole).dtype, "f32")
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "2 dtypes"):
            kbench.leaderboard([result.json, whole])

    def test_labels_of_a_candidate_for_a_task_of_ones_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scale.yaml"
            path.write_text(OWN_TASK)
            kbench.tasks(str(path))
        candidate = kbench.built_in_candidate("client/scale", "smoke")
        result = kbench.evaluate({"candidate.yaml": candidate}, QUICK)
        self.assertTrue(result.correct, result.message)
        self.assertEqual(result.task, "client/scale")
        self.assertEqual((result.own_kernels, result.library_calls), (0.0, ("mul_scalar",)))
        self.assertEqual(result.made_for, ())
        self.assertIsInstance(result.holds_at, kbench.HoldsAt)
        alone = dataclasses.replace(QUICK, rule=kbench.Rule(other_sizes="none"))
        self.assertIsNone(kbench.evaluate({"candidate.yaml": candidate}, alone).holds_at)
        sized = dataclasses.replace(QUICK, rule=kbench.Rule(other_sizes="none", workloads=2))
        timed = kbench.evaluate({"candidate.yaml": candidate}, sized)
        assert timed.workloads is not None
        self.assertEqual(len(timed.workloads.each), 2)
        self.assertLessEqual(timed.workloads.least.point, timed.workloads.geomean.point)
        (row,) = kbench.leaderboard([timed], speedup_of="least").rows
        self.assertAlmostEqual(row["geomean_speedup"], timed.workloads.least.point)

    def test_is_cancelled_from_another_thread(self) -> None:
        stop = kbench.Stop()
        started = threading.Event()
        options = dataclasses.replace(
            QUICK, plan=kbench.Plan(max_seconds=60, precision=1e-9, max_samples=10**6)
        )

        def on_progress(progress: kbench.Progress) -> None:
            self.assertLessEqual(progress.speedup.low, progress.speedup.high)
            started.set()

        with kbench.Evaluator(options, on_progress=on_progress) as evaluator:

            def stopper() -> None:
                started.wait(60)
                stop.request()

            thread = threading.Thread(target=stopper)
            thread.start()
            begin = time.monotonic()
            with self.assertRaises(kbench.Cancelled):
                evaluator.evaluate(RELU, stop)
            thread.join()
            self.assertLess(time.monotonic() - begin, 50)
            self.assertTrue(stop.requested)
            self.assertEqual(evaluator.check(RELU).verdict, "compiles")

    def test_ctrl_c_ends_an_evaluation_every_time(self) -> None:
        script = """if True:
            import sys
            import kbench

            def say(word):
                print(word, flush=True)

            options = kbench.Options(
                preset="smoke",
                plan=kbench.Plan(max_seconds=20, precision=1e-9, max_samples=10**6),
            )
            with kbench.Evaluator(options, say, lambda progress: say("progress")) as evaluator:
                for _ in range(8):
                    try:
                        say(evaluator.evaluate(sys.argv[1]).verdict)
                    except KeyboardInterrupt:
                        say("interrupted")
        """
        with subprocess.Popen(
            [sys.executable, "-c", script, RELU],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            for at in ("load", "compile", "warm-up", "sample") + 4 * ("progress",):
                for line in process.stdout:
                    if line == at + "\n":
                        break
                process.send_signal(signal.SIGINT)
                said = [line for line in iter(process.stdout.readline, "interrupted\n") if line]
                self.assertNotIn("passed\n", said, at)
            self.assertEqual(process.stderr.read(), "")
        self.assertEqual(process.returncode, 0)

    def test_what_a_callback_raises_arrives(self) -> None:
        class Mine(Exception):
            pass

        def on_stage(stage: str) -> None:
            raise Mine(stage)

        with kbench.Evaluator(QUICK, on_stage=on_stage) as evaluator:
            with self.assertRaises(Mine):
                evaluator.evaluate(RELU)

    def test_threads_with_an_evaluator_each(self) -> None:
        verdicts: list[str] = []

        def judge() -> None:
            with kbench.Evaluator(QUICK) as evaluator:
                verdicts.append(evaluator.evaluate(RELU).verdict)

        threads = [threading.Thread(target=judge) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(verdicts, ["passed", "passed"])


if __name__ == "__main__":
    unittest.main()
