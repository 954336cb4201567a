#!/usr/bin/python3
"""Does a small preset rank candidates as a large one does, and how long does a verdict take at it?

    benchmarks/preset_ranking.py --kbench build/release/bin/kbench --output DIR
    benchmarks/preset_ranking.py --read DIR

Judges the sets `simple` and `fused` and mutants of them (other tiles, workgroups and unrolling,
more work than needed) through `kbench serve` at each of --presets, with --in-flight experiments at
once, and the sets alone one by one. DIR/PRESET.jsonl has an answer a line. Compared are those that
passed at both the first preset and the last: Spearman's coefficient of their speedups, over all and
in each task, and how many pairs of a task that the last preset tells apart, as their intervals have
nothing in common, the first one has the other way round. Exits 1 where a shipped candidate did not
pass.
"""

from __future__ import annotations

import argparse
import collections
import glob
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETS = ("fused", "simple")

Files = Dict[str, str]
Result = Dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    name: str  # "fused/level1_019_relu.yaml", with "~3" for its third mutant
    task: str
    files: Files
    changes: Tuple[str, ...] = ()


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def shipped(folder: str, set_name: str) -> List[Candidate]:
    """The candidates of a set, each with the kernels it names and what these include."""
    candidates = []
    for path in sorted(glob.glob(f"{folder}/*.yaml")):
        manifest = read(path)
        files = {"candidate.yaml": manifest}
        wanted = re.findall(r"\w+\.comp", manifest)
        while wanted:
            name = wanted.pop()
            if name not in files:
                files[name] = read(os.path.join(folder, name))
                wanted += re.findall(r'^#include "(\S+)"', files[name], re.M)
        found = re.search(r"^task: (\S+)", manifest, re.M)
        if found is None:
            sys.exit(f"{path} names no task")
        candidates.append(Candidate(f"{set_name}/{os.path.basename(path)}", found[1], files))
    return candidates


# --- mutants
# A mutation returns what it does and the files it gives; None where it does not apply.
Mutated = Optional[Tuple[str, Files]]


def replaced(files: Files, pattern: str, to: str) -> Optional[Files]:
    """With `pattern` replaced in all files; None if it is in none."""
    changed = {name: re.sub(pattern, to, text, flags=re.M) for name, text in files.items()}
    return changed if changed != files else None


def other_threads(files: Files, draw: random.Random) -> Mutated:
    """Of `simple`: all kernels have the number of threads that the manifest counts groups by."""
    threads = draw.choice((32, 64, 128, 512))
    used = any("THREADS" in text for name, text in files.items() if name.endswith(".comp"))
    if "#define THREADS 256" not in files.get("common.glsl", "") or not used:
        return None
    changed = dict(files)
    changed["common.glsl"] = files["common.glsl"].replace("THREADS 256", f"THREADS {threads}")
    changed["candidate.yaml"] = files["candidate.yaml"].replace(", 256)", f", {threads})")
    return f"{threads} threads", changed


def other_tile(files: Files, draw: random.Random) -> Mutated:
    """Of `simple`: the tile of a product, which the manifest counts groups by."""
    if "#define TILE 16" not in files.get("matmul.comp", ""):
        return None
    tile = draw.choice((8, 32))
    changed = dict(files)
    changed["matmul.comp"] = files["matmul.comp"].replace("TILE 16", f"TILE {tile}")
    changed["candidate.yaml"] = files["candidate.yaml"].replace(", 16)", f", {tile})")
    return f"tiles of {tile}", changed


def other_constant(files: Files, draw: random.Random) -> Mutated:
    """A constant of a manifest, within what its kernel allows."""
    choices = [
        (r"BIG: .*$", ("BIG: 0",)),
        (r"BK: 16 - 8 \* BIG", ("BK: 4", "BK: 16")),
        (r"TN: 4 \+ 12 \* BIG", ("TN: 4", "TN: 4 + 4 * BIG")),
        (r"TM: 4 \+ 4 \* BIG", ("TM: 4",)),
        (r"SEGMENT: \d+", ("SEGMENT: 4096", "SEGMENT: 8192", "SEGMENT: 32768")),
        (r"STRIP: \d+", ("STRIP: 4", "STRIP: 8", "STRIP: 32")),
        (r"max\(32, min\(256, ", ("max(32, min(64, ", "max(32, min(128, ", "max(32, min(512, ")),
    ]
    manifest = files["candidate.yaml"]
    there = [(pattern, to) for pattern, to in choices if re.search(pattern, manifest, re.M)]
    if not there:
        return None
    pattern, to = draw.choice(there)
    chosen = draw.choice(to)
    changed = re.sub(pattern, chosen, manifest, flags=re.M)
    return (chosen, {**files, "candidate.yaml": changed}) if changed != manifest else None


def other_pieces(files: Files, draw: random.Random) -> Mutated:
    """Of `fused`: how many vectors a thread of an elementwise kernel takes."""
    if "#define PIECES 4" not in files.get("elementwise.comp", ""):
        return None
    pieces = draw.choice((1, 2, 8))
    changed = dict(files)
    changed["elementwise.comp"] = files["elementwise.comp"].replace("PIECES 4", f"PIECES {pieces}")
    changed["candidate.yaml"] = files["candidate.yaml"].replace("4096", str(1024 * pieces))
    return f"{pieces} vectors a thread", changed


def other_lanes(files: Files, draw: random.Random) -> Mutated:
    """Of `fused`: how many threads share a column of a reduction."""
    lanes = draw.choice((1, 2, 8, 16))
    changed = replaced(files, r"^#define LANES 4$", f"#define LANES {lanes}")
    return (f"{lanes} threads a column", changed) if changed else None


def rolled(files: Files, draw: random.Random) -> Mutated:
    """The loops of one file are not unrolled."""
    there = sorted(name for name, text in files.items() if "[[unroll]]" in text)
    if not there:
        return None
    name = draw.choice(there)
    return f"{name} not unrolled", {
        **files, name: files[name].replace("[[unroll]]", "[[dont_unroll]]")}  # fmt: skip


def uncached(files: Files, draw: random.Random) -> Mutated:
    """Every load and store of memory by address is made as it is written."""
    changed = replaced(files, r"\) buffer (\w+) \{", r") volatile buffer \1 {")
    return ("volatile", changed) if changed else None


def busier(files: Files, draw: random.Random) -> Mutated:
    """Every thread of one kernel first turns a loop whose result changes nothing."""
    kernels = sorted(name for name in files if name.endswith(".comp"))
    name, rounds = draw.choice(kernels), draw.choice((8, 32, 128))
    loop = (
        "void main() {\n"
        "  uint turned = gl_LocalInvocationIndex + gl_WorkGroupID.x;\n"
        f"  for (uint n = 0; n < {rounds}; ++n) turned = turned * 1664525u + 1013904223u;\n"
        "  if (turned == 77u && gl_WorkGroupID.y == 4294967295u) return;"
    )
    changed = files[name].replace("void main() {", loop)
    if changed == files[name]:
        return None
    return f"{rounds} idle rounds in {name}", {**files, name: changed}


def repeated(files: Files, draw: random.Random) -> Mutated:
    """A step of the dispatch runs several times. It applies to all, and so to every other one."""
    if draw.random() < 0.5:
        return None
    head, found, steps_text = files["candidate.yaml"].partition("\ndispatch:\n")
    if not found:
        return None
    steps = re.split(r"^(?=  - )", steps_text, flags=re.M)[1:]
    if not steps:
        return None
    place, times = draw.randrange(len(steps)), draw.choice((2, 3))
    steps[place] = (steps[place].rstrip("\n") + "\n") * times
    return f"step {place + 1} {times} times", {
        **files, "candidate.yaml": head + found + "".join(steps)}  # fmt: skip


MUTATIONS: Sequence[Callable[[Files, random.Random], Mutated]] = (
    other_threads, other_tile, other_constant, other_pieces, other_lanes, rolled, uncached, busier,
    repeated)  # fmt: skip


def mutants_of(candidate: Candidate, count: int, draw: random.Random) -> List[Candidate]:
    """That many different ones of one or two mutations, or fewer where there are no more."""
    made: List[Candidate] = []
    seen = [candidate.files]
    for _ in range(40 * count):
        if len(made) == count:
            break
        files, changes = candidate.files, []
        for mutation in draw.sample(MUTATIONS, len(MUTATIONS)):
            mutated = mutation(files, draw)
            if mutated is None:
                continue
            changes.append(mutated[0])
            files = mutated[1]
            if len(changes) == 2 or draw.random() < 0.6:
                break
        if files in seen:
            continue
        seen.append(files)
        stem = candidate.name.rsplit(".", 1)[0]
        made.append(
            Candidate(f"{stem}~{len(made) + 1}.yaml", candidate.task, files, tuple(changes)))
    return made  # fmt: skip


def mutants(candidates: Sequence[Candidate], count: int, seed: int) -> List[Candidate]:
    """`count` mutants, of each candidate as many as of the others, or one more."""
    draw = random.Random(seed)
    made: List[Candidate] = []
    for place, candidate in enumerate(candidates):
        share = count * (place + 1) // len(candidates) - count * place // len(candidates)
        made += mutants_of(candidate, share, draw)
    return made


# --- statistics
def ranks(values: Sequence[float]) -> List[float]:
    """From 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in order[first : last + 1]:
            result[place] = (first + last) / 2 + 1
        first = last + 1
    return result


def spearman(a: Sequence[float], b: Sequence[float]) -> Optional[float]:
    """Pearson's coefficient of the ranks; None where one side has no two values that differ."""
    if len(a) != len(b):
        raise ValueError("two lists of one length are needed")
    x, y = ranks(a), ranks(b)
    middle = (len(x) + 1) / 2
    xy = sum((i - middle) * (j - middle) for i, j in zip(x, y))
    xx = sum((i - middle) ** 2 for i in x)
    yy = sum((j - middle) ** 2 for j in y)
    return xy / (xx * yy) ** 0.5 if xx > 0 and yy > 0 else None


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that so large a share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def bounds(result: Result) -> Tuple[float, float]:
    """A result's interval, which is open where few samples were taken."""
    speedup = result["speedup"]
    high = speedup["high"]
    return speedup["low"], float("inf") if high is None else high


def apart(a: Result, b: Result) -> int:
    """1 where a is faster beyond both intervals, -1 where b is, else 0."""
    (a_low, a_high), (b_low, b_high) = bounds(a), bounds(b)
    return 1 if a_low > b_high else -1 if b_low > a_high else 0


@dataclass
class Ranking:
    candidates: int
    overall: Optional[float]
    by_task: Dict[str, float]  # of tasks with three candidates or more
    pairs: int  # of one task, that the large preset tells apart
    reversed_pairs: int  # that the small one has, beyond the intervals, the other way round


def ranking(small: Dict[str, Result], large: Dict[str, Result]) -> Ranking:
    """Of what passed at both presets, by name."""
    both = [
        name
        for name, result in small.items()
        if result["verdict"] == "passed" == large.get(name, {}).get("verdict")
    ]
    tasks: Dict[str, List[str]] = collections.defaultdict(list)
    for name in both:
        tasks[small[name]["task"]].append(name)

    def coefficient(names: Sequence[str]) -> Optional[float]:
        return spearman(
            [small[name]["speedup"]["point"] for name in names],
            [large[name]["speedup"]["point"] for name in names],
        )

    by_task, pairs, reversed_pairs = {}, 0, 0
    for task, names in sorted(tasks.items()):
        found = coefficient(names) if len(names) > 2 else None
        if found is not None:
            by_task[task] = found
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                there = apart(large[one], large[other])
                pairs += there != 0
                reversed_pairs += there != 0 and apart(small[one], small[other]) == -there
    return Ranking(len(both), coefficient(both), by_task, pairs, reversed_pairs)


# --- judging
@dataclass
class Judged:
    results: Dict[str, Result]
    seconds: float  # from the first line to the last answer
    waits: List[float]  # from each experiment's line to its answer


class Server:
    """`kbench serve` at one preset."""

    def __init__(self, options: argparse.Namespace, preset: str) -> None:
        command = [options.kbench, "serve", "--preset", preset, "--other-sizes", "none"]
        command += ["--device", options.device] if options.device else []
        self.process = subprocess.Popen(command, text=True, bufsize=1, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)  # fmt: skip

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()

    def send(self, number: int, candidate: Candidate) -> None:
        assert self.process.stdin
        line = {"id": number, "name": candidate.name, "files": candidate.files, "author": "ranking"}
        self.process.stdin.write(json.dumps(line) + "\n")

    def answers(self) -> Iterator[Dict[str, Any]]:
        assert self.process.stdout
        for line in self.process.stdout:
            yield json.loads(line)
        sys.exit("kbench serve ended before it had answered all")

    def judge(self, candidates: Sequence[Candidate], in_flight: int, budget: float) -> Judged:
        """Sends no further one once `budget` seconds have passed."""
        start = time.monotonic()
        sent: Dict[int, float] = {}
        judged = Judged({}, 0.0, [])
        waiting = iter(enumerate(candidates))

        def send_next() -> None:
            if time.monotonic() - start > budget:
                return
            for number, candidate in waiting:
                sent[number] = time.monotonic()
                self.send(number, candidate)
                return

        for _ in range(in_flight):
            send_next()
        if not sent:
            return judged
        for answer in self.answers():
            if "result" not in answer:
                sys.exit(f"kbench serve answered {json.dumps(answer)}")
            number = answer["id"]
            judged.results[candidates[number].name] = answer["result"]
            judged.waits.append(time.monotonic() - sent.pop(number))
            send_next()
            if not sent:
                break
        judged.seconds = time.monotonic() - start
        return judged


def path_of(folder: str, preset: str, which: str = "") -> str:
    return os.path.join(folder, preset + which + ".jsonl")


def write(path: str, judged: Judged) -> None:
    with open(path, "w", encoding="utf-8") as file:
        head = {"seconds": judged.seconds, "waits": judged.waits}
        file.write(json.dumps(head) + "\n")
        for name, result in judged.results.items():
            file.write(json.dumps({"name": name, "result": result}) + "\n")


def read_judged(path: str) -> Judged:
    with open(path, encoding="utf-8") as file:
        head = json.loads(file.readline())
        entries = [json.loads(line) for line in file]
    return Judged({each["name"]: each["result"] for each in entries}, **head)


def candidates_of(options: argparse.Namespace) -> List[Candidate]:
    """The sets, then their mutants, those of a task behind each other."""
    originals: List[Candidate] = []
    for name in SETS:
        originals += shipped(os.path.join(ROOT, "harness", "candidates", name), name)
    if options.task:
        wanted = options.task.split(",")
        originals = [each for each in originals if each.task in wanted]
        if not originals:
            sys.exit(f"--task: the sets have no candidate for {options.task}")
    made = mutants(originals, options.mutants, options.seed)
    return sorted(originals, key=lambda each: each.task) + sorted(made, key=lambda each: each.task)


def judge_all(options: argparse.Namespace) -> None:
    os.makedirs(options.output, exist_ok=True)
    candidates = candidates_of(options)
    originals = [each for each in candidates if not each.changes]
    for preset in options.presets:
        with Server(options, preset) as server:
            judged = server.judge(candidates, options.in_flight, options.budget)
            write(path_of(options.output, preset), judged)
            say_judged(preset, judged, "all")
            alone = server.judge(originals, 1, options.budget_alone)
            write(path_of(options.output, preset, "-one-by-one"), alone)
            say_judged(preset, alone, "the sets one by one")


def say_judged(preset: str, judged: Judged, what: str) -> None:
    if not judged.results:
        print(f"{preset}, {what}: none within the budget", flush=True)
        return
    verdicts = collections.Counter(result["verdict"] for result in judged.results.values())
    walls = [result["wall_s"] for result in judged.results.values()]
    print(f"{preset}, {what}: {len(judged.results)} in {judged.seconds:.1f} s, "
          f"{60 * len(judged.results) / judged.seconds:.0f} a minute; line to answer median "
          f"{statistics.median(judged.waits):.3f} s, 90th percentile "
          f"{percentile(judged.waits, 0.9):.3f}; wall_s median {statistics.median(walls):.3f}, "
          f"90th percentile {percentile(walls, 0.9):.3f}; "
          + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))  # fmt: skip
    stages: Dict[str, float] = collections.defaultdict(float)
    for result in judged.results.values():
        for stage, seconds in result.get("stage_s", {}).items():
            stages[stage] += seconds
    print("  seconds by stage: " + ", ".join(
        f"{stage} {seconds:.2f}" for stage, seconds in
        sorted(stages.items(), key=lambda each: -each[1])), flush=True)  # fmt: skip


def say_ranking(small: str, large: str, found: Ranking) -> None:
    def text(value: Optional[float]) -> str:
        return "unknown" if value is None else f"{value:.3f}"

    print(f"{small} against {large}: {found.candidates} candidates passed at both; Spearman "
          f"{text(found.overall)} over all")  # fmt: skip
    if found.by_task:
        values = list(found.by_task.values())
        print(f"  in a task: mean {statistics.fmean(values):.3f}, median "
              f"{statistics.median(values):.3f}, least {min(values):.3f} of {len(values)} tasks")
        print("  " + ", ".join(f"{task} {value:.2f}" for task, value in
                               sorted(found.by_task.items(), key=lambda each: each[1])))
    if found.pairs:
        print(f"  {found.reversed_pairs} of {found.pairs} pairs of a task that {large} tells apart "
              f"({100 * found.reversed_pairs / found.pairs:.1f}%) are the other way round at "
              f"{small}")  # fmt: skip


def say_all_judged(folder: str, presets: Sequence[str]) -> None:
    for preset in presets:
        say_judged(preset, read_judged(path_of(folder, preset)), "all")
        alone = path_of(folder, preset, "-one-by-one")
        if os.path.exists(alone):
            say_judged(preset, read_judged(alone), "the sets one by one")


def report(folder: str, presets: Sequence[str]) -> int:
    judged = {preset: read_judged(path_of(folder, preset)) for preset in presets}
    for preset in presets[:-1]:
        say_ranking(preset, presets[-1],
                    ranking(judged[preset].results, judged[presets[-1]].results))  # fmt: skip
    failed = 0
    for preset in presets:
        for name, result in judged[preset].results.items():
            if "~" not in name and result["verdict"] != "passed":
                print(f"{preset}: {name}: {result['verdict']}: {result.get('message', '')}")
                failed = 1
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--kbench", default="kbench", help="the program")
    parser.add_argument("--output", metavar="DIR", help="where the answers go")
    parser.add_argument("--read", metavar="DIR", help="judge nothing, compare the answers there")
    parser.add_argument("--presets", default="train,v0.1", help="the last one is the measure")
    parser.add_argument("--device", help="an index, UUID or part of a name; else the first GPU")
    parser.add_argument("--task", metavar="TASK,...", help="only these")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the mutants")
    parser.add_argument("--in-flight", type=int, default=32, metavar="N")
    parser.add_argument("--budget", type=float, default=1e9, metavar="SECONDS",
                        help="at each preset: no candidate is sent later")  # fmt: skip
    parser.add_argument("--budget-alone", type=float, default=1e9, metavar="SECONDS",
                        help="the same for the sets one by one")  # fmt: skip
    options = parser.parse_args()
    options.presets = options.presets.split(",")
    if (options.output is None) == (options.read is None):
        parser.error("one of --output and --read is needed")
    if len(options.presets) < 2 or options.in_flight < 1 or options.mutants < 0:
        parser.error("needed: two presets, one in flight, no negative number of mutants")
    if options.output:
        judge_all(options)
    else:
        say_all_judged(options.read, options.presets)
    return report(options.read or options.output, options.presets)


if __name__ == "__main__":
    sys.exit(main())
