"""For programs that train models: rewards, and environments to step through.

    with kbench.Evaluator(kbench.Options(preset="smoke")) as evaluator:
        environment = kbench.rl.Environment(evaluator, kbench.rl.EpisodeOptions(preset="smoke"))
        messages = environment.reset("level1/19")
        step = environment.step(my_model(messages))
        learn(messages, step.reward)
"""

from .environments import Answer, AnyAnswer, BatchEnvironment, Environment, Step
from .episodes import Episode, EpisodeOptions, Outcome, Wanted
from .judges import Judge, JudgePool, quick
from .rewards import Reward, RewardOptions, explained, metrics, reward

__all__ = [
    "Answer",
    "AnyAnswer",
    "BatchEnvironment",
    "Environment",
    "Episode",
    "EpisodeOptions",
    "Judge",
    "JudgePool",
    "Outcome",
    "Reward",
    "RewardOptions",
    "Step",
    "Wanted",
    "explained",
    "metrics",
    "quick",
    "reward",
]
