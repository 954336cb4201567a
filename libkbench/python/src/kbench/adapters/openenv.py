"""An environment server of OpenEnv: episodes over /ws, and over /reset and /step.

    python3 -m kbench.adapters.openenv --tasks 'level1/*' --attempts 4 --port 8000

    env = GenericEnvClient(base_url="http://localhost:8000")          # OpenEnv's own client
    result = await env.reset(task="level1/19")                        # or seed=7
    result = await env.step({"text": my_model(result.observation["messages"])})

The form follows github.com/meta-pytorch/OpenEnv at 685de411e5f77286b0fd94798d42c4467cf8a1bc:
src/openenv/core/env_server/types.py, http_server.py and serialization.py, and core/env_client.py.
Plain HTTP has no session there; here `episode_id`, in an observation and then in a step's request,
is one.
"""

from __future__ import annotations

import itertools
import json
import sys
import uuid
from typing import Any, Mapping, Optional, Sequence

from .._version import __version__
from ..errors import Error, InvalidArgumentError, NotFoundError, ParseError
from ..rl import Answer, Environment, Step
from ._openenv_schemas import ACTION_MEMBERS, SCHEMAS
from ._server import Call, Handler, JsonServer, Refused
from ._sessions import Sessions
from ._setup import Setup, flags, serve
from ._websocket import WebSocket

class Session:
    """One episode after another, as an OpenEnv environment has them."""

    def __init__(self, setup: Setup, turns: "itertools.count[int]") -> None:
        self._setup = setup
        self._turns = turns
        self._environment: Optional[Environment] = None
        self.episode_id: Optional[str] = None
        self.task = ""
        self._steps = 0

    def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        task, seed, name = (data.get(key) for key in ("task", "seed", "episode_id"))
        if seed is not None and not isinstance(seed, int):
            raise Refused(422, "'seed' must be an integer")
        if name is not None and not isinstance(name, str):
            raise Refused(422, "'episode_id' must be a string")
        if task is None:
            known = self._setup.tasks
            task = known[(next(self._turns) if seed is None else seed) % len(known)]
        elif task not in self._setup.tasks:
            raise Refused(422, f"'{task}' is none of the tasks that are served")
        environment = self._setup.environment()
        environment.reset(task)
        self._environment = environment
        self.episode_id, self.task, self._steps = name or uuid.uuid4().hex, task, 0
        return self._observed(None)

    def step(self, action: Any) -> dict[str, Any]:
        if not isinstance(action, dict) or not isinstance(action.get("text"), str):
            raise Refused(422, "an action needs the text 'text'")
        for name in action:
            if name not in ACTION_MEMBERS:
                raise Refused(422, f"an action has no '{name}'")
        finish = action.get("finish", "stop")
        if not isinstance(finish, str):
            raise Refused(422, "'finish' must be a string")
        if self._environment is None:
            raise Refused(409, "there is no episode before reset")
        step = self._environment.step(Answer(action["text"], finish))
        self._steps += step.counted
        return self._observed(step)

    def state(self) -> dict[str, Any]:
        return {"episode_id": self.episode_id, "step_count": self._steps, "task": self.task}

    def _observed(self, step: Optional[Step]) -> dict[str, Any]:
        assert self._environment is not None
        outcome = step.outcome if step is not None else None
        observation = {
            "episode_id": self.episode_id,
            "task": self.task,
            "messages": self._environment.episode.messages,
            "counted": step is None or step.counted,
            "ending": step.ending if step is not None else None,
            "outcome": outcome.outcome if outcome is not None else None,
            "verdict": outcome.result.verdict if outcome is not None else None,
            "feedback": outcome.feedback if outcome is not None else "",
            "metrics": step.metrics if step is not None else {},
        }
        reward, done = (step.reward, step.done) if step is not None else (None, False)
        return {"observation": observation, "reward": reward, "done": done}


class Server:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._turns = itertools.count()
        self._sessions: Sessions[Session] = Sessions()

    def reset(self, call: Call) -> Any:
        session = Session(self._setup, self._turns)
        answer = session.reset(call.body)
        assert session.episode_id is not None
        self._sessions.put(session.episode_id, session)
        return answer

    def step(self, call: Call) -> Any:
        name = call.text("episode_id")
        with self._sessions.used(name) as session:
            answer = session.step(call.body.get("action"))
        if answer["done"]:
            self._sessions.drop(name)
        return answer

    def state(self, call: Call) -> Any:
        if "episode_id" not in call.query:
            return Session(self._setup, self._turns).state()
        with self._sessions.used(call.query["episode_id"]) as session:
            return session.state()

    def metadata(self, call: Call) -> Any:
        about = "GPU kernels for given tasks, judged for right values and speed"
        return {"name": "kbench", "description": about, "version": __version__}

    def talk(self, handler: Handler) -> None:
        """A session over a WebSocket, which has an episode of its own at a time."""
        socket = WebSocket(handler)
        session = Session(self._setup, self._turns)
        while (text := socket.receive()) is not None:
            answer = answered(session, text)
            if answer is None:
                socket.close()
            else:
                socket.send(json.dumps(answer, allow_nan=False))


def answered(session: Session, text: str) -> Optional[dict[str, Any]]:
    """What is said to one message; None ends the session."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        return failure("INVALID_JSON", f"Invalid JSON: {error}")
    if not isinstance(message, dict):
        return failure("VALIDATION_ERROR", "a message must be an object")
    kind, data = message.get("type", ""), message.get("data", {})
    if not isinstance(data, dict) or set(message) - {"type", "data"}:
        return failure("VALIDATION_ERROR", "a message has 'type' and the object 'data' alone")
    try:
        if kind == "close":
            return None
        if kind == "state":
            return {"type": "state", "data": session.state()}
        if kind == "reset":
            return {"type": "observation", "data": session.reset(data)}
        if kind == "step":
            return {"type": "observation", "data": session.step(data)}
    except (Refused, InvalidArgumentError, ParseError, NotFoundError) as error:
        return failure("VALIDATION_ERROR", str(error))
    except Error as error:
        return failure("EXECUTION_ERROR", str(error))
    return failure("UNKNOWN_TYPE", f"Unknown message type: {kind}")


def failure(code: str, message: str) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code}}


def server(setup: Setup, host: str = "127.0.0.1", port: int = 8000) -> JsonServer:
    own = Server(setup)
    routes = {
        ("POST", "/reset"): own.reset,
        ("POST", "/step"): own.step,
        ("GET", "/state"): own.state,
        ("GET", "/health"): lambda call: {"status": "healthy"},
        ("GET", "/metadata"): own.metadata,
        ("GET", "/schema"): lambda call: SCHEMAS,
    }
    return JsonServer(host, port, routes, {"/ws": own.talk})


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = flags("an environment server of OpenEnv", 8000)
    return serve(parser, parser.parse_args(arguments), server)


if __name__ == "__main__":
    sys.exit(main())
