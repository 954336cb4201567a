"""A `kbench serve --http`, and requests to it. KBENCH_PROGRAM is the program, KBENCH_DEVICE its
device, the software device if that is not set."""

import glob
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["KBENCH_PROGRAM"]
DEVICE = os.environ.get("KBENCH_DEVICE", "cpu")
RELU = {
    "candidate.yaml": "kbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n"
                      "dispatch:\n  - {kernel: relu, bind: [x, output],"
                      " groups: [\"ceil_div(batch_size * dim, 256)\"]}\n",
    "relu.comp": "#version 450\nlayout(local_size_x = 256) in;\n"
                 "layout(binding = 0) readonly buffer X { float x[]; };\n"
                 "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
                 "void main() {\n  uint i = gl_GlobalInvocationID.x;\n"
                 "  if (i < KB_batch_size * KB_dim) y[i] = max(x[i], 0.0);\n}\n",
}  # fmt: skip
RELU_IN_ONE = RELU["candidate.yaml"].replace("{file: relu.comp}", "\n    source: |\n" + "".join(
    f"      {line}\n" for line in RELU["relu.comp"].splitlines()))  # fmt: skip
WRONG = dict(RELU, **{"relu.comp": RELU["relu.comp"].replace("max(x[i], 0.0)", "x[i]")})
HANGS = dict(RELU, **{"relu.comp": RELU["relu.comp"].replace("uint i =", "while (x[0] < 1e30) {}\n  uint i =")})
JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
ASYNC = {**JSON, "Prefer": "respond-async"}


# For verdicts; the times do not matter.
QUICK = ["--preset", "smoke", "--measure-seconds", "0.02", "--min-samples", "2",
         "--precision", "0.9", "--other-sizes", "none"]  # fmt: skip


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()
        self.type = (response.getheader("Content-Type") or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.text)


def is_judge(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return b"judge-process" in file.read()
    except OSError:  # It has just ended.
        return False


def need_device():
    if subprocess.run([PROGRAM, "devices"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:  # fmt: skip
        if "KBENCH_REQUIRE_VULKAN" in os.environ:
            raise AssertionError("no Vulkan device")
        raise unittest.SkipTest("no Vulkan device")


class Server:
    def __init__(self, port=0, environment=None, tokens=None):
        """`tokens`: by their authors."""
        need_device()
        self.folder = tempfile.mkdtemp()
        more = []
        if tokens:
            more = ["--tokens", os.path.join(self.folder, "tokens")]
            with open(more[1], "w", encoding="ascii") as file:
                file.writelines(f"{author} {token}\n" for author, token in tokens.items())
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--http", str(port), "--device", DEVICE, *QUICK, *more],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, KBENCH_CACHE=self.folder, **(environment or {})))  # fmt: skip
        line = self.process.stderr.readline()
        found = re.search(r"http://(127\.0\.0\.1|0\.0\.0\.0):(\d+)", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.port = int(found[2])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, headers=None, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def judges(self):
        """Its judges' processes."""
        children = []
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/children"):
            with open(path, encoding="ascii") as file:
                children += file.read().split()
        return [int(child) for child in children if is_judge(child)]

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self, how=signal.SIGTERM, seconds=200):
        """Its exit code."""
        self.process.send_signal(how)
        return self.process.wait(seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
