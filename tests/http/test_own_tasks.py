"""Tasks of one's own over HTTP and by lines: what a name means, and what is kept of a file."""

import glob
import json
import os
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from server import DEVICE, JSON, PROGRAM, QUICK, Server, need_device

TASK = """kbench_task: 1
name: my/{name}
variables: {{rows: 5}}
inputs:
  x: {{shape: [rows, 40]}}
operators:
  - {{op: {op}, in: x, out: y}}
outputs: y
"""
KERNEL = """kbench: 1
task: my/{name}
kernels:
  k:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X {{ float x[]; }};
      layout(binding = 1) writeonly buffer Y {{ float y[]; }};
      void main() {{
        const uint i = gl_GlobalInvocationID.x;
        if (i < 40 * KB_rows) y[i] = {value};
      }}
dispatch:
  - {{kernel: k, bind: [x, output], groups: "ceil_div(40 * rows, 64)"}}
"""
VALUES = {"relu": "max(x[i], 0.0)", "sigmoid": "1.0 / (1.0 + exp(-x[i]))"}


def request(task, kernel, name="one"):
    """A kernel for an operator, judged by the file that says so of another or the same."""
    return {"files": {"candidate.yaml": KERNEL.format(name=name, value=VALUES[kernel])},
            "task_file": TASK.format(name=name, op=task)}  # fmt: skip


def pairs(task, count):
    """Kernels for each of the operators in turn: every second one is wrong."""
    return [(task, list(VALUES)[i % 2]) for i in range(count)]


def verdict_of(task, kernel):
    return "passed" if task == kernel else "wrong_values"


class OneName(unittest.TestCase):
    def test_two_tokens_mean_each_its_own_by_it(self):
        tokens = {task: f"a-long-secret-of-{task}" for task in VALUES}
        server = Server(tokens=tokens)
        self.addCleanup(server.close)

        def ask(task):
            """One after the other; those of the other token come in between."""
            headers = {**JSON, "Authorization": f"Bearer {tokens[task]}"}
            asked = (request(*pair) for pair in pairs(task, 8))
            said = [server.ask("POST", "/v1/evaluate", each, headers).json for each in asked]
            return [each["result"]["verdict"] for each in said]

        with ThreadPoolExecutor() as threads:
            found = dict(zip(VALUES, threads.map(ask, VALUES)))
        for task in VALUES:
            self.assertEqual(found[task], [verdict_of(*pair) for pair in pairs(task, 8)], task)

    def test_each_line_means_its_own_by_it(self):
        need_device()
        served = subprocess.Popen([PROGRAM, "serve", "--device", DEVICE, *QUICK], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.addCleanup(served.stdout.close)
        self.addCleanup(served.wait)
        self.addCleanup(served.stdin.close)
        by_turns = zip(*(pairs(task, 8) for task in VALUES))
        for number, pair in enumerate(pair for turn in by_turns for pair in turn):
            served.stdin.write(json.dumps({"id": number, **request(*pair)}) + "\n")
            served.stdin.flush()
            said = json.loads(served.stdout.readline())
            self.assertEqual(said["result"]["verdict"], verdict_of(*pair), said)
            self.assertEqual((said["id"], said["result"]["task"]), (number, "my/one"))


def resident_bytes(process):
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def has_role(process, role):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return role in file.read().split(b"\0")
    except OSError:  # It has just ended.
        return False


def baseline_of(judge):
    children = []
    for path in glob.glob(f"/proc/{judge}/task/*/children"):
        with open(path, encoding="ascii") as file:
            children += file.read().split()
    return next(int(child) for child in children if has_role(child, b"eager"))


class ManyFiles(unittest.TestCase):
    def test_are_not_kept_by_judge_and_baseline(self):
        server = Server()
        self.addCleanup(server.close)
        held = []
        for number in range(18):
            asked = request("relu", "relu", name=f"file{number}")
            asked["task_file"] += f"# {3 * 2**20 * 'x'}\n"
            said = server.ask("POST", "/v1/evaluate", asked, JSON)
            self.assertEqual(said.json["result"]["verdict"], "passed", said.text)
            (judge,) = server.judges()
            held.append([resident_bytes(judge), resident_bytes(baseline_of(judge))])
        for before, after in zip(held[5], held[-1]):
            self.assertLess(after - before, 18 * 2**20, held)  # Twelve files have 36 MiB.


if __name__ == "__main__":
    unittest.main()
