"""benchmarks/judged_again.py: which files it takes, of which tasks, and what its tables say."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import needs

BENCHMARKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../benchmarks")
SCRIPT = os.path.join(BENCHMARKS, "judged_again.py")
MODEL = "import torch\nclass ModelNew(torch.nn.Module):\n    pass\n"


def loaded():
    spec = importlib.util.spec_from_file_location("judged_again", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


again = loaded()


class Files:
    """A repository that is a dictionary."""

    def __init__(self, files):
        self.files = files

    def paths(self):
        return sorted(self.files)

    def text(self, path):
        return self.files[path]


def taken(kind, pattern, files, most=10):
    source = again.Source("a/b", "1234567", "v0", most, pattern, kind)
    return {found.path: (found.task, text) for found, text in again.drawn(source, Files(files))}


class Selection(unittest.TestCase):
    def test_a_path_names_the_task(self):
        wanted = {f"run/level_{level}_problem_{n}_sample_0_kernel.py": ((level, n), MODEL)
                  for level, n in ((1, 19), (3, 4))}  # fmt: skip
        files = {**dict.fromkeys(wanted, MODEL), "run/level_4_problem_1_sample_0_kernel.py": MODEL}
        self.assertEqual(taken("file", "run/" + again.NAMED, files), wanted)

    def test_a_path_without_a_level_is_of_the_first(self):
        found = taken("file", r"(?P<problem>\d+)_\w+\.py", {"94_MSELoss_hack.py": MODEL})
        self.assertEqual(found, {"94_MSELoss_hack.py": ((1, 94), MODEL)})

    def test_what_cannot_be_judged_is_not_taken(self):
        files = {"1_a.py": "import torch\n", "2_a.py": "import tilelang\n" + MODEL, "3_a.py": MODEL,
                 "4_a.py": "ModelNew = make()\n", "5_a.py": MODEL + "#" * again.MOST_BYTES,
                 "6_a.py": "# ModelNew\n"}  # fmt: skip
        self.assertEqual(set(taken("file", r"(?P<problem>\d)_a\.py", files)), {"3_a.py", "4_a.py"})

    def test_as_many_as_asked_for_are_drawn_and_always_the_same(self):
        files = {f"{n}_a.py": MODEL for n in range(100)}
        few = taken("file", r"(?P<problem>\d+)_a\.py", files, 10)
        self.assertEqual(len(few), 10)
        self.assertLessEqual(set(few), set(taken("file", r"(?P<problem>\d+)_a\.py", files, 20)))
        self.assertGreater(max(task[1] for task, _ in few.values()), 50)

    def test_files_in_lines_of_json(self):
        lines = [{"level_id": 2, "task_id": 7, "custom_code": MODEL}, {"level_id": 1, "task_id": 1,
                 "custom_code": None}]  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in lines)
        self.assertEqual(taken("lines", r"h100\.json", {"h100.json": text}),
                         {"h100.json#2/7": ((2, 7), MODEL)})  # fmt: skip

    def test_files_that_an_index_lists(self):
        index = {"Level 1: 19_ReLU": [{"file": "aa"}], "Level 2: 3_Other": [{"file": "bb"}]}
        wanted = {"x/solutions/aa.py": ((1, 19), MODEL), "x/solutions/bb.py": ((2, 3), MODEL)}
        files = {"x/data.json": json.dumps(index), **dict.fromkeys(wanted, MODEL)}
        self.assertEqual(taken("index", r"x/data\.json", files), wanted)

    def test_names_of_musa_become_those_of_cuda(self):
        text = again.cuda_of_musa(
            'from kernelbench.musa_extension import load_inline\nsource = """\n'
            "#include <musa_runtime.h>\nstatic int rows(int n) {\n  return n;\n}\n"
            "torch::Tensor relu_musa(\n    torch::Tensor x,\n    int64_t n\n) {\n  return x;\n}\n"
            '"""\next = load_inline(name="relu", cpp_sources=source,\n'
            '                  functions=["relu_musa"])\nx.to("musa")\n')  # fmt: skip
        self.assertNotIn("musa", text)
        self.assertIn("from torch.utils.cpp_extension import load_inline", text)
        self.assertIn("#include <cuda_runtime.h>", text)
        self.assertIn("cpp_sources='torch::Tensor relu_cuda( torch::Tensor x, int64_t n );', "
                      "cuda_sources=source,", text)  # fmt: skip
        compile(text, "relu.py", "exec")

    def test_every_part_of_the_list_has_files_of_all_groups(self):
        placed = again.spread([["a"] * 8, ["b"] * 4, ["c"] * 2])
        for half in (placed[:7], placed[7:]):
            self.assertEqual(sorted(half), ["a"] * 4 + ["b"] * 2 + ["c"])
        parts = [again.share_of(list(range(10)), f"{k}/3") for k in (1, 2, 3)]
        self.assertEqual(sorted(sum(parts, [])), list(range(10)))

    def test_every_source_is_at_a_commit_and_has_a_way_to_find_tasks(self):
        for source in again.SOURCES:
            self.assertRegex(source.commit, "^[0-9a-f]{7}$")
            self.assertIn(source.preset, again.PROGRAMS)
            self.assertIn(source.kind, again.KINDS)
        self.assertGreaterEqual(sum(source.most for source in again.SOURCES), 500)
        self.assertGreaterEqual(len({source.repository for source in again.SOURCES}), 6)


class Packing(unittest.TestCase):
    def test_files_and_their_programs_from_git(self):
        needs.need(shutil.which("git"), "git (Debian: git)")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder, packed = os.path.join(scratch.name, "git"), os.path.join(scratch.name, "pack")
        files = {"KernelBench/level1/94_MSELoss.py": "program = 94\n", "solutions/94_a.py": MODEL,
                 "KernelBench/level1/95_Other.py": "program = 95\n"}  # fmt: skip
        for path, text in files.items():
            again.write(os.path.join(folder, path), text)
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b",
               "-c", "init.defaultBranch=main"]  # fmt: skip
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            subprocess.run(git + command, check=True, stdout=subprocess.DEVNULL)
        sources, programs = again.SOURCES, again.PROGRAMS
        self.addCleanup(setattr, again, "SOURCES", sources)
        self.addCleanup(setattr, again, "PROGRAMS", programs)
        again.SOURCES = (
            again.Source(again.KERNELBENCH, "HEAD", "v0.1", 5, r"solutions/(?P<problem>\d+)_a\.py"),
            again.Source("not/given", "HEAD", "v0", 5, "x"))  # fmt: skip
        again.PROGRAMS = {"v0": "no commit", "v0.1": "HEAD"}
        with open(os.devnull, "w") as nowhere, unittest.mock.patch("sys.stdout", nowhere):
            again.pack(types.SimpleNamespace(pack=packed, source=[f"{again.KERNELBENCH}={folder}"]))
        only, = again.read_manifest(packed)  # fmt: skip
        self.assertEqual((only["task"], only["path"], only["preset"]),
                         ([1, 94], "solutions/94_a.py", "v0.1"))  # fmt: skip
        self.assertRegex(
            only["name"], r"^v0.1/ScalingIntelligence\+KernelBench/level_1_problem_94_\w{8}\.py$")
        with open(os.path.join(packed, only["name"])) as file:
            self.assertEqual(file.read(), MODEL)
        self.assertEqual(os.listdir(os.path.join(packed, "programs/v0.1")), ["level1_94.py"])


def entry(n, preset="v0.1", level=1, repository="a/b"):
    return {"name": f"{n}", "repository": repository, "commit": "1", "path": f"p{n}.py",
            "task": [level, n], "preset": preset}  # fmt: skip


class Tables(unittest.TestCase):
    def rows(self, said):
        """The cells of the tables of files [(entry, kbench's verdict, plain outcome)]."""
        entries = [each for each, _, _ in said]
        notes = {"38": "KernelBench's first release had another", "39": "bound by the host"}
        judged = {each["name"]: {"verdict": verdict, "message": f"m{each['name']}|x\nsecond",
                                 "diagnostics": [{"message": notes.get(each["name"], "")}]}
                  for each, verdict, _ in said if verdict}  # fmt: skip
        checked = {each["name"]: {"outcome": outcome, "reason": "", "built": ["few headers"]}
                   for each, _, outcome in said if outcome}  # fmt: skip
        text = again.tables(entries, judged, checked)
        return text, [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]

    def test_agreement_is_counted_by_repository(self):
        text, rows = self.rows([
            (entry(1), "passed", "right"), (entry(2), "wrong_values", "wrong_values"),
            (entry(3), "compile_error", "fails"), (entry(4), "wrong_values", "right"),
            (entry(5, repository="c/d", preset="v0"), "passed", "wrong_values"),
            (entry(6), "does_not_fit", "right"), (entry(7), "passed", "timeout"),
            (entry(8), "passed", None), (entry(9), None, "right")])  # fmt: skip
        self.assertTrue(text.startswith("7 of 9 files "), text)
        self.assertIn(["a/b", "v0.1", "6", "1", "2", "1", "0", "2"], rows)
        self.assertIn(["c/d", "v0", "1", "0", "0", "0", "1", "0"], rows)
        self.assertIn(["all", "", "7", "1", "2", "1", "1", "2"], rows)
        self.assertIn(["passed", "3", "1 right, 1 wrong_values, 1 timeout"], rows)
        self.assertIn("compiled with: 7 few headers", text)

    def test_every_disagreement_has_a_line(self):
        text, rows = self.rows([(entry(4), "wrong_values", "right"),
                                (entry(5), "passed", "wrong_shape")])  # fmt: skip
        self.assertIn("## Refused, plainly right: 1\n", text)
        self.assertIn(["a/b", "p4.py", "1/4, v0.1", "right", "wrong_values", "m4\\|x", ""], rows)
        self.assertIn(["a/b", "p5.py", "1/5, v0.1", "wrong_shape", "passed", "m5\\|x", ""], rows)

    def test_what_is_known_of_a_disagreement_is_said(self):
        _, rows = self.rows([(entry(38, "v0"), "wrong_values", "right"),
                             (entry(39, "v0"), "wrong_values", "right"),
                             (entry(3), "low_precision", "right"),
                             (entry(2), "input_modified", "right"),
                             (entry(9), "input_modified", "fails")])  # fmt: skip
        causes = {(row[2], row[-1]) for row in rows if row[0] == "a/b" and row[1].startswith("p")}
        self.assertEqual(causes, {
            ("1/38, v0", "KernelBench's first release had another"), ("1/39, v0", ""),
            ("1/3, v0.1", "less than float32's precision, within KernelBench's tolerance"),
            ("1/2, v0.1", "it writes to its inputs, which the plain check does not look at"),
        })  # fmt: skip


class Running(unittest.TestCase):
    """With programs in place of kbench and of python3 with PyTorch."""

    KBENCH = """import json, sys
names = [each for each in sys.argv[2:] if each.endswith(".py")]
with open(sys.argv[sys.argv.index("--output") + 1], "a") as to:
    for name in names:
        to.write(json.dumps({"candidate": name, "verdict": "passed", "preset":
                 sys.argv[sys.argv.index("--preset") + 1]}) + "\\n")
    if "v0.1" in sys.argv:
        to.write('{"candidate": "torn')
"""
    PYTHON = """import json, sys
with open(sys.argv[2]) as files, open(sys.argv[4], "a") as to:
    for line in map(json.loads, files):
        to.write(json.dumps({"name": line["name"], "outcome": "right",
                             "reason": str(line["tolerance"])}) + "\\n")
"""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        entries = [dict(entry(n, preset), name=f"{preset}/{n}.py") for n, preset in
                   ((1, "v0"), (2, "v0.1"), (3, "v0.1"), (4, "v0.1"))]  # fmt: skip
        again.write(self.path("pack/manifest.jsonl"),
                    "".join(json.dumps(each) + "\n" for each in entries))  # fmt: skip
        for name, text in (("kbench", self.KBENCH), ("python", self.PYTHON)):
            again.write(self.path(name), f"#!{sys.executable}\n{text}")
            os.chmod(self.path(name), 0o700)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_script(self, out, *arguments):
        command = [sys.executable, "-W", "error", SCRIPT, "run", self.path("pack"), self.path(out),
                   "--kbench", self.path("kbench"), "--python", self.path("python"), *arguments]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        judged, checked = again.read_results([self.path(out)])
        return set(judged), set(checked), ran.stdout

    def test_a_share_is_judged_by_both_and_the_rest_later(self):
        judged, checked, _ = self.run_script("one", "--share", "1/2")
        self.assertEqual((judged, checked), ({"v0/1.py", "v0.1/3.py"},) * 2)
        judged, checked, text = self.run_script("two", "--earlier", self.path("one"))
        self.assertEqual((judged, checked), ({"v0.1/2.py", "v0.1/4.py"},) * 2)
        self.assertIn("4 of 4 files ", text)
        _, checked, text = self.run_script("three", "--kbench-seconds", "0")
        self.assertEqual(len(checked), 4)
        with open(self.path("three/plain.jsonl")) as lines:
            self.assertIn('"v0/1.py", "outcome": "right", "reason": "0.01"', lines.read())

    def test_a_program_that_goes_on_is_ended(self):
        again.write(self.path("kbench"), f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
        judged, _, text = self.run_script("one", "--kbench-seconds", "0.5", "--plain-seconds", "0")
        self.assertEqual(judged, set())
        self.assertIn("kbench, preset v0.1: 3 files to do", text)


if __name__ == "__main__":
    unittest.main()
