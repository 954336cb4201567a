"""kbench.worker on three workers of dask.distributed, one of which is killed."""

import contextlib
import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import kbench
import kbench.worker
import needs
from devices import expect_device
from served import DOUBLED, OWN_TASK, QUICK

distributed: Any = None
with contextlib.suppress(ImportError):
    distributed = importlib.import_module("distributed")  # which has no types

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
COUNT = 12


def candidates() -> list[kbench.Candidate]:
    """Some right, some wrong; their names tell them apart."""
    right = kbench.built_in_candidate("1/19", "smoke")
    wrong = right.replace("op: relu", "op: tanh")
    return [
        kbench.Candidate({"candidate.yaml": (right, wrong)[i % 2]}, name=f"dask/{i}.yaml")
        for i in range(COUNT)
    ]


def cluster(workers: int, folder: str) -> Any:
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
        local_directory=folder,
    )


class Workers(unittest.TestCase):
    def setUp(self) -> None:
        needs.need(distributed, "dask.distributed (Debian: python3-distributed)")
        expect_device("cpu")
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def test_every_experiment_has_one_result_although_a_worker_is_killed(self) -> None:
        results: dict[str, kbench.Result] = {}
        with cluster(3, str(self.folder)) as local, distributed.Client(local) as dask:
            workers = dask.run(os.getpid)
            self.assertEqual(len(set(workers.values())), 3)
            futures = dask.map(kbench.worker.evaluate, candidates(), options=QUICK, pure=False)
            for _, result in distributed.as_completed(futures, with_results=True):
                self.assertNotIn(result.candidate, results)
                results[result.candidate] = result
                if len(results) == 3:
                    killed = self.busy(dask, workers)
                    os.kill(workers[killed], signal.SIGKILL)
            self.assertNotIn(workers[killed], dask.run(os.getpid).values())
        verdicts = {name: result.verdict for name, result in results.items()}
        wanted = {f"{i}.yaml": ("passed", "wrong_values")[i % 2] for i in range(COUNT)}
        self.assertEqual(verdicts, wanted)

    def test_the_program_of_the_documentation_and_a_task_of_ones_own(self) -> None:
        program, setup = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
        (self.folder / "judge.py").write_text(program.replace("v0.1", "smoke"))
        (self.folder / "task.yaml").write_text(OWN_TASK)
        (self.folder / "my").mkdir()
        for candidate in candidates()[:2]:
            path = self.folder / "my" / Path(candidate.name).name
            path.write_text(str(candidate.files["candidate.yaml"]))
        with cluster(1, str(self.folder)) as local:
            said = subprocess.run(
                [sys.executable, "judge.py", local.scheduler_address, "my"],
                cwd=self.folder, stdout=subprocess.PIPE, text=True,
            ).stdout  # fmt: skip
            lines = said.splitlines()
            self.assertEqual(sorted(lines[:2]), ["level1/19 passed", "level1/19 wrong_values"])

            with distributed.Client(local) as dask:
                names = {"dask": dask, "kbench": kbench}
                exec(setup.replace("task.yaml", f"{self.folder}/task.yaml"), names)
                doubled = {"candidate.yaml": DOUBLED}
                own = dask.submit(kbench.worker.evaluate, doubled, QUICK).result()
            self.assertEqual((own.task, own.verdict), ("client/scale", "passed"), own.message)

    def busy(self, dask: Any, workers: dict[str, int]) -> str:
        """A worker that is evaluating."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            for address, tasks in dask.processing().items():
                if tasks:
                    return str(address)
            time.sleep(0.01)
        raise AssertionError("no worker has anything to do")


if __name__ == "__main__":
    unittest.main()
