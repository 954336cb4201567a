"""A task of UK AISI's Inspect: a sample for each of kbench's tasks, solved in one turn or several.

In a file of one's own, which `inspect eval FILE --model ...` takes:

    import kbench
    from inspect_ai import task
    from kbench.adapters import inspect_task

    @task
    def kernels():
        judge = kbench.Evaluator(kbench.Options(preset="smoke"))
        setup = inspect_task.Setup(judge, "level1/*", kbench.rl.EpisodeOptions(preset="smoke"))
        return inspect_task.kernels(setup)

The form follows github.com/UKGovernmentBEIS/inspect_ai at 499e6152e7b8fc8cbd8ac5283536572aa6e4ab17:
src/inspect_ai/_eval/task/task.py, dataset/_dataset.py, solver/_solver.py and _task_state.py,
scorer/_scorer.py and _metric.py, model/_model_output.py. Inspect is imported where a task is made.
"""

from __future__ import annotations

import importlib
import math
from typing import Any, Callable, Optional

from ..rl import Answer, Step
from ._setup import Setup

__all__ = ["Setup", "kernels"]

STORED = "kbench"
"""Under this name a sample's store has its attempts."""
FINISH = {
    "max_tokens": "length",
    "model_length": "context_length",
    "content_filter": "content_filter",
}


Decorator = Callable[..., Callable[[Callable[[], Any]], Callable[[], Any]]]
"""@solver and @scorer, whose types are known where Inspect is installed."""


def kernels(setup: Setup, **more: Any) -> Any:
    """An inspect_ai.Task; `more` is handed to its constructor (epochs, config, limits)."""
    inspect = importlib.import_module("inspect_ai")
    dataset = importlib.import_module("inspect_ai.dataset")
    samples = [
        dataset.Sample(
            input=chat(setup.environment().reset(task)),
            target="passed",
            id=task,
            metadata={"task": task},
        )
        for task in setup.tasks
    ]
    return inspect.Task(
        dataset=dataset.MemoryDataset(samples, name="kbench"),
        solver=repaired(setup),
        scorer=[correct(), reward()],
        name="kbench",
        **more,
    )


def chat(messages: Any) -> list[Any]:
    """kbench's messages as Inspect's."""
    model = importlib.import_module("inspect_ai.model")
    kinds = {
        "system": model.ChatMessageSystem,
        "user": model.ChatMessageUser,
        "assistant": model.ChatMessageAssistant,
    }
    return [kinds[each["role"]](content=each["content"]) for each in messages]


def repaired(setup: Setup) -> Any:
    """A solver: asks, has the answer judged, and asks again until the episode is done."""
    decorated: Decorator = importlib.import_module("inspect_ai.solver").solver
    run_sync = importlib.import_module("anyio.to_thread").run_sync  # Inspect itself needs anyio

    @decorated(name="kbench_repaired")
    def made() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            environment = setup.environment()
            messages = environment.reset(state.metadata["task"])
            attempts: list[dict[str, Any]] = []
            while True:
                state.messages = chat(messages)
                state = await generate(state)
                finish = FINISH.get(state.output.stop_reason, "stop")
                answer = Answer(state.output.completion, finish)
                step = await run_sync(environment.step, answer)
                attempts.append(attempt_of(step))
                state.store.set(STORED, attempts)
                if step.done or not step.counted:
                    return state
                messages = step.messages

        return solve

    return made()


def attempt_of(step: Step) -> dict[str, Any]:
    assert step.outcome is not None
    result = step.outcome.result
    return {
        "reward": step.reward,
        "outcome": step.outcome.outcome,
        "verdict": result.verdict,
        "message": result.message,
        "metrics": step.metrics,
        "files": step.outcome.files,
    }


def best_of(state: Any) -> Optional[dict[str, Any]]:
    """The attempt with the highest reward; None where none has one."""
    rewarded: list[dict[str, Any]] = [
        each for each in state.store.get(STORED, []) if each["reward"] is not None
    ]
    return max(rewarded, key=lambda each: float(each["reward"])) if rewarded else None


def _scorer(name: str, metrics: list[Any], value_of: Any) -> Any:
    scorers = importlib.import_module("inspect_ai.scorer")

    decorated: Decorator = scorers.scorer

    @decorated(metrics=metrics, name=name)
    def made() -> Any:
        async def score(state: Any, target: Any) -> Any:
            best = best_of(state)
            if best is None:  # Inspect leaves out what is not a number.
                return scorers.Score(value=math.nan, explanation="it could not be judged")
            shown = "\n".join(best["files"].values())
            why = best["message"] or best["verdict"]
            about = {"verdict": best["verdict"], **best["metrics"]}
            value = value_of(best)
            return scorers.Score(value=value, answer=shown, explanation=why, metadata=about)

        return score

    return made()


def correct() -> Any:
    scorers = importlib.import_module("inspect_ai.scorer")

    def value_of(best: Any) -> Any:
        right = best["metrics"].get("correct") == 1
        return scorers.CORRECT if right else scorers.INCORRECT

    return _scorer("kbench_correct", [scorers.accuracy(), scorers.stderr()], value_of)


def reward() -> Any:
    scorers = importlib.import_module("inspect_ai.scorer")
    metrics = [scorers.mean(), scorers.stderr()]
    return _scorer("kbench_reward", metrics, lambda best: best["reward"])
