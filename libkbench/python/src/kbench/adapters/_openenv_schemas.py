"""What OpenEnv's GET /schema answers: JSON schemas of actions, observations and states."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
OBJECT = {"type": "object", "additionalProperties": True}
SCHEMAS: dict[str, Any] = {
    "action": {
        "type": "object",
        "additionalProperties": False,
        "required": ["text"],
        "properties": {
            "text": {**TEXT, "description": "The model's answer, with a candidate in it"},
            "finish": {**TEXT, "default": "stop", "description": "Why it ended: stop, length"},
            "metadata": OBJECT,
        },
    },
    "observation": {
        "type": "object",
        "properties": {
            "episode_id": TEXT,
            "task": TEXT,
            "messages": {"type": "array", "description": "What the model is to be asked"},
            "counted": {"type": "boolean", "description": "False: hand the answer in again"},
            "ending": {"type": ["string", "null"]},
            "outcome": {"type": ["string", "null"]},
            "verdict": {"type": ["string", "null"]},
            "feedback": TEXT,
            "metrics": {"type": "object", "additionalProperties": {"type": "number"}},
        },
    },
    "state": {
        "type": "object",
        "properties": {"episode_id": {"type": ["string", "null"]}, "step_count": {"type": "integer"}},
    },
}
ACTION_MEMBERS = frozenset(SCHEMAS["action"]["properties"])
