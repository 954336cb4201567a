#!/usr/bin/python3
"""Times PyTorch's eager mode on a GPU for the suite's tasks, in float32, float16 or bfloat16.

    benchmarks/pytorch_eager_times.py --kbench build/release/bin/kbench --write-tasks tasks.json
                                      [--preset v0.1] [--task 1/19,2/*]
    benchmarks/pytorch_eager_times.py --tasks tasks.json --dtype f16 --output torch_f16.json
                                      [--budget-seconds 540] [--task 1/19,2/*]

The first writes each task's program, as `kbench show --pytorch` prints it, with its inputs and
parameters; it needs neither PyTorch nor a GPU. The second runs the programs: floating inputs,
parameters and constants are of the dtype, TF32 and sums of reduced precision are off. Its output is
a table of times as docs/baseline.md describes it, for `kbench baseline --against` and for --baseline.

The output is replaced after every task. A second call with the same output does what is missing, so
that the budget can be as long as a machine is lent for. Exit code 0: all tasks are done; 3: the budget
ended first; 1: some tasks could not be timed, and the output says why ("error").
"""

import argparse
import gc
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

PASSES, WARM_UPS, LEAST = 10, 2, 3
PASS_SECONDS = 1.0  # of passes of one task, once LEAST were taken
FLUSH_BYTES = 256 << 20  # more than any GPU's cache
COLUMN = "eager_strict_ms"
METHOD = (
    "CUDA events around one forward pass; {} warm-up passes; {} MiB written before each pass to flush "
    "the caches; median of up to {} passes. Programs as kbench show --pytorch prints them; inputs and "
    "parameters drawn from kbench's distributions, then rounded to the dtype"
).format(WARM_UPS, FLUSH_BYTES >> 20, PASSES)
MEANING = "TF32 off, sums of reduced precision off"


# --- the tasks ------------------------------------------------------------------------------------
def collect(kbench, preset, selection):
    """Programs and tensors of the tasks, by "level/number"."""

    def ask(*arguments):
        return subprocess.run([kbench, *arguments], check=True, stdout=subprocess.PIPE).stdout.decode()

    chosen = ["--task", selection] if selection else []
    listed = json.loads(ask("list", "--json", "--preset", preset, *chosen))
    tasks = {}
    for entry in listed:
        name = f"{entry['level']}/{entry['number']}"
        facts = json.loads(ask("show", name, "--json", "--preset", preset))
        tasks[name] = {
            "program": ask("show", name, "--pytorch", "--preset", preset),
            "inputs": facts["inputs"],
            "parameters": facts["parameters"],
        }
    return {"preset": preset, "tasks": tasks}


def drawn(torch, tensor, generator, dtype):
    """A tensor as its "drawn_from" says ("uniform(-4, 4)", "normal, triu"): the distribution, not
    kbench's values. Offsets are left out, as they change no time."""
    text = tensor["drawn_from"]
    kind = re.match(r"\w+", text).group()
    numbers = re.search(r"\(([^)]*)\)", text)
    a, b = map(float, numbers.group(1).split(",")) if numbers else (0.0, 1.0)
    shape, device = tensor["shape"], generator.device
    if kind == "randint":
        whole = torch.randint(int(a), int(b), shape, generator=generator, device=device)
        if "plus_minus_one" in text:
            return (2 * whole - 1).to(dtype)
        return whole.bool() if tensor["dtype"] == "bool" else whole
    values = torch.empty(shape, device=device)
    if kind == "uniform":
        values.uniform_(a, b, generator=generator)
    else:
        values.normal_(a, b, generator=generator)
    if "triu" in text:
        values = values.triu()
    elif "tril" in text:
        values = values.tril()
    elif "symmetrize" in text:
        values = (values + values.transpose(-2, -1)) / 2
    elif "softmax_last" in text:
        values = values.softmax(-1)
    return values.to(dtype)


def build(torch, task, generator, dtype):
    """The task's module and inputs on the device."""
    names = {}
    exec(compile(task["program"], "program", "exec"), names)
    model = names["ModelNew"]().to(generator.device).to(dtype)
    given = {tensor["name"]: tensor for tensor in task["parameters"]}
    with torch.no_grad():
        for name, parameter in zip(model.names, model.weights):
            parameter.copy_(drawn(torch, given[name], generator, dtype))
    inputs = [drawn(torch, tensor, generator, dtype) for tensor in task["inputs"]]
    return model, inputs


# --- timing ---------------------------------------------------------------------------------------
class Clock:
    """Times single calls on the device with cold caches, in milliseconds."""

    def __init__(self, torch):
        self.cuda = torch.cuda
        self.flushed = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.begin = torch.cuda.Event(enable_timing=True)
        self.end = torch.cuda.Event(enable_timing=True)

    def time(self, call):
        self.flushed.zero_()
        self.begin.record()
        call()
        self.end.record()
        self.cuda.synchronize()
        return self.begin.elapsed_time(self.end)


class HostClock:
    """The same on the CPU, for trying this script."""

    def time(self, call):
        begin = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - begin)


def median_ms(clock, call):
    for _ in range(WARM_UPS):
        clock.time(call)
    times = []
    while len(times) < PASSES and (len(times) < LEAST or sum(times) < 1e3 * PASS_SECONDS):
        times.append(clock.time(call))
    return statistics.median(times)


def raise_clock(torch):
    """A GPU that has idled runs at a fraction of its clock: products until it has risen."""
    matrix = torch.ones(2048, 2048, device="cuda")
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        matrix @ matrix
        torch.cuda.synchronize()


# --- the output -----------------------------------------------------------------------------------
def driver_version():
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return answer.splitlines()[0].strip() if answer.strip() else ""


def heading(torch, options, preset):
    on_gpu = options.device == "cuda"
    return {
        "device": torch.cuda.get_device_name() if on_gpu else "CPU",
        "driver": driver_version() if on_gpu else "",
        "software": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
        "preset": preset,
        "dtype": options.dtype,
        "method": METHOD,
        "columns": {COLUMN: MEANING},
    }


def resumed(path, fresh):
    """What an earlier call wrote, which must have been taken in the same way."""
    if not os.path.exists(path):
        return {**fresh, "tasks": {}}
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    for key, value in fresh.items():
        if document.get(key) != value:
            sys.exit(f"{path} was begun with {key} {document.get(key)!r}, and this is {value!r}; "
                     "take another --output")  # fmt: skip
    return document


def write(path, document):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def selected(names, selection):
    """Those that a selection like 1/19,2/* names; all of them for none. An item that names none of
    them is an error."""
    items = [item for item in selection.split(",") if item]
    for item in items:
        if not any(item in (name, name.split("/")[0] + "/*") for name in names):
            sys.exit(f"--task: {item} names none of the tasks in --tasks")
    return [n for n in names if not items or n in items or n.split("/")[0] + "/*" in items]


def measure(options):
    import torch  # here, as --write-tasks does without

    with open(options.tasks, encoding="utf-8") as file:
        suite = json.load(file)
    names = selected(suite["tasks"], options.task)
    start = time.perf_counter()
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[options.dtype]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    if int(torch.__version__.split(".")[0]) >= 2:  # older ones do not know it
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    if options.device == "cuda":
        raise_clock(torch)
    clock = Clock(torch) if options.device == "cuda" else HostClock()
    document = resumed(options.output, heading(torch, options, suite["preset"]))
    generator = torch.Generator(device=options.device)
    done = document["tasks"]
    for name in names:
        if name in done:
            continue
        if time.perf_counter() - start > options.budget_seconds:
            left = sum(each not in done for each in names)
            print(f"{left} tasks are left; the same command goes on", file=sys.stderr)
            return 3
        generator.manual_seed(1)
        try:
            with torch.no_grad():
                model, inputs = build(torch, suite["tasks"][name], generator, dtype)
                ms = median_ms(clock, lambda: model(*inputs))
            if not math.isfinite(ms) or ms <= 0:
                raise ValueError(f"took {ms} ms")
            done[name] = {COLUMN: round(ms, 5)}
        except Exception as error:  # out of memory, an operator without a kernel for the dtype
            lines = str(error).splitlines() or [""]
            done[name] = {"error": f"{type(error).__name__}: {lines[0]}"}
        model = inputs = None
        gc.collect()
        if options.device == "cuda":
            torch.cuda.empty_cache()
        write(options.output, document)
        print(name, done[name].get(COLUMN, done[name].get("error")), file=sys.stderr, flush=True)
    failed = [name for name in names if "error" in done[name]]
    if failed:
        print(f"not timed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kbench", help="the built program, for --write-tasks")
    parser.add_argument("--write-tasks", metavar="FILE", help="write the programs, and time nothing")
    parser.add_argument("--preset", default="v0.1", help="of --write-tasks")
    parser.add_argument("--tasks", metavar="FILE", help="what --write-tasks wrote")
    parser.add_argument("--dtype", choices=["f32", "f16", "bf16"])
    parser.add_argument("--output", help="the times; what it has already is not taken again")
    parser.add_argument("--budget-seconds", type=float, default=math.inf, help="begin no task after")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: for trying it")
    parser.add_argument("--task", default="", help="1/19,2/* for some; all without it")
    options = parser.parse_args()
    if options.write_tasks:
        if not options.kbench:
            parser.error("--write-tasks takes --kbench")
        with open(options.write_tasks, "w", encoding="utf-8") as file:
            json.dump(collect(options.kbench, options.preset, options.task), file)
        return 0
    if not (options.tasks and options.dtype and options.output):
        parser.error("timing takes --tasks, --dtype and --output")
    return measure(options)


if __name__ == "__main__":
    sys.exit(main())
