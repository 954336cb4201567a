"""What NeMo Gym's POST /aggregate_metrics answers: statistics of the numbers in verified rows."""

from __future__ import annotations

import statistics
from typing import Any, Mapping, Sequence

from ._server import Call, Refused

TASK_INDEX = "_ng_task_index"
ROLLOUT_INDEX = "_ng_rollout_index"


def aggregate_metrics(call: Call) -> Any:
    responses = call.body.get("verify_responses")
    if not isinstance(responses, list) or not all(isinstance(one, dict) for one in responses):
        raise Refused(422, "the request lacks 'verify_responses', a list of objects")
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for each in responses:
        task = each.get(TASK_INDEX, 0)
        if not isinstance(task, int):
            raise Refused(422, f"'{TASK_INDEX}' must be an integer")
        groups.setdefault(task, []).append(each)
    whole = statistics_of(responses)
    return {
        "group_level_metrics": [
            {TASK_INDEX: task, **statistics_of(groups[task])} for task in sorted(groups)
        ],
        "agent_metrics": whole,
        "key_metrics": {name: x for name, x in whole.items() if name.startswith("mean/")},
    }


def statistics_of(responses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of each number at the top of the answers: mean/reward, max/reward, ..."""
    columns: dict[str, list[float]] = {}
    for response in responses:
        for name, value in response.items():
            if isinstance(value, (int, float)) and name not in (TASK_INDEX, ROLLOUT_INDEX):
                columns.setdefault(name, []).append(float(value))
    found = {}
    for name, values in columns.items():
        found[f"mean/{name}"] = statistics.fmean(values)
        found[f"max/{name}"] = max(values)
        found[f"min/{name}"] = min(values)
        found[f"median/{name}"] = statistics.median(values)
        found[f"std/{name}"] = statistics.stdev(values) if len(values) > 1 else 0.0
    return found
