#!/usr/bin/python3
"""Which PyTorch files `kbench task from-pytorch` takes.

    benchmarks/from_pytorch_files.py FOLDER ... --kbench build/release/bin/kbench [--out OUT.jsonl]
                                     [--paths REGEX] [--options 'REGEX=OPTIONS' ...] [--jobs 2]

Runs the verb on every file *.py of the folders whose path REGEX finds, `--jobs` at once, each for
`--seconds` at most. OUT.jsonl takes a line for each file, and what it has already is not done
again. `--options` are given to the verb for the paths that their REGEX finds.

Prints two tables: for each folder how many files were taken and computed the same as their modules
in float64, were taken and not compared, were refused, or failed (a wrong translation, no answer in
time); and each refusal and failure with its files.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import tempfile

KINDS = ("the same", "not compared", "refused", "failed")
COMPARED = "beside the module: "


def files_in(folders, pattern):
    for folder in folders:
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(place, name)
                if name.endswith(".py") and re.search(pattern, path):
                    yield folder, os.path.relpath(path, folder)


def outcome_of(code, errors, path):
    """What became of a file, and why: of kbench's exit code and standard error."""
    lines = [each.removeprefix("kbench: ").replace(path, "FILE") for each in errors.splitlines()]
    if code == 0:
        said = next((each.split(COMPARED)[1] for each in lines if COMPARED in each), "")
        return ("the same" if said.startswith("computes the same") else "not compared"), said
    reason = lines[-1] if lines else f"exit code {code}"
    told = len(lines) == 1 and code == 2 and "mistranslates" not in reason
    return ("refused" if told else "failed"), reason


def taken(kbench, folder, path, options, seconds):
    """A line of OUT.jsonl."""
    whole = os.path.join(folder, path)
    extra = [each for regex, more in options if re.search(regex, whole) for each in more]
    command = [kbench, "task", "from-pytorch", whole, *extra]
    with tempfile.TemporaryFile("w+") as errors:
        try:
            code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors,
                                  timeout=seconds).returncode  # fmt: skip
            errors.seek(0)
            kind, why = outcome_of(code, errors.read(), whole)
        except subprocess.TimeoutExpired:
            kind, why = "failed", f"no answer in {seconds:g} s"
    return {"folder": folder, "path": path, "kind": kind, "why": why}


def print_tables(lines):
    counts = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(list)
    for line in sorted(lines, key=lambda each: (each["folder"], each["path"])):
        place = os.path.join(os.path.basename(line["folder"].rstrip("/")),
                             os.path.dirname(line["path"]))  # fmt: skip
        counts[place][line["kind"]] += 1
        counts["all"][line["kind"]] += 1
        if line["kind"] != "the same":
            known = re.sub(r"^FILE(:\d+)?: ", "", line["why"])
            reasons[line["kind"], known].append(line["path"])
    print("| folder | files | " + " | ".join(KINDS) + " |\n| --- |" + " ---: |" * 5)
    for place, found in sorted(counts.items(), key=lambda each: (each[0] == "all", each[0])):
        print(f"| {place} | {found.total()} | " + " | ".join(str(found[k]) for k in KINDS) + " |")
    print("\n| what | why | files |\n| --- | --- | --- |")
    for (kind, why), paths in sorted(reasons.items(), key=lambda each: -len(each[1])):
        print(f"| {kind} | {why} | {len(paths)}: {', '.join(paths)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--kbench", default="build/release/bin/kbench")
    parser.add_argument("--out")
    parser.add_argument("--paths", default="")
    parser.add_argument("--options", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=180)
    given = parser.parse_args()
    options = [each.partition("=") for each in given.options]
    options = [(regex, shlex.split(more)) for regex, _, more in options]
    lines = []
    if given.out and os.path.exists(given.out):
        with open(given.out, encoding="utf-8") as earlier:
            lines = [json.loads(each) for each in earlier]
    done = {(each["folder"], each["path"]) for each in lines}
    left = [each for each in files_in(given.folders, given.paths) if each not in done]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        ran = [pool.submit(taken, given.kbench, *each, options, given.seconds) for each in left]
        for each in concurrent.futures.as_completed(ran):
            lines.append(each.result())
            if given.out:
                with open(given.out, "a", encoding="utf-8") as out:
                    out.write(json.dumps(lines[-1]) + "\n")
    print_tables(lines)


if __name__ == "__main__":
    main()
