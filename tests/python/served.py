"""What tests on the CPU device share: `kbench serve --http`, a task and a candidate."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Optional

import kbench
import needs

PROGRAM = os.environ.get("KBENCH_PROGRAM", "kbench")
CANDIDATES = Path(os.environ.get("KBENCH_CANDIDATES", "harness/candidates"))
QUICK = kbench.Options(
    preset="smoke",
    rule=kbench.Rule(other_sizes="none"),
    plan=kbench.Plan(max_seconds=0.05, min_samples=4),
)
RELU = CANDIDATES / "simple" / "level1_019_relu.yaml"
OWN_TASK = """
kbench_task: 1
name: client/scale
title: Doubled
variables: {rows: {smoke: 6, v0.1: 4096}}
inputs:
  x: {shape: [rows, 8]}
operators:
  - {op: mul_scalar, in: x, out: y, attributes: {value: 2.0}}
outputs: y
"""
DOUBLED = """
kbench: 1
task: client/scale
dispatch:
  - {op: mul_scalar, in: x, out: output, attributes: {value: 2.0}}
"""


def expect_installed(program: str, package: str) -> str:
    """Where it is; skips where it is not."""
    found = shutil.which(program)
    needs.need(found, f"{program} (Debian: {package})")
    assert found is not None
    return found


class Served:
    """A server at `url`, until it is ended."""

    def __init__(self, port: int = 0, token: Optional[str] = None) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "KBENCH_SERVE_TOKEN"}
        if token is not None:
            environment["KBENCH_SERVE_TOKEN"] = token
        command = [PROGRAM, "serve", "--http", str(port), "--device", "cpu", "--preset", "smoke"]
        self.process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            found = re.search(r"serves at (http://\S+:(\d+))", line)
            if found:
                self.url, self.port = found[1], int(found[2])
                return
        raise AssertionError(f"kbench serve --http said {said}")

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        try:
            self.process.wait(120)
        finally:
            self.process.kill()
            self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
