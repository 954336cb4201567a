"""For worker processes of dask and its like: an evaluation as a function that is sent by its name,
and whose judge stays from one call to the next."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from typing import Optional

from .evaluating import Evaluator, Stop
from .options import Options
from .records import AnyCandidate, Result

_lock = threading.Lock()
_evaluators: dict[str, Evaluator] = {}


def evaluate(
    candidate: AnyCandidate,
    options: Options = Options(),
    *,
    check: bool = False,
    stop: Optional[Stop] = None,
) -> Result:
    """As Evaluator.evaluate(), or check(), with an evaluator that this process keeps.

    Where the options name no device it is the worker's own: KBENCH_DEVICE in its environment, or
    the first GPU of CUDA_VISIBLE_DEVICES where that is a UUID ("GPU-..."; numbers there are
    CUDA's, not kbench's).
    """
    if options.device is None:
        options = replace(options, device=_device())
    evaluator = _evaluator(options)
    return evaluator.check(candidate, stop) if check else evaluator.evaluate(candidate, stop)


def _device() -> Optional[str]:
    named = os.environ.get("KBENCH_DEVICE")
    if named:
        return named
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    return first if first.startswith("GPU-") else None


def _evaluator(options: Options) -> Evaluator:
    """One for all evaluations with these options; a fork has its own judges."""
    key = json.dumps(options.to_json(), sort_keys=True)
    with _lock:
        if key not in _evaluators:
            _evaluators[key] = Evaluator(options)
        return _evaluators[key]
