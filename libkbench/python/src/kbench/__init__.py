"""kbench: judges GPU kernels that machines wrote.

    with kbench.Evaluator(kbench.Options(preset="smoke")) as evaluator:
        result = evaluator.evaluate("relu.yaml")
        print(result.verdict, result.speedup.point)

Everything may be called from any thread; an Evaluator evaluates one candidate at a time.
"""

from ._version import __version__
from .client import Client, Evaluation, Health
from .errors import (
    Cancelled,
    DeviceLostError,
    Error,
    InvalidArgumentError,
    IoError,
    NoAnswerError,
    NotFoundError,
    OutOfMemoryError,
    ParseError,
    ShapeError,
    UnsupportedError,
)
from .evaluating import Evaluator, Stop, check, devices, evaluate, read_candidate
from .options import Limits, Options, Plan, Rule
from .records import (
    AnyCandidate,
    Candidate,
    Device,
    Diagnostic,
    Extraction,
    HoldsAt,
    Interval,
    Leaderboard,
    Messages,
    Progress,
    Result,
    ShownAttempt,
    Task,
    Variable,
    Workload,
    Workloads,
    WrongAt,
)
from .suite import (
    built_in_candidate,
    describe,
    extract,
    facts,
    feedback,
    leaderboard,
    prompt,
    tasks,
    verdicts,
    version,
)

__all__ = [
    "AnyCandidate",
    "Cancelled",
    "Candidate",
    "Client",
    "Device",
    "DeviceLostError",
    "Diagnostic",
    "Error",
    "Evaluation",
    "Evaluator",
    "Extraction",
    "Health",
    "HoldsAt",
    "Interval",
    "InvalidArgumentError",
    "IoError",
    "Leaderboard",
    "Limits",
    "Messages",
    "NoAnswerError",
    "NotFoundError",
    "Options",
    "OutOfMemoryError",
    "ParseError",
    "Plan",
    "Progress",
    "Result",
    "Rule",
    "ShapeError",
    "ShownAttempt",
    "Stop",
    "Task",
    "UnsupportedError",
    "Variable",
    "Workload",
    "Workloads",
    "WrongAt",
    "__version__",
    "built_in_candidate",
    "check",
    "describe",
    "devices",
    "evaluate",
    "extract",
    "facts",
    "feedback",
    "leaderboard",
    "prompt",
    "read_candidate",
    "tasks",
    "verdicts",
    "version",
]
