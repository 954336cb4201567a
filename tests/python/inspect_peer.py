"""The part of Inspect that kbench's task for it uses, with the names and arguments that Inspect has.

After github.com/UKGovernmentBEIS/inspect_ai at 499e6152e7b8fc8cbd8ac5283536572aa6e4ab17: what it
would refuse is refused here.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import sys
import types
from typing import Any, Callable

CORRECT, INCORRECT = "C", "I"
TASK_ARGUMENTS = (
    "dataset setup solver cleanup scorer metrics model config model_roles sandbox checkpoint "
    "on_checkpoint on_resume approval epochs fail_on_error continue_on_fail score_on_error "
    "message_limit token_limit turn_limit time_limit working_limit cost_limit early_stopping "
    "display_name name version metadata tags viewer"
).split()
SAMPLE_ARGUMENTS = "input choices target id metadata sandbox files setup checkpoint".split()
SCORE_ARGUMENTS = "value answer explanation metadata history".split()


class _Record:
    arguments: list[str] = []

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in self.arguments:
                raise TypeError(f"{type(self).__name__} has no argument '{name}'")
        self.__dict__.update({name: None for name in self.arguments}, **given)


class Task(_Record):
    arguments = TASK_ARGUMENTS


class Sample(_Record):
    arguments = SAMPLE_ARGUMENTS


class Score(_Record):
    arguments = SCORE_ARGUMENTS


class MemoryDataset:
    def __init__(self, samples: list[Sample], name: Any = None) -> None:
        self.samples = samples


class ChatMessage:
    role = ""

    def __init__(self, content: str) -> None:
        self.content = content


class ChatMessageSystem(ChatMessage):
    role = "system"


class ChatMessageUser(ChatMessage):
    role = "user"


class ChatMessageAssistant(ChatMessage):
    role = "assistant"


class Store:
    def __init__(self) -> None:
        self._data: dict[str, Any] = {}

    def get(self, key: str, default: Any = None) -> Any:
        return self._data.get(key, default)

    def set(self, key: str, value: Any) -> None:
        self._data[key] = value


class State:
    def __init__(self, sample: Any) -> None:
        self.metadata = sample.metadata
        self.messages = list(sample.input)
        self.store = Store()
        self.output: Any = None


def _decorator(name: Any, **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            does = make(*arguments, **named)
            if not inspect.iscoroutinefunction(does):
                raise TypeError(f"'{name}' is not declared as an async callable.")
            return does

        return made

    return decorate


def solver(name: str) -> Any:
    return _decorator(name)


def scorer(metrics: Any, name: Any = None, **metadata: Any) -> Any:
    assert all(callable(metric) for metric in metrics)

    def decorate(make: Callable[..., Any]) -> Callable[..., Any]:
        wrapped = _decorator(name)(make)

        def made() -> Any:
            score = wrapped()
            score.metrics = {metric.__name__: metric for metric in metrics}
            return score

        return made

    return decorate


def _of_numbers(name: str, reduce: Callable[[list[float]], float]) -> Callable[[], Any]:
    def make() -> Any:
        def metric(scores: list[Any]) -> float:
            values = [{"C": 1.0, "I": 0.0}.get(each.value, each.value) for each in scores]
            return reduce([value for value in values if not math.isnan(value)])

        metric.__name__ = name
        return metric

    return make


async def run_sync(function: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def _average(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def install() -> None:
    """As the modules that a task imports."""
    parts: dict[str, dict[str, Any]] = {
        "inspect_ai": {"Task": Task},
        "inspect_ai.dataset": {"Sample": Sample, "MemoryDataset": MemoryDataset},
        "inspect_ai.solver": {"solver": solver},
        "inspect_ai.model": {
            each.__name__: each
            for each in (ChatMessageSystem, ChatMessageUser, ChatMessageAssistant)
        },
        "inspect_ai.scorer": {
            "scorer": scorer,
            "Score": Score,
            "CORRECT": CORRECT,
            "INCORRECT": INCORRECT,
            "accuracy": _of_numbers("accuracy", _average),
            "mean": _of_numbers("mean", _average),
            "stderr": _of_numbers("stderr", lambda values: 0.0),
        },
        "anyio": {},
        "anyio.to_thread": {"run_sync": run_sync},
    }
    for name, members in parts.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module


def run(task: Any, model: Callable[[list[Any]], Any]) -> tuple[list[Any], dict[str, float]]:
    """Every sample solved and scored; and the metrics over all. `model`: messages -> output."""

    async def generate(state: Any) -> Any:
        state.output = model(state.messages)
        state.messages.append(ChatMessageAssistant(content=state.output.completion))
        return state

    async def one(sample: Any) -> Any:
        state = await task.solver(State(sample), generate)
        return sample, state, [await score(state, sample.target) for score in task.scorer]

    async def all_of_them() -> list[Any]:
        return [await one(sample) for sample in task.dataset.samples]

    samples = asyncio.run(all_of_them())
    metrics = {}
    for at, score in enumerate(task.scorer):
        scores = [scored[at] for _, _, scored in samples]
        metrics.update({name: metric(scores) for name, metric in score.metrics.items()})
    return samples, metrics
