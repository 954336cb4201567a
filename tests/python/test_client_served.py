"""kbench.Client against `kbench serve --http` on the CPU device."""

import dataclasses
import io
import os
import re
import signal
import tempfile
import threading
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import kbench
from devices import expect_device
from served import CANDIDATES, DOUBLED, OWN_TASK, QUICK, RELU, Served

TOKEN = "a-token-for-the-tests"
LONG = kbench.Options(preset="smoke", plan=kbench.Plan(max_seconds=100, precision=0))


def steps(value: float) -> dict[str, str]:
    """ReLU of built-in operators; right for 0."""
    text = kbench.built_in_candidate("1/19", "smoke")
    return {"candidate.yaml": text if value == 0 else text.replace("op: relu", "op: tanh")}


class OnAServer(unittest.TestCase):
    served: Served

    @classmethod
    def setUpClass(cls) -> None:
        expect_device("cpu")
        cls.served = Served(token=TOKEN)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.served.end()

    def client(self, options: kbench.Options = QUICK) -> kbench.Client:
        client = kbench.Client(self.served.url, TOKEN, options)
        self.addCleanup(client.close)
        return client

    def test_judges_as_an_evaluator_does(self) -> None:
        client = self.client()
        result = client.evaluate(RELU)
        with kbench.Evaluator(QUICK) as evaluator:
            here = evaluator.evaluate(RELU)
        same = ("verdict", "set", "candidate", "candidate_hash", "task", "variables", "device")
        for name in same:
            self.assertEqual(getattr(result, name), getattr(here, name), name)
        self.assertEqual(result.verdict, "passed", result.message)
        right = kbench.read_candidate(RELU)
        self.assertEqual((right.manifest, right.name), (RELU.name, f"simple/{RELU.name}"))

        def changed(old: str, new: str) -> kbench.Candidate:
            files = dict(right.files)
            files["relu.comp"] = str(files["relu.comp"]).replace(old, new)
            return dataclasses.replace(right, files=files)

        self.assertEqual(client.evaluate(changed("max", "min")).verdict, "wrong_values")
        self.assertEqual(client.check(RELU).verdict, "compiles")
        refused = client.check(changed("max", "nonsense"))
        self.assertEqual(refused.verdict, "compile_error")
        self.assertEqual(refused.diagnostics[0].severity, "error")

    def test_sends_all_files_of_shipped_candidates(self) -> None:
        paths = sorted((CANDIDATES / "fused").glob("*.yaml"))[::4]
        with kbench.Evaluator(QUICK) as evaluator:
            here = [evaluator.check(path).candidate_hash for path in paths]
        there = dict(self.client().evaluate_many(paths, check=True))
        self.assertEqual([there[i].verdict for i in range(len(paths))], ["compiles"] * len(paths))
        self.assertEqual([there[i].candidate_hash for i in range(len(paths))], here)

    def test_cancels_what_runs_and_what_waits(self) -> None:
        client = self.client(LONG)
        running, waiting = client.submit(steps(0)), client.submit(steps(0))
        stop = kbench.Stop()
        threading.Timer(2, stop.request).start()
        with self.assertRaises(kbench.Cancelled):
            client.evaluate(steps(0), stop)
        waiting.cancel()
        running.cancel()
        for each in (running, waiting):
            with self.assertRaises(kbench.Cancelled):
                each.result(30)
        self.assertEqual(self.client().evaluate(steps(0)).verdict, "passed")

    def test_a_task_of_ones_own(self) -> None:
        client = self.client()
        result = client.evaluate({"candidate.yaml": DOUBLED}, task_file=OWN_TASK)
        self.assertEqual((result.verdict, result.task), ("passed", "client/scale"), result.message)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "doubled.yaml"
            path.write_text(DOUBLED)
            task = Path(folder) / "scale.yaml"
            task.write_text(OWN_TASK)
            kbench.tasks(str(task))
            self.assertEqual(client.check(path).verdict, "compiles")

    def test_what_the_server_refuses(self) -> None:
        wrong = kbench.Client(self.served.url, "another-token-of-the-tests", QUICK)
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "HTTP 401.*token"):
            wrong.evaluate(steps(0))
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "huge"):
            self.client(kbench.Options(preset="huge")).evaluate(steps(0))
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "no device 'none'"):
            self.client(kbench.Options(device="none")).evaluate(steps(0))
        with self.assertRaises(kbench.InvalidArgumentError):
            self.client().evaluate({})

    def test_the_program_of_the_documentation(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "embedding.md").read_text()
        (program,) = re.findall(r"^```python\n(with kbench.Client.*?)^```$", page, re.M | re.S)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "relu.yaml"
            path.write_text(steps(0)["candidate.yaml"])
            changes = {
                "http://gpu1:8000": self.served.url,
                "v0.1": "smoke",
                "my/relu.yaml": str(path),
            }
            for old, new in changes.items():
                self.assertIn(old, program)
                program = program.replace(old, new)
            said = io.StringIO()
            names = {"kbench": kbench, "text": steps(0)["candidate.yaml"], "candidates": [steps(1)]}
            with mock.patch.dict(os.environ, KBENCH_TOKEN=TOKEN), redirect_stdout(said):
                exec(program, names)
        self.assertEqual(said.getvalue().split("\n"), ["passed", "0 wrong_values", "passed", ""])

    def test_says_what_it_has(self) -> None:
        client = self.client()
        self.assertEqual(len(client.tasks()), 250)
        (device,) = client.devices()
        self.assertEqual(device["device_uuid"], client.evaluate(steps(0)).device_uuid)
        self.assertEqual(client.health(), [kbench.Health(self.served.url, "ok", 1)])


class Restarts(unittest.TestCase):
    def setUp(self) -> None:
        expect_device("cpu")

    def restarted(self, number: int) -> None:
        """Every experiment has one result, although the server ends and is started again."""
        served = Served()
        results: dict[int, str] = {}
        with kbench.Client(served.url, options=QUICK) as client:
            for index, result in client.evaluate_many(steps(i % 2) for i in range(10)):
                self.assertNotIn(index, results)
                results[index] = result.verdict
                if len(results) == 3:
                    served.end(number)
                    served = Served(served.port)
        served.end()
        self.assertEqual(results, {i: ("passed", "wrong_values")[i % 2] for i in range(10)})

    def test_a_server_that_is_killed_loses_nothing(self) -> None:
        self.restarted(signal.SIGKILL)

    def test_a_server_that_is_ended_loses_nothing(self) -> None:
        self.restarted(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
