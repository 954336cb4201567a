"""Runs what the documentation shows: candidates, commands, tables of verdicts, programs in Python.

KBENCH_PROGRAM is the program, and kbench-dev lies beside it. What takes more than a device that tests run on (memory for preset
v0.1, a GPU, another project's files) is in LEFT_OUT with its reason, or runs at smaller sizes.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import pages

PROGRAM = os.environ["KBENCH_PROGRAM"]
QUICK = " --measure-seconds 0.05 --other-sizes none"

# Commands that are run with changes: text in the page, text in its place.
CHANGED = {
    "docs/cluster.md": [("v0.1", "smoke"), ("--output", "--task 1/19 --output")],
    "docs/baseline.md": [("v0.1", "smoke --task 1/19,1/23"), ("torch.json", "recorded.json"),
                         ("h200.json --against", "h200.json --task 1/19 --against")],
    "docs/certificate.md": [(" levels/", " out/"), ("--out ", "--task level1/19 --out ")],
    "docs/golden.md": [("smoke.json.zst", "smoke.json.zst --task 1/19,2/76")],
    "docs/models.md": [("1/19,1/23,1/26 --samples 4", "1/19,1/23 --samples 2")],
    "docs/prompts.md": [("my-prompts/", "default")],
    "README.md": [("--fast-p 1.0", "--fast-p 1.0 --task 1/19"), ("--samples 10 --attempts 5",
                  "--samples 1 --attempts 2"), ("level1/*", "1/19")],
}  # fmt: skip
# Commands that are not run, by a part of them.
LEFT_OUT = {
    "--preset v0.1 --backend vulkan": "memory for preset v0.1",
    "report results/shard": "what a Slurm job leaves; tests/slurm has it",
    "report RUN...": "a synopsis",
    "cuda fused --task 1/19": "an NVIDIA GPU",
    "model extract answer.md": "run in test_answer",
    "torch_f16.json": "times that PyTorch takes on a GPU",
}
VERBS_WITH_SAMPLES = ("run", "diagnose", "--fast-p", "--candidates", "serve", "generate")
# 1 of audit: something passes that should not; of diagnose: the candidate does not pass.
EXIT_CODES = {"audit": (0, 1), "diagnose": (0, 1), "task": (0, 1)}


def blocks(page, language):
    return [b for b in pages.split(page)[1] if b.language == language]


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        bin_folder = os.path.join(cls.folder, "bin")
        os.mkdir(bin_folder)
        for name in ("kbench", "kbench-dev"):
            beside = os.path.join(os.path.dirname(os.path.abspath(PROGRAM)), name)
            os.symlink(beside, os.path.join(bin_folder, name))
        cls.environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}",
                               KBENCH_CACHE=os.path.join(cls.folder, "cache"))  # fmt: skip
        cls.environment["KBENCH_PROGRAM"] = os.path.join(bin_folder, "kbench")
        (relu,) = blocks("README.md", "yaml")
        cls.relu = relu.text
        if subprocess.run([PROGRAM, "devices"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0:  # fmt: skip
            if "KBENCH_REQUIRE_VULKAN" in os.environ:
                raise AssertionError("no Vulkan device")
            raise unittest.SkipTest("no Vulkan device")

    def write(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_line(self, line, codes=(0,)):
        ran = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=200)  # fmt: skip
        self.assertIn(ran.returncode, codes, f"{line}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
        return ran.stdout

    def verdict_of(self, verb, path):
        """By `verb`, of a candidate below the scratch folder."""
        said = self.run_line(f"kbench {verb} {path} --preset smoke --json" +
                             (QUICK if verb == "run" else ""), (0, 1))  # fmt: skip
        found = re.search(r'"verdict": *"(\w+)"', said)
        self.assertTrue(found, said)
        return found[1], said

    # Candidates

    def check(self, where, files, manifest):
        """The candidate compiles; where the device does not take its language it is unsupported."""
        folder = f"check/{re.sub(r'[^a-z0-9]', '-', where)}"
        for name, text in files.items():
            self.write(f"{folder}/{name}", text)
        verdict, said = self.verdict_of("run --check", f"{folder}/{manifest}")
        others = re.search(r"\.cu\b|\.py\b|language: (cuda|triton)", files[manifest])
        wanted = ("compiles", "unsupported") if others else ("compiles",)
        self.assertIn(verdict, wanted, f"{where}: {said}")

    def test_candidates_compile(self):
        checked = 0
        for page in pages.pages():
            files = {}
            for block in pages.split(page)[1]:
                if block.name:
                    files[block.name] = block.text
                if block.language != "yaml" or not block.text.startswith("kbench: 1"):
                    continue
                manifest = block.name or "candidate.yaml"
                later = {b.name: b.text for b in pages.split(page)[1]
                         if b.name and b.line > block.line and b.language != "yaml"}  # fmt: skip
                given = {**later, **files, manifest: block.text}
                named = re.findall(r"file: ([\w./]+)", block.text)
                if not all(os.path.basename(name) in map(os.path.basename, given) for name in named):
                    self.assertEqual(page, "docs/porting.md", f"{block.line}: {named}")
                    continue  # other projects' files
                here = {os.path.basename(name): text for name, text in given.items()}
                self.check(f"{page}:{block.line}", here, os.path.basename(manifest))
                checked += 1
        self.assertGreaterEqual(checked, 8)

    def test_parts_of_manifests_fit(self):
        """Those that are complete at the top level, put around the README's kernel."""
        steps = "dispatch:" + self.relu.split("dispatch:")[1]
        kernels = "kernels:" + self.relu.split("kernels:")[1].split("dispatch:")[0]
        seen = []
        for page in ("docs/candidate-reference.md", "docs/porting.md"):
            for block in blocks(page, "yaml"):
                key = re.match(r"\w+", block.text)
                text, where = block.text, f"{page}:{block.line}"
                head = "kbench: 1\ntask: level1/19\n"
                if not key or key[0] not in ("constants", "defines", "data"):
                    continue
                if key[0] == "constants":  # of a task with one large extent
                    softmax = "dispatch:\n  - {op: softmax, in: x, out: output, attributes: {axis: 1}}\n"
                    text = f"kbench: 1\ntask: level1/23\n{text}{softmax}"
                else:
                    names = "x, output" + (", meta, strides" if key[0] == "data" else "")
                    text = head + text + kernels + steps.replace("x, output", names)
                self.check(where, {"candidate.yaml": text}, "candidate.yaml")
                seen.append(key[0])
        self.assertEqual(sorted(seen), ["constants", "data", "defines"])

    def test_tutorials_changes_have_their_verdicts(self):
        page = "docs/tutorial.md"
        files = {b.name: b.text for b in pages.split(page)[1] if b.name}
        tried = 0
        for _, line in pages.split(page)[0]:
            row = re.match(r"(?:\| |- )`(.+?)`(?: with `(#extension [^`]*)`)?(?: \| |: )`(\w+)`", line)
            if not row or row[3] not in ("wrong_values", "all_zero", "partly_written", "not_finite",
                                         "invalid_candidate"):  # fmt: skip
                continue
            begin = re.match(r"[^ (]+", row[1])[0]
            changed, hits = {}, 0
            for name, text in files.items():
                lines = text.split("\n")
                for i, old in enumerate(lines):
                    if old.strip().startswith(begin):
                        lines[i] = old[: len(old) - len(old.lstrip())] + row[1]
                        hits += 1
                changed[name] = "\n".join(lines)
            self.assertEqual(hits, 1, row[1])
            for name, text in changed.items():
                self.write(f"broken/{tried}/{os.path.basename(name)}", text)
            verdict, _ = self.verdict_of("run", f"broken/{tried}/relu.yaml")
            self.assertEqual(verdict, row[3], row[1])
            tried += 1
        self.assertGreaterEqual(tried, 5)

    # Commands

    def commands_of(self, page):
        """Runs the page's commands in order; returns how many."""
        count = 0
        for of, _, command in pages.commands():
            if of != page or any(part in command for part in LEFT_OUT):
                continue
            line = command
            for old, new in CHANGED.get(page, ()):
                line = line.replace(old, new)
            verb = line.split()[1]
            if verb in VERBS_WITH_SAMPLES and "--dry-run" not in line:
                before, mark, behind = line.partition(" < ")
                line = before + QUICK + mark + behind
            codes = EXIT_CODES.get(verb, (0,))
            needs_torch = (page == "docs/modelnew.md" or "--language torch" in line or
                           "from-pytorch" in line)  # fmt: skip
            if needs_torch and "KBENCH_REQUIRE_TORCH" not in os.environ:
                codes = (0, 1, 2)  # Without PyTorch it is unsupported, or refused.
            self.run_line(line, codes)
            count += 1
        return count

    def make_folders(self):
        for name in ("my", "mine"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        self.write("my/relu.yaml", self.relu)
        for block in (pages.split("docs/tutorial.md")[1] + pages.split("docs/modelnew.md")[1] +
                      pages.split("docs/tasks.md")[1]):
            if block.name:
                self.write(block.name, block.text)
        shutil.rmtree(os.path.join(self.folder, "tests"), ignore_errors=True)
        os.makedirs(os.path.join(self.folder, "tests"))
        os.symlink(os.path.join(pages.ROOT, "tests/golden"), os.path.join(self.folder, "tests/golden"))
        self.write("out/certificates/none", "")
        self.write("recorded.json", '{"preset": "smoke", "tasks": {"1/19": {"eager_ms": 1.0}}}')

    def test_every_verb_and_flag_exists(self):
        helps = {}
        for page, line, command in pages.commands():
            words = command.split()
            verb = " ".join(words[: 1 if words[1].startswith("-") else 2])
            if words[1] == "model":
                verb += " " + words[2]
            if verb not in helps:
                helps[verb] = self.run_line(f"{verb} --help")
            for flag in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*)", command):
                self.assertRegex(helps[verb], rf"{flag}\b", f"{page}:{line}: {command}")

    def test_commands_of_the_tutorials(self):
        self.make_folders()
        self.assertGreaterEqual(self.commands_of("docs/tutorial.md"), 9)
        self.assertGreaterEqual(self.commands_of("docs/tutorial-cuda.md"), 3)

    def test_commands_of_other_pages(self):
        self.make_folders()
        run = {page for page, _, _ in pages.commands() if not page.startswith("docs/results/")}
        run -= {"README.md", "docs/tutorial.md", "docs/tutorial-cuda.md", "docs/models.md",
                "docs/kernelbench.md", "docs/metrics.md", "docs/serve.md", "docs/prompts.md",
                "docs/feedback.md"}  # fmt: skip
        for page in sorted(run):
            self.assertGreater(self.commands_of(page), 0, page)

    def test_feedback_names_the_mistake(self):
        self.write("relu.yaml", self.relu.replace("max(x[i], 0.0)", "x[i]"))
        (command,) = [c for page, _, c in pages.commands() if page == "docs/feedback.md"]
        said = self.run_line(command, (0, 1))
        shown = "The output is exactly that of the task with one change: without relu."
        self.assertIn(shown, said)
        self.assertIn(shown, pages.read("docs/feedback.md"))

    def test_serve_and_results(self):
        self.make_folders()
        (lines,) = blocks("docs/serve.md", "json")
        first = lines.text.split("\n")[0]
        self.write("experiments.jsonl", first.replace("0.5", "0.05") + "\n")
        self.commands_of("docs/serve.md")
        with open(os.path.join(self.folder, "results.jsonl"), encoding="utf-8") as file:
            answers = [json.loads(line) for line in file]
        self.assertEqual([(a["id"], a["result"]["verdict"]) for a in answers], [(1, "passed")])

        self.write("results.jsonl", json.dumps(answers[0]["result"]) + "\n")
        self.assertGreater(self.commands_of("docs/prompts.md"), 4)
        if shutil.which("jq"):
            (query,) = [b for b in pages.split("docs/results-format.md")[1] if "jq" in b.text]
            self.assertIn("level1/19", self.run_line(query.text))

        (program,) = blocks("docs/serve.md", "python")
        self.write("client.py", f"candidates = [{self.relu!r}]\n{program.text}")
        self.assertEqual(self.run_line(f"{sys.executable} client.py"), "0 passed\n")

    # Language models

    def serve_model(self, answer):
        """A server that answers every request so; returns its address."""

        class Server(http.server.BaseHTTPRequestHandler):
            def reply(self, document):
                body = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.reply({"object": "list", "data": [{"id": "some/model-id"}]})

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                message = {"role": "assistant", "content": answer}
                self.reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                            "usage": {"prompt_tokens": 9, "completion_tokens": 9}})  # fmt: skip

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/v1"

    def test_models(self):
        self.make_folders()
        url = self.serve_model(f"```yaml\n{self.relu}```\n")
        models = blocks("docs/models.md", "yaml")[0]
        self.assertIn("http://127.0.0.1:8000/v1", models.text)
        self.write("models.yaml", models.text.replace("http://127.0.0.1:8000/v1", url))
        self.assertGreaterEqual(self.commands_of("docs/models.md"), 6)
        shutil.rmtree(os.path.join(self.folder, "my"))
        self.assertGreaterEqual(self.commands_of("README.md"), 5)
        for page in ("first.html", "report.html"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, page)))

    def test_answer(self):
        (answer,) = [b for b in pages.split("docs/prompts.md")[1] if b.text.startswith("```")]
        self.write("answer.md", answer.text)
        (command,) = [c for page, _, c in pages.commands()
                      if page == "docs/prompts.md" and "extract" in c]  # fmt: skip
        self.run_line(command.replace("my/relu", "extracted"))
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "extracted"))),
                         ["candidate.yaml", "relu.comp"])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
