"""Results and judges by script, and answers of a model's, for tests that need no device."""

from __future__ import annotations

import threading
from typing import Any, Optional

import kbench

ANSWER = """```yaml
kbench: 1
task: level1/19
kernels:
  relu: {file: relu.comp}
dispatch:
  - {kernel: relu, bind: [x, output], groups: ["ceil_div(batch_size * dim, 256)"]}
```

```glsl relu.comp
#version 450
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < KB_batch_size * KB_dim) y[i] = max(x[i], LEAST);
}
```
"""
RIGHT = ANSWER.replace("LEAST", "0.0")
WRONG = ANSWER.replace("LEAST", "0.5")


def result(
    verdict: str, low: float = 0.0, task: str = "level1/19", preset: str = "smoke", **more: Any
) -> kbench.Result:
    """As kbench gives it; of what passed, with a speedup of at least `low`."""
    passed = verdict == "passed"
    value: dict[str, Any] = {
        "set": "",
        "candidate": "candidate.yaml",
        "candidate_hash": "0" * 64,
        "task": task,
        "task_name": "ReLU",
        "preset": preset,
        "variables": {},
        "device": "a scripted device",
        "driver": "1",
        "device_uuid": "",
        "software_device": False,
        "baseline": "eager",
        "settings": "",
        "version": kbench.__version__,
        "certificate": "",
        "verdict": verdict,
        "message": "" if passed else f"scripted: {verdict}",
        "diagnostics": [],
        "tuning": [],
        "lane": "vulkan",
        "samples": 8 if passed else 0,
        "speedup": {"low": low, "point": low, "high": low},
        "candidate_ms": 1.0 if passed else 0.0,
        "baseline_ms": low if passed else 0.0,
        "setup_ms": 0.0,
        "max_error": 0.0,
        "gbytes_per_s": 0.0,
        "tflops": 0.0,
        "compile_s": 0.1,
        "wall_s": 0.2,
        "busy": False,
        "runner_served": 0,
        "opponent": "",
        "opponent_finding": "",
        "stage_s": {},
        **more,
    }
    return kbench.Result.from_json(value)


class ScriptedJudge:
    """Passes ReLU's right kernel with `speedup`; before that it answers with `first`'s verdicts."""

    def __init__(self, speedup: float = 2.0, first: tuple[str, ...] = (), **more: Any) -> None:
        self.speedup = speedup
        self.first = list(first)
        self.more = more
        self.judged: list[kbench.Candidate] = []
        self.threads: set[int] = set()
        self.raises: Optional[Exception] = None

    def evaluate(self, candidate: kbench.Candidate, /) -> kbench.Result:
        self.judged.append(candidate)
        self.threads.add(threading.get_ident())
        if self.raises is not None:
            raise self.raises
        task = str(candidate.files["candidate.yaml"]).split("task: ")[1].split()[0]
        if self.first:
            return result(self.first.pop(0), task=task, **self.more)
        shader = str(candidate.files["relu.comp"])
        verdict = "passed" if "0.0" in shader else "wrong_values"
        return result(verdict, self.speedup * (verdict == "passed"), task, **self.more)
