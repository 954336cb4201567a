#!/usr/bin/python3
"""Judges public ModelNew files, by kbench and by a plain check of KernelBench's kind, side by side.

    benchmarks/judged_again.py pack PACK --from OWNER/NAME=FOLDER ...
    benchmarks/judged_again.py run PACK OUT --kbench build/release/bin/kbench [--share 1/4]
                               [--kbench-seconds 300] [--plain-seconds 250] [--earlier OUT ...]
    benchmarks/judged_again.py table PACK OUT ...

`pack` collects the files that SOURCES lists, and KernelBench's own programs of their tasks, into
one small folder. Each FOLDER is a git repository, bare or not, that has the commit which SOURCES or
PROGRAMS names; repositories that are not given are left out. Which files of a repository are taken
is drawn by a hash of their paths.

`run` has kbench judge them (`kbench run`, against PyTorch) and then runs plain_check.py on them,
each as long as it is given time. Files of all repositories come in turn, so that a run that is cut
short has some of each. What is in OUT or in the folders of --earlier is not done again. It needs a
python3 with PyTorch (--python), and writes kbench.jsonl, plain.jsonl and table.md into OUT.

`table` prints where the two agree, and each file on which they do not.
"""

import argparse
import collections
import glob
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELBENCH = "ScalingIntelligence/KernelBench"
PROGRAMS = {"v0": "21fbe5a", "v0.1": "423217d"}  # commits of KernelBench
TOLERANCE = {"v0": 1e-2, "v0.1": 1e-4}
NOTHING_LEARNT = ("does_not_fit", "harness_error", "missing", "compiles")
PLAIN_NOTHING_LEARNT = ("program_fails", "out_of_memory", "timeout")
OTHER_PACKAGES = re.compile(r"^\s*(?:import|from)\s+(?:tilelang|cutlass|cupy|tvm|numba)\b", re.M)
MODEL_NEW = re.compile(r"^(?:class\s+ModelNew\b|ModelNew\s*=)", re.M)
MOST_BYTES = 1 << 20
NAMED = r"level_(?P<level>[123])_problem_(?P<problem>\d+)_sample_0_kernel\.py"


# --- where the files are --------------------------------------------------------------------------
class Source(NamedTuple):
    """Files of one repository, for sizes of one of KernelBench's releases."""

    repository: str
    commit: str
    preset: str
    most: int  # how many are taken
    pattern: str  # of paths
    kind: str = "file"  # how files and their tasks are found in what the pattern names: KINDS


SOURCES = (
    Source("yenhao-huang/KernelBench", "62472a6", "v0.1", 160,
           r"runs/(?:codex_gpt55_retime|qwen36_retime|gemma4_retime|"
           r"openrouter_deepseek_v4_pro_leaderboard)_l[123]/" + NAMED),
    Source("Young-Lord/KernelBench", "e0bb01e", "v0.1", 70,
           r"KernelBench/level(?P<level>1)_musa/problem_(?P<problem>\d+)/model_new\.py", "musa"),
    Source("Rhys-Wang-wannaLearnMath/KernelBench", "f09d7d5", "v0", 200,
           r"CUDA-L1/optimized_cuda_code/(?:h100|a100|h20|l40|3090)\.json", "lines"),
    Source("hzeng2000/KernelBench", "833e16d", "v0.1", 50,
           r"runs/level_2_backend_cuda_[^/]+/" + NAMED),
    Source("hzeng2000/KernelBench", "833e16d", "v0.1", 70,
           r"runs/level_2_backend_triton_[^/]+/" + NAMED),
    Source("KartKart123/kernel-bench", "76b727c", "v0", 88,
           r"KernelBenchLeaderBoard/assets/data\.json", "index"),
    Source("ScalingIntelligence/KernelBench", "bbd7cb3", "v0.1", 12,
           r"src/kernelbench/tests/solutions/(?P<problem>\d+)_\w+\.py"),
)  # fmt: skip


class Repository:
    """A git repository at one commit."""

    def __init__(self, folder, commit):
        self.folder, self.commit = folder, commit

    def git(self, *arguments):
        ran = subprocess.run(["git", "-C", self.folder, *arguments], check=True,
                             stdout=subprocess.PIPE)  # fmt: skip
        return ran.stdout.decode("utf-8", "replace")

    def paths(self):
        return self.git("ls-tree", "-r", "-z", "--name-only", self.commit).split("\0")[:-1]

    def text(self, path):
        return self.git("show", f"{self.commit}:{path}")


class Found(NamedTuple):
    """A file in a repository; `text` is called where it is taken."""

    path: str
    task: tuple
    text: object


def plain_files(repository, path, match):
    level = int(match.groupdict().get("level") or 1)
    yield Found(path, (level, int(match["problem"])), lambda: repository.text(path))


def musa_files(repository, path, match):
    for found in plain_files(repository, path, match):
        yield found._replace(text=lambda text=found.text: cuda_of_musa(text()))


def lines_of_json(repository, path, _):
    """Lines with level_id, task_id and custom_code, which may be null."""
    for line in repository.text(path).splitlines():
        entry = json.loads(line) if line.strip() else {}
        if entry.get("custom_code"):
            task = int(entry["level_id"]), int(entry["task_id"])
            yield Found(f"{path}#{task[0]}/{task[1]}", task, lambda code=entry["custom_code"]: code)


def index_of_solutions(repository, path, _):
    """{"Level 1: 19_ReLU": [{"file": ...}, ...]}, of files in the folder solutions beside it."""
    folder = os.path.dirname(path) + "/solutions/"
    for title, solutions in json.loads(repository.text(path)).items():
        level, problem = re.match(r"Level (\d+): (\d+)_", title).groups()
        for each in solutions:
            solution = f"{folder}{each['file']}.py"
            yield Found(solution, (int(level), int(problem)),
                        lambda solution=solution: repository.text(solution))  # fmt: skip


KINDS = {"file": plain_files, "musa": musa_files, "lines": lines_of_json,
         "index": index_of_solutions}  # fmt: skip


def cuda_of_musa(text):
    """A file for MUSA's fork of load_inline, for CUDA: names are changed, and its source, which
    that takes as `cpp_sources`, becomes `cuda_sources` beside declarations of its functions."""
    text = text.replace("kernelbench.musa_extension", "torch.utils.cpp_extension")
    text = text.replace("musa", "cuda").replace("MUSA", "CUDA")
    functions = re.search(r"functions\s*=\s*\[(.*?)\]", text, re.S)
    declared = []
    for name in re.findall(r"[\"'](\w+)[\"']", functions[1] if functions else ""):
        head = re.search(rf"^[\w:<>, ]+\s+{name}\s*\([^{{}};]*\)(?=\s*\{{)", text, re.M)
        if head:
            declared.append(" ".join(head[0].split()) + ";")
    both = f"cpp_sources={' '.join(declared)!r}, cuda_sources="
    return re.sub(r"\bcpp_sources\s*=", lambda _: both, text)


def usable(text):
    return (len(text) < MOST_BYTES and MODEL_NEW.search(text) is not None
            and OTHER_PACKAGES.search(text) is None)  # fmt: skip


def drawn(source, repository):
    """The files that are taken, and their texts."""
    pattern, found = re.compile(source.pattern), []
    for path in repository.paths():
        match = pattern.fullmatch(path)
        if match:
            found += KINDS[source.kind](repository, path, match)
    found.sort(key=lambda each: hashlib.sha256(each.path.encode()).digest())
    taken = []
    for each in found:
        if len(taken) == source.most:
            break
        text = each.text()
        if usable(text):
            taken.append((each, text))
    return taken


def spread(groups):
    """Members of all groups in turn, so that each part of the list has some of each."""
    placed = [((i + 0.5) / len(group), g, each) for g, group in enumerate(groups)
              for i, each in enumerate(group)]  # fmt: skip
    return [each for _, _, each in sorted(placed, key=lambda place: place[:2])]


# --- the packed folder ----------------------------------------------------------------------------
def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def program_name(preset, task):
    return f"programs/{preset}/level{task[0]}_{task[1]}.py"


def write_programs(folder, kernelbench, entries):
    for preset, commit in PROGRAMS.items():
        repository = Repository(kernelbench, commit)
        wanted = {tuple(each["task"]) for each in entries if each["preset"] == preset}
        for path in repository.paths() if wanted else []:
            match = re.fullmatch(r"KernelBench/level(\d+)/(\d+)_[^/]*\.py", path)
            task = match and (int(match[1]), int(match[2]))
            if task in wanted:
                write(os.path.join(folder, program_name(preset, task)), repository.text(path))


def pack(options):
    folders = dict(each.split("=", 1) for each in options.source)
    if KERNELBENCH not in folders:
        sys.exit(f"--from {KERNELBENCH}=FOLDER is needed for the programs")
    groups = []
    for source in SOURCES:
        if source.repository not in folders:
            continue
        repository = Repository(folders[source.repository], source.commit)
        group = []
        for found, text in drawn(source, repository):
            level, problem = found.task
            word = hashlib.sha256(found.path.encode()).hexdigest()[:8]
            name = (f"{source.preset}/{source.repository.replace('/', '+')}/"
                    f"level_{level}_problem_{problem}_{word}.py")  # fmt: skip
            write(os.path.join(options.pack, name), text)
            group.append({"name": name, "repository": source.repository, "commit": source.commit,
                          "path": found.path, "task": found.task, "preset": source.preset})  # fmt: skip
        print(f"{len(group)} of {source.repository}, {source.preset}: {source.pattern}")
        groups.append(group)
    entries = spread(groups)
    write_programs(options.pack, folders[KERNELBENCH], entries)
    write(os.path.join(options.pack, "manifest.jsonl"),
          "".join(json.dumps(each) + "\n" for each in entries))  # fmt: skip


# --- judging --------------------------------------------------------------------------------------
def lines_of(path):
    if not os.path.exists(path):
        return
    with open(path, errors="replace") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                pass  # torn by a run that was killed


def read_manifest(folder):
    return list(lines_of(os.path.join(folder, "manifest.jsonl")))


def read_results(folders):
    """kbench's last result and the plain check's line of each file, by its name."""
    judged, checked = {}, {}
    for folder in folders:
        for results, name, file in ((judged, "candidate", "kbench"), (checked, "name", "plain")):
            lines = lines_of(os.path.join(folder, f"{file}.jsonl"))
            results.update((each[name], each) for each in lines)
    return judged, checked


def share_of(entries, share):
    part, of = (int(each) for each in share.split("/"))
    return entries[part - 1 :: of]


def ended(command, seconds, **more):
    """Runs a command for so long at most; then it is interrupted, and killed if it goes on."""
    process = subprocess.Popen(command, **more)
    for stop, wait in ((None, seconds), (signal.SIGINT, 30), (signal.SIGKILL, None)):
        if stop is not None:
            process.send_signal(stop)
        try:
            return process.wait(wait)
        except subprocess.TimeoutExpired:
            pass


def judge(options, entries):
    """One `kbench run` for each preset, whose files share the time by their number."""
    names = collections.defaultdict(list)
    for each in entries:
        names[each["preset"]].append(each["name"])
    left, ends = len(entries), time.monotonic() + options.kbench_seconds
    output = os.path.abspath(os.path.join(options.out, "kbench.jsonl"))
    environment = {**os.environ, "KBENCH_PYTHON": options.python}
    for preset, files in names.items():
        seconds = (ends - time.monotonic()) * len(files) / left
        left -= len(files)
        command = [os.path.abspath(options.kbench), "run", *files, "--preset", preset, "--opponent",
                   "torch", "--output", output, *shlex.split(options.kbench_options)]  # fmt: skip
        begun = time.monotonic()
        with open(os.path.join(options.out, f"kbench.{preset}.log"), "ab") as log:
            code = ended(command, seconds, cwd=options.pack, env=environment, stdout=log,
                         stderr=log)  # fmt: skip
        print(f"kbench, preset {preset}: {len(files)} files to do, "
              f"{time.monotonic() - begun:.0f} s, exit code {code}", flush=True)  # fmt: skip


def check_plainly(options, entries):
    files = os.path.join(options.out, "plain_files.jsonl")
    with open(files, "w") as to:
        for each in entries:
            path = os.path.abspath(os.path.join(options.pack, each["name"]))
            program = os.path.abspath(
                os.path.join(options.pack, program_name(each["preset"], each["task"])))  # fmt: skip
            line = {"name": each["name"], "file": path, "program": program,
                    "tolerance": TOLERANCE[each["preset"]]}  # fmt: skip
            to.write(json.dumps(line) + "\n")
    begun = time.monotonic()
    code = ended([options.python, os.path.join(HERE, "plain_check.py"), files, "--output",
                  os.path.join(options.out, "plain.jsonl"), "--seconds", str(options.plain_seconds),
                  *shlex.split(options.plain_options)], options.plain_seconds + 60)  # fmt: skip
    print(f"plain check: {len(entries)} files to do, {time.monotonic() - begun:.0f} s, "
          f"exit code {code}", flush=True)  # fmt: skip


def run(options):
    os.makedirs(options.out, exist_ok=True)
    entries = share_of(read_manifest(options.pack), options.share)
    folders = [*options.earlier, options.out]
    judged, checked = read_results(folders)
    known = {name for name, result in judged.items() if result["verdict"] != "harness_error"}
    todo = [each for each in entries if each["name"] not in known]
    if todo and options.kbench_seconds > 0:
        judge(options, todo)
    todo = [each for each in entries if each["name"] not in checked]
    if todo and options.plain_seconds > 0:
        check_plainly(options, todo)
    text = tables(read_manifest(options.pack), *read_results(folders))
    write(os.path.join(options.out, "table.md"), text)
    print(text)


# --- the tables -----------------------------------------------------------------------------------
def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell(each) for each in line) + " |\n" for line in lines)


def cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def listed(counter):
    return ", ".join(f"{n} {word}" for word, n in counter.most_common()) or "-"


def first_line(text, most=160):
    line = (text.strip().splitlines() or [""])[0]
    return line if len(line) <= most else line[: most - 3] + "..."


class Pair:
    """A file with what both said of it."""

    def __init__(self, entry, judged, checked):
        self.entry, self.judged, self.checked = entry, judged, checked
        self.verdict, self.outcome = judged["verdict"], checked["outcome"]
        self.passed, self.right = self.verdict == "passed", self.outcome == "right"

    @property
    def told(self):
        return self.verdict not in NOTHING_LEARNT and self.outcome not in PLAIN_NOTHING_LEARNT

    @property
    def kind(self):
        if not self.told:
            return "no word"
        return {(True, True): "right by both", (False, False): "wrong by both",
                (True, False): "passed, plainly wrong",
                (False, True): "refused, plainly right"}[self.passed, self.right]  # fmt: skip

    @property
    def cause(self):
        """What is known without looking: the rest is for whoever reads the table."""
        for note in self.judged.get("diagnostics", []):
            if note["message"].startswith("KernelBench's first release"):
                return note["message"]
        if self.right and self.verdict == "low_precision":
            return "less than float32's precision, within KernelBench's tolerance"
        if self.right and self.verdict == "input_modified":
            return "it writes to its inputs, which the plain check does not look at"
        return ""

    def row(self):
        level, problem = self.entry["task"]
        reason = self.checked["reason"]
        return [self.entry["repository"], self.entry["path"],
                f"{level}/{problem}, {self.entry['preset']}",
                first_line(f"{self.outcome}: {reason}" if reason else self.outcome),
                self.verdict, first_line(self.judged.get("message", "")), self.cause]  # fmt: skip


KINDS_OF_PAIRS = ("right by both", "wrong by both", "refused, plainly right",
                  "passed, plainly wrong", "no word")  # fmt: skip
HEAD = ["repository", "file", "task", "plain check", "kbench", "kbench's message", "cause"]


def tables(entries, judged, checked):
    pairs = [Pair(each, judged[each["name"]], checked[each["name"]]) for each in entries
             if each["name"] in judged and each["name"] in checked]  # fmt: skip
    text = f"{len(pairs)} of {len(entries)} files have both a verdict and the plain check's word.\n\n"
    groups = collections.defaultdict(list)
    for each in pairs:
        groups[each.entry["repository"], each.entry["preset"]].append(each)
    rows = []
    for (repository, preset), group in [*groups.items(), (("all", ""), pairs)]:
        counts = collections.Counter(each.kind for each in group)
        rows.append([repository, preset, len(group), *(counts[kind] for kind in KINDS_OF_PAIRS)])
    text += table(["repository", "preset", "files", *KINDS_OF_PAIRS], rows)
    verdicts = collections.defaultdict(collections.Counter)
    for each in pairs:
        verdicts[each.verdict][each.outcome] += 1
    by_number = sorted(verdicts.items(), key=lambda each: -sum(each[1].values()))
    text += "\n" + table(["kbench", "files", "plain check"],
                         [[verdict, sum(counts.values()), listed(counts)]
                          for verdict, counts in by_number])  # fmt: skip
    built = collections.Counter(way for each in pairs for way in each.checked.get("built", []))
    text += f"\nExtensions of the plain check were compiled with: {listed(built)}.\n"
    for kind in KINDS_OF_PAIRS[2:]:
        group = [each for each in pairs if each.kind == kind]
        if group:
            group.sort(key=lambda each: (each.cause == "", each.cause, each.verdict, each.outcome))
            text += f"\n## {kind[0].upper()}{kind[1:]}: {len(group)}\n\n"
            text += table(HEAD, [each.row() for each in group])
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    verbs = parser.add_subparsers(required=True)
    packs = verbs.add_parser("pack", help="collect the files")
    packs.add_argument("pack", metavar="PACK")
    packs.add_argument("--from", action="append", default=[], dest="source",
                       metavar="OWNER/NAME=FOLDER", help="where a repository is")  # fmt: skip
    packs.set_defaults(do=pack)
    runs = verbs.add_parser("run", help="judge them")
    runs.add_argument("pack", metavar="PACK")
    runs.add_argument("out", metavar="OUT")
    runs.add_argument("--kbench", default=os.path.join(HERE, "../build/release/bin/kbench"))
    runs.add_argument("--python", default=os.environ.get("KBENCH_PYTHON", sys.executable))
    runs.add_argument("--share", default="1/1", metavar="K/N", help="the K-th of N parts")
    runs.add_argument("--kbench-seconds", type=float, default=1e6)
    runs.add_argument("--plain-seconds", type=float, default=1e6)
    runs.add_argument("--kbench-options", default="--measure-seconds 0.2 --other-sizes none "
                      "--compile-seconds 60 --total-seconds 300")  # fmt: skip
    runs.add_argument("--plain-options", default="", help="as '--device cpu'")
    runs.add_argument("--earlier", nargs="*", default=[], metavar="OUT",
                      help="what is done already")  # fmt: skip
    runs.set_defaults(do=run)
    shows = verbs.add_parser("table", help="print the tables")
    shows.add_argument("pack", metavar="PACK")
    shows.add_argument("outs", nargs="+", metavar="OUT")
    shows.set_defaults(do=lambda options: print(
        tables(read_manifest(options.pack), *read_results(options.outs))))  # fmt: skip
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
