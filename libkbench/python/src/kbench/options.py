"""How candidates are judged: written by make_options.py, by the lists in kbench/question.h.

What is None is left to kbench."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from .records import Variable, without_none


@dataclass(frozen=True)
class Rule:
    """What makes a candidate pass, and how it is run."""

    fresh_runners: Optional[bool] = None
    """Run each candidate in a process of its own."""
    full_headers: Optional[bool] = None
    """Compile the extensions of a ModelNew with PyTorch's own headers, ten times as long."""
    other_sizes: Optional[str] = None
    """Other sizes of their task for passing candidates: none; note, whether they are right there;
    require, to pass only where they are (not_general)."""
    sanitize: Optional[str] = None
    """Run CUDA and PyTorch candidates once more, under NVIDIA's compute-sanitizer: what it finds is
    a label, or with --sanitize=fail the verdict race."""
    tolerance: Optional[str] = None
    """Rule for passing: kbench (scale-aware), or kernelbench (the original's)."""
    validate: Optional[bool] = None
    """Turn the Vulkan validation layer on; its messages fail a candidate."""
    workloads: Optional[int] = None
    """Time passing candidates at N further sizes too, drawn anew for each, between a quarter and
    the whole of the task's work; they pass only where they are right at all of them
    (not_general)."""


@dataclass(frozen=True)
class Plan:
    """When a measurement stops."""

    max_samples: Optional[int] = None
    """Samples to take at most."""
    max_seconds: Optional[float] = None
    """Device time to spend on samples (0: 2 s on a GPU, 0.25 s on a software device)."""
    min_samples: Optional[int] = None
    """Samples to take at least (0: four where they agree, else eight)."""
    precision: Optional[float] = None
    """Stop when the speedup's 95% interval is within this share of it."""
    seed: Optional[int] = None
    """Fix the secret seed of the inputs, for debugging."""
    thresholds: Optional[Sequence[float]] = None
    """Speedups that a slow candidate's interval must not contain."""


@dataclass(frozen=True)
class Limits:
    """What a candidate may use."""

    compile_seconds: Optional[float] = None
    """Compiling; six times as long for the C++ and CUDA extensions of a ModelNew."""
    device_seconds: Optional[float] = None
    """One run of its dispatch list."""
    host_bytes: Optional[int] = None
    """Memory of its runner, beyond what starting it takes."""
    total_seconds: Optional[float] = None
    """Its trial, from file to verdict; by default longer for a long --measure-seconds."""


@dataclass(frozen=True)
class Options:
    """All of it."""

    device: Optional[str] = None
    """An index, part of a name, "cpu", or "auto": the first GPU, else CPU."""
    program: Optional[str] = None
    """The kbench program; None: that of the library's installation."""
    dtype: Optional[str] = None
    """What floating tensors are stored in: f32 (the default), f16 or bf16."""
    limits: Limits = Limits()
    opponent: Optional[str] = None
    """What is timed beside the candidate: eager, kbench's own baseline; or PyTorch by a python3
    that has it: torch, torch.compile, torch.compile:MODE, best (the faster of the first two), or
    best:A,B,... (the fastest of those); torch+tf32 and so on: with PyTorch's convolutions in TF32,
    as it has them unless told."""
    overrides: Optional[Mapping[str, Variable]] = None
    """Override a shape variable; repeatable: --set height=65."""
    plan: Plan = Plan()
    preset: Optional[str] = None
    """Sizes: smoke, train, v0, v0.1 or auto (auto: the largest that fits the device; smoke on a
    software device)."""
    rule: Rule = Rule()
    recorded: Optional[Mapping[str, str]] = None
    """{"file": ..., "column": ...}: times that speedups are against."""

    def to_json(self) -> dict[str, Any]:
        """What is set."""
        return without_none(dataclasses.asdict(self))
