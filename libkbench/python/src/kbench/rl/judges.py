"""What judges the candidates of an environment."""

from __future__ import annotations

import dataclasses
import queue
from typing import Protocol, Sequence

from ..errors import InvalidArgumentError
from ..options import Options, Plan
from ..records import Candidate, Result


class Judge(Protocol):
    """An Evaluator, a Client of a server elsewhere, or an object of one's own."""

    def evaluate(self, candidate: Candidate, /) -> Result: ...


class JudgePool:
    """Several judges as one: a candidate is given to one that is idle, and waits for it."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        if not judges:
            raise InvalidArgumentError("a pool needs at least one judge")
        self._idle: queue.Queue[Judge] = queue.Queue()
        for judge in judges:
            self._idle.put(judge)

    def evaluate(self, candidate: Candidate, /) -> Result:
        judge = self._idle.get()
        try:
            return judge.evaluate(candidate)
        finally:
            self._idle.put(judge)


def quick(options: Options) -> Options:
    """For the judge that tries candidates at preset smoke first: is it right? Two pairs of runs."""
    return dataclasses.replace(
        options,
        preset="smoke",
        overrides=None,
        recorded=None,
        plan=Plan(precision=1, max_seconds=0.02, min_samples=4, max_samples=4),
    )
