"""What goes into an evaluation and what comes out, as values."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union

Variable = Union[int, float, list[int]]
"""A shape variable's value."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95% confidence interval."""

    low: float = 0.0
    point: float = 0.0
    high: float = 0.0

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Interval":
        return cls(*(_number(value[name]) for name in ("low", "point", "high")))


@dataclass(frozen=True)
class Diagnostic:
    """A message about a place in a candidate's own files; line 0 means the file as a whole."""

    severity: str
    file: str
    line: int
    column: int
    message: str


@dataclass(frozen=True)
class TunedConfig:
    """One way to compile a kernel, and the device time of a run with it."""

    text: str
    ms: float


@dataclass(frozen=True)
class TunedKernel:
    """A kernel that was given in several configurations; `chosen` is the index of that judged."""

    kernel: str
    chosen: int
    configs: tuple[TunedConfig, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "TunedKernel":
        configs = tuple(TunedConfig(one["text"], _number(one["ms"])) for one in value["configs"])
        return cls(value["kernel"], value["chosen"], configs)


@dataclass(frozen=True)
class WrongAt:
    """Sizes at which a candidate that had passed does not."""

    sizes: dict[str, Variable]
    verdict: str
    message: str


@dataclass(frozen=True)
class HoldsAt:
    """What became of a candidate that passed at sizes of its task drawn in secret."""

    tried: int
    right: int
    first_wrong: Optional[WrongAt] = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "HoldsAt":
        wrong = value.get("first_wrong")
        return cls(value["tried"], value["right"], None if wrong is None else WrongAt(**wrong))


@dataclass(frozen=True)
class Workload:
    """A further size that a candidate was timed at."""

    sizes: dict[str, Variable]
    speedup: Interval
    candidate_ms: float
    baseline_ms: float


@dataclass(frozen=True)
class Workloads:
    """A candidate that passed, timed at further sizes drawn for it."""

    each: tuple[Workload, ...]
    geomean: Interval
    """Of the speedups."""
    least: Interval

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Workloads":
        each = tuple(
            Workload(
                one["sizes"],
                Interval.from_json(one["speedup"]),
                _number(one["candidate_ms"]),
                _number(one["baseline_ms"]),
            )
            for one in value["each"]
        )
        return cls(each, Interval.from_json(value["geomean"]), Interval.from_json(value["least"]))


@dataclass(frozen=True)
class SanitizerFinding:
    """What a checker of NVIDIA's compute-sanitizer found."""

    checker: str
    kernel: str
    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Sanitized:
    """How a candidate did under compute-sanitizer."""

    preset: str
    clean: tuple[str, ...]
    findings: tuple[SanitizerFinding, ...]
    unknown: tuple[str, ...]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Sanitized":
        findings = tuple(SanitizerFinding(**each) for each in value["findings"])
        return cls(value["preset"], tuple(value["clean"]), findings, tuple(value["unknown"]))


@dataclass(frozen=True)
class Result:
    """What was asked and what came out: docs/results-format.md describes every field."""

    set: str
    candidate: str
    candidate_hash: str
    task: str
    task_name: str
    preset: str
    variables: dict[str, Variable]
    device: str
    driver: str
    device_uuid: str
    software_device: bool
    baseline: str
    settings: str
    version: str
    certificate: str
    verdict: str
    message: str
    diagnostics: tuple[Diagnostic, ...]
    tuning: tuple[TunedKernel, ...]
    lane: str
    samples: int
    seed: Optional[int]
    """Of all that was drawn for it; None where nothing was."""
    failed_sample: int
    """The sample that it failed in: 1 is the warm-up; 0: none, or it passed."""
    speedup: Interval
    candidate_ms: float
    baseline_ms: float
    setup_ms: float
    max_error: float
    gbytes_per_s: float
    tflops: float
    roof_gbytes_per_s: float
    """The device's own rate of copying; 0 where the judge had not measured it."""
    roof_tflops: float
    """The device's own rate of float32 arithmetic, likewise."""
    compile_s: float
    wall_s: float
    busy: bool
    runner_served: int
    opponent: str
    opponent_finding: str
    made_for: tuple[str, ...]
    """What the candidate asks of sizes: "dim % 4 == 0"."""
    own_kernels: Optional[float]
    """The share of its time in kernels of its own; None where that is not known."""
    library_calls: tuple[str, ...]
    sanitized: Optional[Sanitized]
    """None where it was not asked for, or CUDA does not launch the candidate."""
    holds_at: Optional[HoldsAt]
    """At sizes drawn in secret; None where it was not tried."""
    workloads: Optional[Workloads]
    """At further sizes with times; None where that was not asked for."""
    stage_s: dict[str, float]
    dtype: str
    """What the task's floating tensors were stored in: "f32", "f16" or "bf16"."""
    json: dict[str, Any] = field(repr=False, compare=False)
    """As the library gave it, for results files and leaderboards."""

    @property
    def correct(self) -> bool:
        return self.verdict == "passed"

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Result":
        """Of a line of a results file, or of an answer. Fields it does not know stay in `json`."""
        # Records of earlier versions lack these, and those of f32 the dtype.
        whole: dict[str, Any] = {
            "dtype": "f32",
            "device_uuid": "",
            "certificate": "",
            "tuning": (),
            "lane": "",
            "seed": None,
            "failed_sample": 0,
            "roof_gbytes_per_s": 0.0,
            "roof_tflops": 0.0,
            "busy": False,
            "runner_served": 0,
            "opponent": "",
            "opponent_finding": "",
            "made_for": (),
            "own_kernels": None,
            "library_calls": (),
            "sanitized": None,
            "holds_at": None,
            "workloads": None,
            "stage_s": {},
            **value,
        }
        known: dict[str, Any] = {}
        for each in dataclasses.fields(cls):
            if each.name == "json":
                continue
            member = whole[each.name]
            if each.name == "speedup":
                member = Interval.from_json(member)
            elif each.name == "diagnostics":
                member = tuple(Diagnostic(**one) for one in member)
            elif each.name == "tuning":
                member = tuple(TunedKernel.from_json(one) for one in member)
            elif each.name in ("made_for", "library_calls"):
                member = tuple(member)
            elif each.name == "sanitized":
                member = None if member is None else Sanitized.from_json(member)
            elif each.name == "holds_at":
                member = None if member is None else HoldsAt.from_json(member)
            elif each.name == "workloads":
                member = None if member is None else Workloads.from_json(member)
            elif str(each.type) == "float":
                member = _number(member)
            known[each.name] = member
        return cls(**known, json=value)


@dataclass(frozen=True)
class Progress:
    """How far a measurement has come."""

    samples: int
    speedup: Interval
    seconds: float


@dataclass(frozen=True)
class Device:
    """A device of this machine. `limits`: what a shader may ask of it, where it is usable."""

    index: int
    name: str
    driver: str
    type: str
    api_version: str
    memory_bytes: int
    usable: bool
    reason: str
    limits: Optional[dict[str, Any]] = None


@dataclass(frozen=True)
class Task:
    """One task of the suite."""

    task: str
    name: str
    family: str
    tolerance: float
    trivial: str
    collapses: bool
    """Its outputs can be had for far less work: a speedup on it says little of kernels."""


@dataclass(frozen=True)
class Candidate:
    """A candidate in memory: relative path -> text or bytes, the manifest among them."""

    files: Mapping[str, Union[str, bytes]]
    manifest: str = "candidate.yaml"
    name: str = ""
    """What results call it, "set/relu.yaml"."""
    author: str = ""
    """Who wrote it: on a GPU one process may run several candidates of one author, one after
    another; empty: it has a process of its own."""


AnyCandidate = Union[str, PathLike[str], Candidate, Mapping[str, Union[str, bytes]]]
"""A path of a YAML file or a folder with candidate.yaml; or a candidate in memory, whose files
alone do where the manifest is candidate.yaml."""


@dataclass(frozen=True)
class Leaderboard:
    """Scores of candidate sets over tasks: `rows` as `kbench --json` has them."""

    rows: tuple[dict[str, Any], ...]
    text: str
    notes: str

    def __str__(self) -> str:
        return self.text + self.notes


@dataclass(frozen=True)
class Extraction:
    """What was found in a model's answer."""

    outcome: str
    """"candidate", "no_candidate", "wrong_task", "truncated", "refused" or "too_long"."""
    files: dict[str, str]
    leniencies: tuple[str, ...]
    explanation: str


@dataclass(frozen=True)
class ShownAttempt:
    """An attempt as a repair prompt shows it."""

    feedback: str
    files: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    """What is shown where there are no files."""
    outcome: str = ""
    """A verdict's or an extraction's: which hint is given."""


Messages = list[dict[str, str]]
"""[{"role": "system", "content": "..."}, ...], as servers take them."""


def _number(value: Any) -> float:
    return math.inf if value is None else float(value)


def without_none(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without members that are None, and objects that have none else."""
    kept = {}
    for name, member in value.items():
        if isinstance(member, Mapping):
            member = without_none(member) or None
        if member is not None:
            kept[name] = member
    return kept


def results_json(results: Sequence[Union[Result, Mapping[str, Any]]]) -> list[Any]:
    return [each.json if isinstance(each, Result) else dict(each) for each in results]
