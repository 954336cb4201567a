"""What the model learns from: shipped candidates as a model's answers, in many spellings."""

import os
import random
import re

CANDIDATES = os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../harness/candidates/simple"))

# Task: the YAML file, and what differs where the shader is shipped for another task than this one.
TASKS = {
    "level1/12": ("level1_012_diagonal_matmul", {}),
    "level1/19": ("level1_019_relu", {}),
    "level1/20": ("level1_019_relu", {"level1/19": "level1/20", "relu": "leaky_relu",
                                      "{u64: COUNT}": "{u64: COUNT}, {f32: 0.01}"}),
    "level1/25": ("level1_019_relu", {"level1/19": "level1/25", "relu": "swish"}),
    "level1/26": ("level1_026_gelu", {}),
    "level1/36": ("level1_036_rms_norm", {}),
    "level1/47": ("level1_047_sum", {}),
    "level1/51": ("level1_051_argmax", {}),
    "level1/89": ("level1_089_cumsum", {}),
}

# Names in a shader's main function in each of the spellings; the first is as it ships.
LOCALS = {"i": ["i", "n", "at"], "v": ["v", "a", "got"], "sum": ["sum", "total", "acc"],
          "first": ["first", "start", "first"], "largest": ["largest", "best", "top"],
          "r": ["r", "k", "j"], "carry": ["carry", "carry", "before_it"], "t": ["t", "lane", "t"],
          "c": ["c", "channel", "c"]}


def read(name):
    with open(os.path.join(CANDIDATES, name), encoding="utf-8") as file:
        return file.read()


def flat(name):
    """A shader with its includes in their place, without comments and what it does not call."""
    text = re.sub(r'#extension GL_GOOGLE_include_directive.*\n', "", read(name))
    text = re.sub(r'#include "(.*)"\n', lambda found: flat(found.group(1)), text)
    text = re.sub(r"\s*//.*", "", text)
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    once = [line for k, line in enumerate(lines)
            if not line.startswith("#extension") or line not in lines[:k]]
    text = "\n".join(once) + "\n"
    if "erf(v" not in text and "main" in text:
        text = re.sub(r"float erf\(float x\) \{.*?\n\}\n", "", text, flags=re.S)
    return text


def load(task):
    """The candidate's YAML, its shader, and the kernel's name."""
    file, changes = TASKS[task]
    manifest = re.sub(r"(name|description): .*\n", "", read(file + ".yaml"))
    for old, new in changes.items():
        manifest = manifest.replace(old, new)
    kernel, shader = re.search(r"^  (\w+): \{file: (\w+\.comp)", manifest, re.M).groups()
    return manifest, flat(shader), kernel


LOADED = {task: load(task) for task in TASKS}


SPELLINGS = range(3)
THREADS = ["64", "128", "256", "512"]


def spelled(task, spelling, threads):
    """An answer for a task, in one of the spellings and with workgroups of this size."""
    manifest, shader, kernel = LOADED[task]
    shader = shader.replace("#define THREADS 256", "#define THREADS " + threads)
    manifest = re.sub(r"\b256\)", threads + ")", manifest)
    name = [kernel, "kernel", "main_" + kernel][spelling]
    file = [kernel, kernel, name][spelling] + ".comp"
    manifest = re.sub(r"  %s: \{file: \w+\.comp" % kernel, "  %s: {file: %s" % (name, file),
                      manifest)
    manifest = manifest.replace("kernel: " + kernel, "kernel: " + name)
    head, main = shader.split("void main()")
    for old, names in LOCALS.items():
        main = re.sub(r"\b%s\b" % old, "\0" + names[spelling], main)
    main = main.replace("\0", "")
    return "```yaml\n%s```\n```glsl %s\n%svoid main()%s```\n" % (manifest, file, head, main)


def answer(task, random_=random):
    return spelled(task, random_.choice(SPELLINGS), random_.choice(THREADS))


def everything():
    """All that the model can be taught to say or be told, once."""
    return ([spelled(task, spelling, threads) for task in TASKS for spelling in SPELLINGS
             for threads in THREADS] + list(TASKS) + ["Again: " + task for task in TASKS])


def broken(task, random_=random):
    """An answer that went wrong: lines lost, repeated or of another task's."""
    lines = answer(task, random_).splitlines(True)
    other = answer(random_.choice(list(TASKS)), random_).splitlines(True)
    for _ in range(random_.randint(1, 3)):
        k = random_.randrange(len(lines))
        lines[k] = random_.choice(["", lines[k] * 2, random_.choice(other)])
    return "".join(lines)


def conversation(random_=random):
    """Texts of user and model in turn; only the last is learnt."""
    task = random_.choice(list(TASKS))
    turns = [task, answer(task, random_)]
    if random_.random() < 0.1:
        turns = [task, broken(task, random_), "Again: " + task, turns[1]]
    return turns
