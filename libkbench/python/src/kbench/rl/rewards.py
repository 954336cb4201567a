"""What a result is worth to a trainer. docs/training.md has the formula with its reasons."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Optional, Sequence

from ..errors import InvalidArgumentError
from ..records import Result
from ..suite import tasks

NO_REWARD = frozenset({"harness_error", "does_not_fit", "compiles"})
"""Nothing was learnt of the candidate, or (a check) it was not run."""
CHEATS = frozenset({"impossible", "interferes"})
"""Worth nothing whatever the floors are: what scores so is not trying to compute the task."""
COMPUTED = frozenset(
    {"partly_written", "not_finite", "low_precision", "wrong_values", "not_general", "race"}
)
"""Its own kernels ran to the end and computed something else. Not all_zero and not_written, which
a kernel without a body earns."""
OTHER_FAULTS = frozenset(
    {
        "missing",
        "invalid_candidate",
        "compile_error",
        "unsupported",
        "out_of_memory",
        "timeout",
        "crashed",
        "device_lost",
        "not_written",
        "all_zero",
        "input_modified",
        "out_of_bounds",
    }
)


@dataclass(frozen=True)
class RewardOptions:
    """How a result becomes a number. Everything is at least 0."""

    correct: float = 0.3
    """For what is right, before its speed."""
    speed: str = "linear"
    """What x, the speedup's lower bound, is worth: "linear", x; "log", log2(1 + x)."""
    cap: float = 10.0
    """A larger x counts as this."""
    weight: float = 1.0
    """Of the speed."""
    thresholds: Sequence[float] = ()
    """With these, in place of `speed`: the share of them that x is above, as in fast_p."""
    built: float = 0.0
    """The floor of what was built and has failed since."""
    wrong: float = 0.0
    """The floor of what ran to its end and computed something else."""
    general: str = "share"
    """At sizes drawn in secret: "share", what is above the floor counts by the share of sizes that
    it was right at; "all", only where it was right at all of them; "off"."""
    least_own_kernels: float = 0.5
    """Below this share of its time in kernels of its own it counts as wrong; 0 turns that off."""
    collapsing: float = 0.0
    """How much of the speed counts on a task that collapses."""

    def __post_init__(self) -> None:
        if not 0 <= self.built <= self.wrong <= self.correct < math.inf:
            raise InvalidArgumentError(
                "a reward needs 0 <= built <= wrong <= correct, finite, not "
                f"{self.built}, {self.wrong}, {self.correct}"
            )
        for name, low, high in (
            ("weight", 0, math.inf),
            ("cap", 0, math.inf),
            ("least_own_kernels", 0, 1),
            ("collapsing", 0, 1),
        ):
            value = getattr(self, name)
            if not low <= value <= high or math.isinf(value):
                raise InvalidArgumentError(f"{name} is {value}, not from {low} to {high}")
        if not all(0 <= each < math.inf for each in self.thresholds):
            raise InvalidArgumentError(f"thresholds {tuple(self.thresholds)} are not all >= 0")
        if self.speed not in ("linear", "log"):
            raise InvalidArgumentError(f"speed is '{self.speed}', not linear or log")
        if self.general not in ("share", "all", "off"):
            raise InvalidArgumentError(f"general is '{self.general}', not share, all or off")


@dataclass(frozen=True)
class Reward:
    """A reward and what it is made of."""

    value: float
    stage: str
    """"refused", "built", "wrong", "correct", or "cheat"."""
    speed: float = 0.0
    """What is in it for speed, before `kept`."""
    kept: float = 1.0
    """How much of what is above the floor of what is wrong the labels have left."""
    labels: tuple[str, ...] = ()
    """What has taken something away: "not_general", "few_own_kernels", "collapses"."""


def reward(result: Result, options: RewardOptions = RewardOptions()) -> Optional[float]:
    """The number a trainer learns from; None where the result says nothing of the candidate.

    None (harness_error, does_not_fit) is no zero: leave the sample out, or judge it again.
    """
    parts = explained(result, options)
    return None if parts is None else parts.value


def explained(result: Result, options: RewardOptions = RewardOptions()) -> Optional[Reward]:
    """The same with its parts."""
    if result.verdict in NO_REWARD:
        return None
    if result.correct:
        return _of_correct(result, options)
    if result.verdict in CHEATS:
        return Reward(0.0, "cheat")
    if result.verdict in COMPUTED:
        return Reward(options.wrong, "wrong")
    if result.verdict not in OTHER_FAULTS:
        raise InvalidArgumentError(f"no reward is known for verdict '{result.verdict}'")
    # Results have a lane once the candidate was built.
    return Reward(options.built, "built") if result.lane else Reward(0.0, "refused")


def _of_correct(result: Result, options: RewardOptions) -> Reward:
    labels = []
    kept = 1.0
    speed = options.weight * _speed(result.speedup.low, options)
    if result.task in _collapsing():
        speed *= options.collapsing
        labels.append("collapses")
    held = result.holds_at
    if options.general != "off" and held is not None and held.right < held.tried:
        kept = held.right / held.tried if options.general == "share" else 0.0
        labels.append("not_general")
    if result.own_kernels is not None and result.own_kernels < options.least_own_kernels:
        kept = 0.0
        labels.append("few_own_kernels")
    whole = options.correct + speed
    value = options.wrong + kept * (whole - options.wrong)
    return Reward(value, "correct", speed, kept, tuple(labels))


def _speed(low: float, options: RewardOptions) -> float:
    x = min(max(low, 0.0), options.cap)
    if options.thresholds:
        return sum(low > each for each in options.thresholds) / len(options.thresholds)
    return math.log2(1 + x) if options.speed == "log" else x


@functools.lru_cache(maxsize=None)
def _collapsing() -> frozenset[str]:
    return frozenset(task.task for task in tasks() if task.collapses)


def metrics(result: Result) -> dict[str, float]:
    """Numbers for a trainer's log; what a result does not say is left out."""
    numbers = {
        "correct": float(result.correct),
        "built": float(bool(result.lane)),
        "fast_1": float(result.correct and result.speedup.low > 1),
        "judge_seconds": result.wall_s,
    }
    if result.correct:
        numbers["speedup"] = result.speedup.point
        numbers["speedup_low"] = result.speedup.low
    if result.holds_at is not None and result.holds_at.tried > 0:
        numbers["general"] = result.holds_at.right / result.holds_at.tried
    if result.own_kernels is not None:
        numbers["own_kernels"] = result.own_kernels
    return numbers
