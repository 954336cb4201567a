"""A resources server of NVIDIA NeMo Gym: kernels judged and rewarded, in one turn or several.

    python3 -m kbench.adapters.nemo_gym --tasks 'level1/*' --port 8700
    python3 -m kbench.adapters.nemo_gym --tasks 'level1/*' --rows rows.jsonl

The first serves /seed_session and /verify for the agent `simple_agent`, and /reset, /step and
/close for `gymnasium_agent`; the second writes the rows of a data set, prompts in them, for both.

The form follows github.com/NVIDIA-NeMo/Gym at 07d6b0d07b22fcf530b4c211dae2ee23100428e4:
nemo_gym/base_resources_server.py, nemo_gym/judge.py, nemo_gym/config_types.py (aggregate metrics),
resources_servers/gymnasium/base.py, responses_api_agents/{simple,gymnasium}_agent/app.py.
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import Any, Mapping, Optional, Sequence, Tuple

from ..rl import Answer, Environment, Step
from ._gym_metrics import aggregate_metrics
from ._server import Call, JsonServer, Refused
from ._sessions import Sessions
from ._setup import Setup, flags, run, serve

COOKIE = "kbench_session"
SAID = "output_text"
FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def answer_of(response: Any) -> Answer:
    """The last message of the model's in a response of the Responses API."""
    output = response.get("output") if isinstance(response, dict) else None
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        raise Refused(422, "the request lacks 'response' with 'output', a list of objects")
    incomplete = response.get("incomplete_details")
    reason = incomplete.get("reason") if isinstance(incomplete, dict) else None
    finish = FINISH.get(str(reason), "stop")
    for item in reversed(output):
        if item.get("type") != "message" or item.get("role") != "assistant":
            continue
        parts = item.get("content")
        if isinstance(parts, str):
            return Answer(parts, finish)
        if not isinstance(parts, list) or not all(isinstance(each, dict) for each in parts):
            raise Refused(422, "a message's 'content' is neither text nor a list of objects")
        text = "".join(str(each.get("text", "")) for each in parts if each.get("type") == SAID)
        refused = not text and any(each.get("type") == "refusal" for each in parts)
        return Answer(text, "refusal" if refused else finish)
    return Answer("", finish)


def task_of(body: Mapping[str, Any]) -> str:
    about = body.get("verifier_metadata")
    task = about.get("task") if isinstance(about, dict) else None
    if not isinstance(task, str):
        raise Refused(422, "the row lacks verifier_metadata.task")
    return task


def facts_of(step: Step) -> dict[str, Any]:
    """What else an answer bears; its numbers are taken into Gym's metrics."""
    assert step.outcome is not None
    return {
        "verdict": step.outcome.result.verdict,
        "outcome": step.outcome.outcome,
        "feedback": step.outcome.feedback,
        **step.metrics,
    }


class Gym:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._sessions: Sessions[Tuple[Environment, list[float]]] = Sessions()  # rewards so far

    def seed_session(self, call: Call) -> Any:
        return {}  # /verify needs none

    def verify(self, call: Call) -> Any:
        answer = answer_of(call.body.get("response"))
        environment = self._setup.environment()
        environment.reset(task_of(call.body))
        step = environment.step(answer)
        if step.reward is not None:
            return {**call.body, **facts_of(step), "reward": step.reward}
        # Gym puts a row of this class aside, and neither learns from it nor counts it.
        why = step.result.message if step.result is not None else "not judged"
        failed = {"_ng_failure_class": "judge_failed", "_ng_failure_judge_error": why}
        return {**call.body, "reward": 0.0, **failed}

    def reset(self, call: Call) -> Any:
        environment = self._setup.environment()
        environment.reset(task_of(call.body))
        name = uuid.uuid4().hex
        self._sessions.put(name, (environment, []))
        call.set_cookies[COOKIE] = name
        # The row's own input asks the first question.
        return {"observation": None, "info": {"supports_explicit_close": True}}

    def step(self, call: Call) -> Any:
        answer = answer_of(call.body.get("response"))
        name = call.cookies.get(COOKIE)
        with self._sessions.used(name) as (environment, rewards):
            step = environment.step(answer)
        if step.reward is None:  # The rollout fails then, and is no sample.
            raise Refused(503, "the candidate could not be judged; its reward is not known")
        # Gym adds the rewards up: so the sum is the best attempt's.
        best = max(rewards, default=0.0)
        rewards.append(step.reward)
        if step.done:
            self._sessions.drop(name)
        return {
            "observation": None if step.done else step.messages[-1]["content"],
            "reward": max(step.reward - best, 0.0),
            "terminated": step.done,
            "truncated": False,
            "info": facts_of(step),
        }

    def close(self, call: Call) -> Any:
        self._sessions.drop(call.cookies.get(COOKIE))
        return {}

    def routes(self) -> dict[Tuple[str, str], Any]:
        return {
            ("GET", "/"): lambda call: {"status": "ok"},
            ("GET", "/reverify_mode"): lambda call: "stateless",
            ("POST", "/seed_session"): self.seed_session,
            ("POST", "/verify"): self.verify,
            ("POST", "/reset"): self.reset,
            ("POST", "/step"): self.step,
            ("POST", "/close"): self.close,
            ("POST", "/aggregate_metrics"): aggregate_metrics,
        }


def rows(setup: Setup, agent: str) -> list[dict[str, Any]]:
    return [
        {
            "responses_create_params": {"input": setup.environment().reset(task)},
            "verifier_metadata": {"task": task},
            "agent_ref": {"type": "responses_api_agents", "name": agent},
        }
        for task in setup.tasks
    ]


def server(setup: Setup, host: str = "127.0.0.1", port: int = 8700) -> JsonServer:
    return JsonServer(host, port, Gym(setup).routes())


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = flags("a resources server of NVIDIA NeMo Gym", 8700)
    parser.add_argument("--rows", help="write a data set to this file, and end")
    parser.add_argument("--agent", default="kbench_agent", help="whom its rows name")
    given = parser.parse_args(arguments)
    if not given.rows:
        return serve(parser, given, server)

    def write(setup: Setup) -> None:
        with open(given.rows, "w", encoding="utf-8") as file:
            for row in rows(setup, given.agent):
                file.write(json.dumps(row) + "\n")

    return run(parser, given, write)


if __name__ == "__main__":
    sys.exit(main())
