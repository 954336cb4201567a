#!/usr/bin/python3
"""Sets what kbench says of public candidates beside what KernelBench said: tables in Markdown.

    benchmarks/judged_again.py RESULTS.jsonl ... --said SET/said.json ... [--list]

RESULTS are results files (docs/results-format.md) of the sets, which are folders of ModelNew files:

    kbench --candidates SET --preset v0.1 --opponent best --output RESULTS.jsonl

A set may have been judged against several opponents: what fails against one of them has not passed.
SET/said.json says of each file what was published of it: {"level_1_problem_19_sample_0_kernel.py":
{"correct": true, "uses": ["cuda"], "own_kernel": true, "runs": true, ...}, ...}. `correct` is null
where it is not known (`claimed`: where only the whole set is said to be right), `own_kernel` tells
whether the file has a kernel of its own or calls libraries only (else `uses` does), `runs` is false
where it needs packages that are not there.

Verdicts are compared, never speedups: those were taken on other cards, by other clocks. Results
that say nothing of the candidate (does_not_fit, harness_error, missing) are counted apart. Shares
have 95% intervals (Wilson). --list adds the files on which the two disagree. Exits 1 where no
result belongs to a set.
"""

import argparse
import collections
import glob
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPPONENTS = ("eager", "torch", "torch.compile", "best")
NOTHING_LEARNT = ("does_not_fit", "harness_error", "missing", "compiles")
CERTIFICATES = ("precision", "values", "none", "trivial")
OWN_KERNELS = {"cuda", "triton", "tilelang", "cutlass"}
SAID = ("correct", "claimed correct", "incorrect", "not known")
Z = 1.959963984540054


def wilson(count, of):
    """The 95% interval of a share."""
    share, middle = count / of, Z * Z / (2 * of)
    half = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    scale = 1 + Z * Z / of
    return max(0.0, (share + middle - half) / scale), min(1.0, (share + middle + half) / scale)


def share(count, of):
    if of == 0:
        return "-"
    low, high = wilson(count, of)
    return f"{count}: {100 * count / of:.0f}% [{100 * low:.0f}, {100 * high:.0f}]"


class Candidate:
    """A file of a set, and its last result against each opponent."""

    def __init__(self, name, said):
        self.name, self.said, self.results = name, said, {}

    def add(self, result):
        self.results[result["baseline"]] = result

    def told(self):
        """The results that say something of it, in the order of OPPONENTS."""
        known = [each for each in OPPONENTS if each in self.results]
        others = sorted(set(self.results) - set(known))
        results = [self.results[each] for each in known + others]
        return [each for each in results if each["verdict"] not in NOTHING_LEARNT]

    @property
    def result(self):
        """The one that counts: the first that did not pass, else the first."""
        told = self.told()
        return next((each for each in told if each["verdict"] != "passed"), told[0])

    @property
    def verdict(self):
        return self.result["verdict"]

    @property
    def passed(self):
        return self.verdict == "passed"

    @property
    def task(self):
        return self.result["task"]

    @property
    def certificate(self):
        word = self.result.get("certificate")
        return word if word in CERTIFICATES else "none"

    @property
    def said_word(self):
        correct = self.said.get("correct")
        if correct is None:
            return "claimed correct" if self.said.get("claimed") else "not known"
        return "correct" if correct else "incorrect"

    @property
    def library_only(self):
        """True, False, or None where nothing is known of what it uses."""
        if "own_kernel" in self.said:
            return not self.said["own_kernel"]
        uses = self.said.get("uses")
        return None if uses is None else not OWN_KERNELS & set(uses)

    def against(self, opponent):
        """The result against it where that passed."""
        result = self.results.get(opponent)
        return result if result and result["verdict"] == "passed" else None


class Corpus:
    """A set: its files, and what became of them."""

    def __init__(self, path):
        self.name = os.path.basename(os.path.dirname(os.path.abspath(path)))
        with open(path) as file:
            said = json.load(file)
        self.candidates = {name: Candidate(name, each) for name, each in said.items()}

    @property
    def judged(self):
        return [each for each in self.candidates.values() if each.told() and self.can_run(each)]

    @staticmethod
    def can_run(candidate):
        return candidate.said.get("runs", True)

    def not_judged(self):
        """How many files are not in the tables, by the reason."""
        reasons = collections.Counter()
        for each in self.candidates.values():
            if not self.can_run(each):
                reasons["needs other packages"] += 1
            elif not each.told():
                verdicts = sorted({result["verdict"] for result in each.results.values()})
                reasons[" and ".join(verdicts) or "no result"] += 1
        return reasons


def read_results(paths, corpora):
    """Gives each result to the file it is of; returns how many are of no file."""
    by_name, strangers = {corpus.name: corpus for corpus in corpora}, 0
    for path in paths:
        with open(path) as lines:
            for line in lines:
                if not line.strip("\0 \n") or not line.endswith("\n"):
                    continue  # Torn by a run that was killed.
                result = json.loads(line)
                corpus = by_name.get(result["set"])
                candidate = corpus and corpus.candidates.get(result["candidate"])
                if candidate:
                    candidate.add(result)
                else:
                    strangers += result["verdict"] != "missing"
    return strangers


def tasks_with_algebra(folder):
    """The tasks that legal algebra makes cheap, by the names of the files there."""
    tasks = set()
    for path in glob.glob(os.path.join(folder, "level*_*.yaml")):
        level, problem = re.match(r"level(\d+)_0*(\d+)", os.path.basename(path)).groups()
        tasks.add(f"level{level}/{problem}")
    return tasks


def print_table(title, head, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join(["---"] * len(head)) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def listed(counter):
    return ", ".join(f"{n} {name}" for name, n in counter.most_common()) or "-"


def verdict_rows(corpora):
    for corpus in corpora:
        judged = corpus.judged
        verdicts = collections.Counter(each.verdict for each in judged)
        known = [each for each in judged if each.said_word in ("correct", "incorrect")]
        correct = sum(each.said_word == "correct" for each in known)
        cells = [share(verdicts.pop(each, 0), len(judged))
                 for each in ("passed", "wrong_values", "low_precision")]  # fmt: skip
        of = f" of {len(known)}" if known and len(known) < len(judged) else ""
        yield [corpus.name, len(judged), share(correct, len(known)) + of, *cells, listed(verdicts)]


def passed_rows(corpora, algebra):
    for corpus in corpora:
        passed = [each for each in corpus.judged if each.passed]
        n = len(passed)
        certificates = collections.Counter(each.certificate for each in passed)
        library = [each.library_only for each in passed if each.library_only is not None]
        cells = [share(certificates[each], n) for each in CERTIFICATES]
        yield [corpus.name, n, *cells, share(sum(each.task in algebra for each in passed), n),
               share(sum(library), len(library))]  # fmt: skip


def opponents_of(corpus):
    met = {opponent for each in corpus.judged for opponent in each.results}
    return [each for each in OPPONENTS if each in met] + sorted(met - set(OPPONENTS))


def above_one(result, which):
    value = result["speedup"].get(which)
    return value is not None and value > 1


def easily(candidate, algebra):
    """Where being fast may say more about the task than about the kernel."""
    return candidate.task in algebra or candidate.certificate in ("none", "trivial")


def speed_rows(corpora, algebra):
    for corpus in corpora:
        for opponent in opponents_of(corpus):
            met = [(each, each.against(opponent)) for each in corpus.judged if each.passed]
            met = [(each, result) for each, result in met if result]
            point = sum(above_one(result, "point") for _, result in met)
            sure = [each for each, result in met if above_one(result, "low")]
            wrong = sum(bool(result.get("opponent_finding")) for _, result in met)
            yield [corpus.name, opponent, len(met), share(point, len(met)),
                   share(len(sure), len(met)), sum(easily(each, algebra) for each in sure),
                   wrong]  # fmt: skip


def cross_rows(corpora, verdicts):
    """By set and for all sets: KernelBench's word, and kbench's verdicts."""
    rows = [(corpus.name, corpus.judged) for corpus in corpora]
    if len(corpora) > 1:
        rows.append(("all", [each for _, judged in rows for each in judged]))
    for name, judged in rows:
        for word in SAID:
            met = collections.Counter(each.verdict for each in judged if each.said_word == word)
            n = sum(met.values())
            if n:
                yield [name, word, n, share(met["passed"], n),
                       *(met[verdict] or "" for verdict in verdicts)]  # fmt: skip


def disagree(candidate):
    right = candidate.said_word in ("correct", "claimed correct")
    return candidate.said_word != "not known" and right != candidate.passed


def disagreement_rows(corpora):
    for corpus in corpora:
        for each in sorted(filter(disagree, corpus.judged), key=lambda each: each.name):
            said = each.said.get("status") or each.said_word
            message = each.result.get("message", "").replace("|", "\\|")
            yield [corpus.name, each.task, each.name, said, each.verdict, each.certificate, message]


def print_notes(corpora, strangers):
    for corpus in corpora:
        reasons = corpus.not_judged()
        if reasons:
            print(f"- {corpus.name}: not in the tables: {listed(reasons)}")
        differ = sum(len({result["verdict"] for result in each.told()}) > 1 for each in corpus.judged)
        if differ:
            print(f"- {corpus.name}: {differ} passed against one opponent and not against another")
    if strangers:
        print(f"- {strangers} results are of no file of these sets")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="results files")
    parser.add_argument("--said", nargs="+", required=True, metavar="SAID",
                        help="said.json of each set, in the set's folder")  # fmt: skip
    parser.add_argument("--algebra", default=os.path.join(ROOT, "levels", "algebra"),
                        help="the folder of rewritings: their tasks are told apart")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="the files on which the two disagree")
    options = parser.parse_args()
    corpora = [Corpus(path) for path in options.said]
    strangers = read_results(options.results, corpora)
    corpora = [corpus for corpus in corpora if corpus.judged]
    if not corpora:
        sys.exit("no result is of a file of these sets")
    algebra = tasks_with_algebra(options.algebra)
    print_table("Verdicts", ["set", "judged", "KernelBench: correct", "kbench: passed",
                             "wrong values", "low precision", "other"],
                verdict_rows(corpora))  # fmt: skip
    print_table("What passed", ["set", "passed", "certified in precision", "in values only", "not",
                                "trivial", "known algebra", "library calls only"],
                passed_rows(corpora, algebra))  # fmt: skip
    print_table("Faster than", ["set", "opponent", "passed", "faster", "interval above 1",
                                "of these algebra, trivial, not certified", "opponent's values off"],
                speed_rows(corpora, algebra))  # fmt: skip
    counts = collections.Counter(each.verdict for corpus in corpora for each in corpus.judged)
    verdicts = [verdict for verdict, _ in counts.most_common() if verdict != "passed"]
    print_table("KernelBench's word and kbench's verdict",
                ["set", "KernelBench", "files", "passed", *verdicts],
                cross_rows(corpora, verdicts))  # fmt: skip
    if options.list:
        print_table("Where they disagree", ["set", "task", "file", "KernelBench", "kbench",
                                            "certificate", "message"],
                    disagreement_rows(corpora))  # fmt: skip
    print()
    print_notes(corpora, strangers)


if __name__ == "__main__":
    main()
