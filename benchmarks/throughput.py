#!/usr/bin/python3
"""Takes figures of docs/results/method.md: how many candidates a minute are judged, and where the time goes.

    benchmarks/throughput.py --kbench build/release/bin/kbench shipped serve http handed run itself tasks kernels devices

shipped  the sets that ship, on the tasks they have candidates for
serve    one candidate again and again through `kbench serve`: from line to line
http     the candidates of `shipped` through `kbench serve --http`, by `kbench run --server`
handed   does a runner that has served 30 candidates time a kernel as a fresh one does? 20 pairs
run      `kbench run` of one candidate, from start to exit
itself   the eager baseline as its own candidate, some tasks of it five times each: do the intervals hold 1?
tasks    built-in steps as the candidate of each task (--tasks N: of so many, evenly spread)
kernels  the candidates in the folders --kernels, which may fail
devices  the same on device 0 and on all devices, and the ratio

Each evaluation keeps its notes and pipelines in a folder of this program's own, empty at its start
(--cold: empty at each evaluation's). Exits 1 where a candidate was not passed.
"""

import argparse
import collections
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETS = [os.path.join(ROOT, "harness", "candidates", name) for name in ("fused", "simple")]
RELU = os.path.join(SETS[0], "level1_019_relu.yaml")
# From 40 microseconds to 26 milliseconds on an H200 at preset v0.1.
AGAINST_ITSELF = ["level1/1", "level1/12", "level1/19", "level1/23", "level1/40", "level1/47",
                  "level1/97", "level3/4"]  # fmt: skip


class Bench:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.evaluations = 0
        self.failed = 0

    def environment(self, cold=False):
        self.evaluations += 1
        name = f"cache-{self.evaluations}" if cold or self.options.cold else "cache"
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        return dict(os.environ, KBENCH_CACHE=folder)

    def ask(self, *arguments):
        return subprocess.run([self.options.kbench, *arguments], check=True, text=True,
                              stdout=subprocess.PIPE).stdout  # fmt: skip

    def steps_of(self, tasks):
        """What names a set of built-in steps, one candidate a task."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        for task in tasks:
            with open(os.path.join(folder, task.replace("/", "_") + ".yaml"), "w") as file:
                file.write(self.ask("show", task, "--candidate", "--preset", self.options.preset))
        return ["--candidates", folder, "--task", ",".join(tasks)]

    def evaluate(self, title, *arguments, verb=(), cold=False, may_fail=False):
        """Prints what it took; returns the seconds and the results."""
        output = os.path.join(self.scratch, f"results-{self.evaluations + 1}.jsonl")
        command = [self.options.kbench, *verb, "--preset", self.options.preset, "--output", output,
                   *self.sizes(), *arguments]  # fmt: skip
        start = time.monotonic()
        run = subprocess.run(command, env=self.environment(cold), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        seconds = time.monotonic() - start
        if not os.path.exists(output):
            sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stdout}")
        with open(output) as lines:
            results = [json.loads(line) for line in lines]
        verdicts = collections.Counter(result["verdict"] for result in results)
        judged = len(results) - verdicts["missing"]
        print(f"{title}: {seconds:.1f} s, {60 * judged / seconds:.0f} a minute; "
              + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items()))  # fmt: skip
        stages = collections.Counter()
        for result in results:
            stages.update(result.get("stage_s", {}))
            if result["verdict"] != "passed" and not may_fail:
                self.failed += 1
                print(f"  {result['task']} {result['candidate']}: {result['verdict']}: "
                      f"{result.get('message', '')}")  # fmt: skip
        handed_on = sum(result.get("runner_served", 0) > 0 for result in results)
        print("  " + ", ".join(f"{name} {s:.2f}" for name, s in stages.most_common())
              + f"; {handed_on} in a runner that had served others", flush=True)  # fmt: skip
        return seconds, results

    def sizes(self):
        return [] if self.options.other_sizes else ["--other-sizes", "none"]

    def one_device(self):
        return ["--device", self.options.device] if self.options.device else []


def task_of(path):
    with open(path) as lines:
        return next(line.split()[1] for line in lines if line.startswith("task:"))


def shipped_tasks():
    return {task_of(path) for path in glob.glob(os.path.join(SETS[0], "*.yaml"))}


def shipped(bench):
    for _ in range(bench.options.rounds):
        bench.evaluate("shipped", "--candidates", *SETS, "--task",
                       ",".join(sorted(shipped_tasks())), *bench.one_device())  # fmt: skip


def http(bench):
    candidates = [path for folder in SETS for path in glob.glob(os.path.join(folder, "*.yaml"))
                  if task_of(path) in shipped_tasks()]  # fmt: skip
    command = [bench.options.kbench, "serve", "--http", "0", *bench.one_device()]
    server = subprocess.Popen(command, env=bench.environment(), text=True, stderr=subprocess.PIPE)
    url = re.search(r"http://[0-9.:]+", server.stderr.readline())[0]
    for _ in range(bench.options.rounds):
        bench.evaluate("http", "--server", url, *candidates, verb=["run"])
    server.terminate()
    server.communicate()


class Server:
    """`kbench serve`, one line at a time."""

    def __init__(self, bench):
        self.bench, self.lines = bench, 0
        command = [bench.options.kbench, "serve", "--preset", bench.options.preset,
                   *bench.sizes(), *bench.one_device()]  # fmt: skip
        self.process = subprocess.Popen(command, env=bench.environment(), text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.read()  # It ends once it has said all.
        self.process.wait()

    def judge(self, candidate, fresh):
        """Returns the result and the seconds it took."""
        self.lines += 1
        line = {"id": self.lines, "candidate": candidate, "author": "throughput",
                "rule": {"fresh_runners": fresh}}  # fmt: skip
        start = time.monotonic()
        self.process.stdin.write(json.dumps(line) + "\n")
        answer = json.loads(self.process.stdout.readline() or "{}")
        seconds = time.monotonic() - start
        result = answer.get("result", {})
        if result.get("verdict") != "passed":
            self.bench.failed += 1
            print(f"  {answer}")
        return result, seconds


def serve(bench):
    fresh = bench.options.fresh_runners
    with Server(bench) as server:
        _, first = server.judge(RELU, fresh)
        close = sorted(server.judge(RELU, fresh)[1] for _ in range(1, bench.options.requests))
        paused = []
        for _ in range(6):
            time.sleep(0.6)
            paused.append(server.judge(RELU, fresh)[1])
    over = sum(seconds > 0.5 for seconds in close)
    print(f"serve: first {first:.2f} s; back to back {close[0]:.2f} to {close[-1]:.2f}, median "
          f"{statistics.median(close):.2f}, {over} of {len(close)} over 0.5; after 0.6 s of rest "
          f"{min(paused):.2f} to {max(paused):.2f}", flush=True)  # fmt: skip


def handed(bench):
    others = sorted(glob.glob(os.path.join(SETS[0], "level1_*.yaml")))
    with Server(bench) as server:
        for candidate in (RELU, os.path.join(SETS[0], "level1_040_layer_norm.yaml")):
            logs = []
            for pair in range(20):
                fresh, _ = server.judge(candidate, True)
                while True:
                    other, _ = server.judge(others[server.lines % len(others)], False)
                    if other.get("runner_served", 0) >= 30:
                        break
                late, _ = server.judge(candidate, False)
                logs.append(math.log(late["speedup"]["point"] / fresh["speedup"]["point"]))
            print(f"handed: {os.path.basename(candidate)}: after {late['runner_served']} others "
                  f"{100 * statistics.fmean(logs):+.3f}% of the speedup of a fresh runner, single "
                  f"pairs {100 * min(logs):+.2f} to {100 * max(logs):+.2f}%", flush=True)  # fmt: skip


def run(bench):
    """From the start of `kbench run` to its exit."""
    command = [bench.options.kbench, "run", RELU, "--preset", bench.options.preset,
               *bench.sizes(), *bench.one_device()]  # fmt: skip
    seconds = []
    for _ in range(bench.options.requests):
        start = time.monotonic()
        subprocess.run(command, env=bench.environment(), check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.monotonic() - start)
    print(f"run: {min(seconds):.2f} to {max(seconds):.2f}, median {statistics.median(seconds):.2f}",
          flush=True)  # fmt: skip


def itself(bench):
    _, results = bench.evaluate("against itself", *bench.steps_of(AGAINST_ITSELF),
                                "--benchmark_repetitions=5", *bench.one_device())  # fmt: skip
    speedups = [result["speedup"] for result in results if result["verdict"] == "passed"]
    if not speedups:
        return
    hold = sum(each["low"] <= 1 <= each["high"] for each in speedups)
    mean = statistics.fmean(math.log(each["point"]) for each in speedups)
    print(f"  {hold} of {len(speedups)} intervals hold 1; mean logarithm of the ratio "
          f"{100 * mean:.3f}%", flush=True)  # fmt: skip


def some_tasks(bench):
    tasks = [each["task"] for each in json.loads(bench.ask("list", "--json"))]
    wanted = min(bench.options.tasks or len(tasks), len(tasks))
    return [tasks[i * len(tasks) // wanted] for i in range(wanted)]


def tasks(bench):
    bench.evaluate("tasks", *bench.steps_of(some_tasks(bench)), *bench.one_device())


def kernels(bench):
    """Most kernels that models write are slow: also prints how many samples each took."""
    folders = bench.options.kernels
    if not folders:
        sys.exit("kernels: --kernels names the folders of candidates")
    _, results = bench.evaluate("kernels", "--candidates", *folders, *bench.one_device(),
                                may_fail=True)  # fmt: skip
    passed = [result for result in results if result["verdict"] == "passed"]
    if not passed:
        return
    speedups = [result["speedup"]["point"] for result in passed]
    samples = sum(result["samples"] for result in passed)
    slow = sum(speedup < 0.5 for speedup in speedups)
    print(f"  {len(passed)} passed, {slow} of them below 0.5; median {statistics.median(speedups):.2f}; "
          f"{samples} samples, {samples / len(passed):.1f} a kernel", flush=True)  # fmt: skip


def devices(bench):
    steps = bench.steps_of(some_tasks(bench))
    # Neither must find what the other kept.
    all_of_them, _ = bench.evaluate("all devices", *steps, "--devices", "all", cold=True)
    one, _ = bench.evaluate("device 0", *steps, "--device", "0", cold=True)
    print(f"  {one / all_of_them:.2f} times as many a minute", flush=True)


def main():
    measures = {each.__name__: each for each in (shipped, serve, http, handed, run, itself, tasks, kernels, devices)}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("measures", nargs="+", choices=measures, metavar="MEASURE")
    parser.add_argument("--kbench", default="kbench", help="the program")
    parser.add_argument("--preset", default="v0.1")
    parser.add_argument("--device", help="an index, UUID or part of a name; else the first GPU")
    parser.add_argument("--rounds", type=int, default=3, help="of shipped")
    parser.add_argument("--other-sizes", action="store_true",
                        help="with sizes drawn in secret")  # fmt: skip
    parser.add_argument("--requests", type=int, default=14, help="of serve, at least 2")
    parser.add_argument("--tasks", type=int, help="of tasks and devices: so many, not all")
    parser.add_argument("--kernels", action="append", metavar="DIR",
                        help="of kernels: a candidate set; may be repeated")  # fmt: skip
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kbench-throughput-") as scratch:
        bench = Bench(options, scratch)
        for name in options.measures:
            measures[name](bench)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
