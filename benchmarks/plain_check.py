#!/usr/bin/python3
"""Asks of ModelNew files what KernelBench asks: are their values those of its own program?

    benchmarks/plain_check.py FILES.jsonl --output CHECKED.jsonl [--device cuda] [--seconds 500]

FILES.jsonl has a line for each file: {"name": ..., "file": ..., "program": ..., "tolerance": 1e-4}.
`program` is KernelBench's file of the task, with Model, get_inputs and get_init_inputs. A line of
CHECKED.jsonl is {"name", "outcome", "reason", "worst", "built", "seconds"}: the outcome is one of
OUTCOMES below, `worst` how often the worst element is off by the tolerance, `built` tells how
extensions were compiled: with FEW_HEADERS, or with `all headers`.

Both constructors run with one seed, so that equal layers get equal weights, then both modules take
the same five inputs, in float32. TF32 is off for the program; the file keeps what it sets. An
element passes where |program - file| <= tolerance + tolerance * |file|.

Each file has a process of its own, forked from one that has imported PyTorch, with an empty folder
for what it builds. Extensions are compiled at once, as many files as there are processors; modules
run beside each other as far as the device's memory allows, and what finds no memory runs again
alone. A second call with the same output does what is missing. Exit code 3: the time ended first.
"""

import argparse
import collections
import contextlib
import functools
import importlib.util
import inspect
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback

import torch

OUTCOMES = ("right", "wrong_values", "wrong_shape", "wrong_type", "fails", "crashed", "timeout",
            "out_of_memory", "program_fails")  # fmt: skip
SEED, TRIALS = 42, 5
FEW_HEADERS, ALL_HEADERS = "few headers", "all headers"
BINDS = "PLAIN_CHECK_BINDS"  # defined where CUDA's compiler needs pybind11, too
CHUNK = 1 << 26  # elements that are compared at once
CONTEXT_BYTES = 600 << 20  # of a process that has the device open

# nvcc takes a minute for torch/extension.h and seconds for the part of PyTorch's own headers that
# most files use, so that is tried first, in place of the headers that include everything.
REPLACED = ("torch/extension.h", "torch/types.h", "torch/torch.h", "torch/all.h", "torch/script.h",
            "ATen/ATen.h")  # fmt: skip
PARTS = ["ATen/core/Tensor.h", "ATen/Dispatch.h", "ATen/TensorUtils.h", "c10/util/Exception.h",
         "optional"] + [
    f"ATen/ops/{name}.h"
    for name in "abs add arange bmm cat clamp clone conv1d conv2d conv3d div empty empty_like "
                "empty_strided exp flatten from_blob full full_like linear log matmul max mean min "
                "mm mul ones ones_like pad permute pow relu reshape rsqrt scalar_tensor sigmoid "
                "softmax sqrt squeeze stack sub sum tanh transpose unsqueeze zeros zeros_like".split()
]  # fmt: skip
TYPES = {"UInt8": "Byte", "Int8": "Char", "Int16": "Short", "Int32": "Int", "Int64": "Long",
         "Float16": "Half", "Float32": "Float", "Float64": "Double"}  # fmt: skip


def few_headers(folder):
    """A folder to look for headers in before PyTorch's own."""
    lines = ["#pragma once", "#include <cfloat>", "#include <cmath>"]
    for part in PARTS:
        lines += [f"#if __has_include(<{part}>)", f"#include <{part}>", "#endif"]
    lines += [f"#if !defined(__CUDACC__) || defined({BINDS})", "#include <torch/csrc/Exceptions.h>",
              "#include <torch/csrc/utils/pybind.h>", "#endif",
              "namespace torch {", "using namespace at;", "using Dtype = at::ScalarType;",
              "#if __cplusplus >= 201703L", "using std::nullopt;", "using std::optional;",
              "#endif"]  # fmt: skip
    lines += [f"constexpr auto k{name} = at::k{same};" for name, same in TYPES.items()] + ["}", ""]
    for name in REPLACED:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("\n".join(lines) if name == REPLACED[0] else
                       f"#pragma once\n#include <{REPLACED[0]}>\n")  # fmt: skip
    return folder


def compile_with_few_headers(folder, built):
    """Lets cpp_extension try the headers of `folder` first; `built` gets how each was compiled."""
    from torch.utils import cpp_extension

    def in_two_ways(build):
        @functools.wraps(build)
        def wrapped(*arguments, **named):
            given = inspect.signature(build).bind(*arguments, **named).arguments
            few = {**given}
            few["extra_include_paths"] = [folder, *(given.get("extra_include_paths") or [])]
            if "PYBIND11_MODULE" in str(given.get("cuda_sources", "PYBIND11_MODULE")):
                few["extra_cuda_cflags"] = [*(given.get("extra_cuda_cflags") or []), f"-D{BINDS}"]
            try:
                made = build(**few)
                built.add(FEW_HEADERS)
            except Exception:
                made = build(**given)
                built.add(ALL_HEADERS)
            return made

        return wrapped

    cpp_extension.load = in_two_ways(cpp_extension.load)
    cpp_extension.load_inline = in_two_ways(cpp_extension.load_inline)


# --- a file's process -----------------------------------------------------------------------------
class Found(Exception):
    """Ends a check: an outcome, and why."""

    def __init__(self, outcome, reason="", worst=None):
        super().__init__(outcome, reason, worst)


def first_line(text, most=300):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A compiler's error says more than that there was one.
    telling = [line for line in lines if ": error: " in line or ": error : " in line]
    return (telling or lines or [""])[0][:most]


def outcome_of(error, outcome):
    text = f"{type(error).__name__}: {error}"
    memory = "out of memory" in text or "OutOfMemory" in text
    return Found("out_of_memory" if memory else outcome, first_line(text))


@contextlib.contextmanager
def blamed(outcome):
    """Turns what is raised into an outcome."""
    try:
        yield
    except Found:
        raise
    except BaseException as error:
        traceback.print_exc()
        raise outcome_of(error, outcome) from None


def loaded(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def seeded(seed):
    torch.manual_seed(seed)


def flattened(values):
    if isinstance(values, (list, tuple)):
        return [each for value in values for each in flattened(value)]
    return [values]


def on_device(values, device):
    return [each.to(device) if isinstance(each, torch.Tensor) else each for each in values]


def input_bytes(program):
    """What the inputs take, found out without making them; None where that cannot be."""
    try:
        with torch.device("meta"):
            tensors = flattened(program.get_inputs())
        return sum(each.numel() * each.element_size() for each in tensors
                   if isinstance(each, torch.Tensor))  # fmt: skip
    except Exception:
        return None


def made_inputs(program, device, seed):
    """The inputs, drawn on the device: a processor takes 10 s for the largest."""
    seeded(seed)
    try:
        with torch.device(device):
            inputs = program.get_inputs()
    except torch.cuda.OutOfMemoryError:
        raise
    except Exception:
        seeded(seed)
        inputs = program.get_inputs()
    return on_device(inputs, device)


class Precision:
    """TF32's flags, which are the program's while it runs and the file's while that does."""

    @staticmethod
    def now():
        try:
            return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        except Exception:  # set in a way that the older names cannot tell
            return None

    @staticmethod
    def set(flags):
        if flags is not None:
            torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = flags


def worst_of(expected, given, tolerance):
    """How often the worst element is off by the tolerance; infinity for what is no number."""
    expected, given, worst = expected.reshape(-1), given.reshape(-1), 0.0
    for begin in range(0, expected.numel(), CHUNK):
        a, b = expected[begin : begin + CHUNK], given[begin : begin + CHUNK]
        if not a.is_floating_point():
            a, b = a.double(), b.double()
        off = (a - b).abs_() / (tolerance + tolerance * b.abs())
        off = torch.where(a == b, torch.zeros_like(off), off)  # infinities
        off = torch.nan_to_num(off, nan=float("inf"), posinf=float("inf"))
        worst = max(worst, float(off.max()))
    return worst


def compare(expected, given, tolerance):
    expected, given = flattened(expected), flattened(given)
    if len(expected) != len(given):
        raise Found("wrong_shape", f"{len(given)} outputs, not {len(expected)}")
    worst = 0.0
    for a, b in zip(expected, given):
        if not isinstance(b, torch.Tensor):
            raise Found("wrong_type", f"an output is {type(b).__name__}")
        if a.shape != b.shape:
            raise Found("wrong_shape", f"{list(b.shape)}, not {list(a.shape)}")
        if a.dtype != b.dtype or a.device.type != b.device.type:
            raise Found("wrong_type", f"{b.dtype} on {b.device.type}, not {a.dtype}")
        worst = max(worst, worst_of(a, b, tolerance))
    return worst


def check(file, device, ask_for_memory):
    """Ends by Found."""
    synchronize = torch.cuda.synchronize if device != "cpu" else lambda: None
    plain = (False, False)
    Precision.set(plain)
    with blamed("program_fails"):
        program = loaded(file["program"], "kernelbench_program")
    with blamed("fails"):
        candidate = loaded(file["file"], "kernelbench_candidate")
    ask_for_memory(input_bytes(program))
    with torch.no_grad():
        with blamed("program_fails"):
            seeded(SEED)
            arguments = on_device(program.get_init_inputs(), device)
            seeded(SEED)
            model = program.Model(*arguments)
        with blamed("fails"):
            seeded(SEED)
            model_new = candidate.ModelNew(*arguments).to(device)
            own = Precision.now()
        with blamed("program_fails"):
            model = model.to(device)
        torch.manual_seed(SEED)
        seeds = [int(torch.randint(0, 2**32 - 1, (1,))) for _ in range(TRIALS)]
        worst = 0.0
        for seed in seeds:
            with blamed("program_fails"):
                inputs = made_inputs(program, device, seed)
                Precision.set(plain)
                seeded(seed)
                expected = model(*inputs)
                synchronize()
            with blamed("fails"):
                Precision.set(own)
                seeded(seed)
                given = model_new(*inputs)
                synchronize()
                worst = max(worst, compare(expected, given, file["tolerance"]))
            if worst > 1:
                raise Found("wrong_values", f"off by {worst:.3g} times the tolerance", worst)
            del inputs, expected, given
    raise Found("right", "", worst)


def be_child(file, device, headers, folder, to_parent, from_parent):
    """The whole life of a file's process. Its last line to the parent is the outcome."""
    os.setsid()
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_DFL)
    os.chdir(folder)
    os.environ.update(TORCH_EXTENSIONS_DIR=folder, TRITON_CACHE_DIR=folder, MAX_JOBS="2",
                      TORCHINDUCTOR_CACHE_DIR=folder)  # fmt: skip
    log = os.open("log", os.O_WRONLY | os.O_CREAT, 0o600)
    for target, source in ((0, os.open(os.devnull, os.O_RDONLY)), (1, log), (2, log)):
        os.dup2(source, target)
    built = set()
    if headers:
        compile_with_few_headers(headers, built)

    def tell(**line):
        os.write(to_parent, json.dumps(line).encode() + b"\n")

    def ask_for_memory(size):
        tell(bytes=size)
        os.read(from_parent, 1)

    try:
        check(file, device, ask_for_memory)
    except Found as found:
        outcome, reason, worst = found.args
    except BaseException as error:
        outcome, reason, worst = "fails", first_line(f"{type(error).__name__}: {error}"), None
    if worst == float("inf"):
        worst = "inf"
    tell(outcome=outcome, reason=reason, worst=worst, built=sorted(built))
    os._exit(0)


# --- all of them ----------------------------------------------------------------------------------
class Child:
    """A running process, and what it was granted."""

    def __init__(self, file, device, headers, alone):
        self.file, self.alone, self.started = file, alone, time.monotonic()
        self.folder = tempfile.mkdtemp(prefix="plain_check_")
        self.waits_since, self.waited, self.wants, self.granted = None, 0.0, 0, 0
        self.text, self.answer = b"", None
        self.reads, to_parent = os.pipe()
        from_parent, self.writes = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.reads), os.close(self.writes)
            try:
                be_child(file, device, headers, self.folder, to_parent, from_parent)
            finally:
                os._exit(9)
        os.close(to_parent), os.close(from_parent)

    def active(self):
        """Seconds, without those that it waited for memory."""
        now = time.monotonic()
        waiting = now - self.waits_since if self.waits_since is not None else 0
        return now - self.started - self.waited - waiting

    def grant(self, size):
        self.waited += time.monotonic() - self.waits_since
        self.granted, self.waits_since = size, None
        os.write(self.writes, b"g")

    def read(self):
        """Takes what it says; False once it has ended."""
        more = os.read(self.reads, 1 << 16)
        self.text += more
        while b"\n" in self.text:
            line, self.text = self.text.split(b"\n", 1)
            said = json.loads(line)
            if "outcome" in said:
                self.answer = said
            else:
                self.wants, self.waits_since = said["bytes"], time.monotonic()
        return bool(more) and self.answer is None

    def end(self):
        """Ends all of its processes and removes their folder; returns its line of the output."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):  # killed before it led a group
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.reads), os.close(self.writes)
        said = self.answer or {"outcome": "crashed", "reason": f"wait status {status}"}
        if "Error building extension" in said["reason"]:  # with verbose=True the log was printed
            with open(os.path.join(self.folder, "log"), errors="replace") as log:
                errors = first_line(log.read().rpartition("FAILED:")[2])
            said["reason"] = errors if ": error" in errors else said["reason"]
        shutil.rmtree(self.folder, ignore_errors=True)
        return {"name": self.file["name"], "outcome": said["outcome"], "reason": said["reason"],
                "worst": said.get("worst"), "built": said.get("built", []),
                "seconds": round(self.active(), 2)}  # fmt: skip


def device_facts(device):
    """The architecture to compile for and the memory, from a process that ends: one that has CUDA
    open cannot be forked."""
    if device == "cpu":
        return None, float("inf")
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        major, minor = torch.cuda.get_device_capability()
        text = f"{major}.{minor}{'a' if major == 9 else ''} {torch.cuda.mem_get_info()[0]}"
        os.write(writes, text.encode())
        os._exit(0)
    os.close(writes)
    os.waitpid(pid, 0)
    said = os.read(reads, 100).decode().split()
    if not said:
        sys.exit("no CUDA device")
    return said[0], int(said[1])


def names_in(output):
    """The files of which the output has lines."""
    names = set()
    with open(output, "a+") as lines:
        lines.seek(0)
        line = "\n"
        for line in lines:
            with contextlib.suppress(ValueError):  # torn by a run that was killed
                names.add(json.loads(line)["name"])
        if not line.endswith("\n"):
            lines.write("\n")
    return names


class Checks:
    def __init__(self, files, options, memory, headers, write):
        self.todo, self.again = collections.deque(files), collections.deque()
        self.options, self.memory, self.headers, self.write = options, memory, headers, write
        self.running, self.unfinished = [], 0

    def start(self):
        """Starts what may run. What had no memory runs alone, after all others."""
        while self.todo and len(self.running) < self.options.at_once:
            self.add(self.todo.popleft(), alone=False)
        if self.again and not self.running and not self.todo:
            self.add(self.again.popleft(), alone=True)

    def add(self, file, alone):
        self.running.append(Child(file, self.options.device, self.headers, alone))

    def grant(self):
        """Lets modules run while there is memory for inputs, two outputs and what lies between."""
        used = sum(each.granted for each in self.running)
        for each in self.running:
            if each.waits_since is None:
                continue
            wanted = self.memory if each.wants is None else 4 * each.wants + (2 << 30)
            wanted = min(wanted, self.memory) if self.memory != float("inf") else 0
            if used == 0 or used + wanted <= self.memory:
                each.grant(wanted)
                used += wanted

    def finish(self, child):
        self.running.remove(child)
        line = child.end()
        if line["outcome"] == "out_of_memory" and not child.alone and self.options.device != "cpu":
            self.again.append(child.file)
        else:
            self.write(line)

    def run(self):
        ends = time.monotonic() + self.options.seconds
        try:
            while time.monotonic() < ends:
                self.start()
                if not self.running:
                    return True
                self.grant()
                ready, _, _ = select.select([each.reads for each in self.running], [], [], 0.2)
                for each in list(self.running):
                    if each.reads in ready and not each.read():
                        self.finish(each)
                    elif each.active() > self.options.file_seconds:
                        each.answer = {"outcome": "timeout", "worst": None, "built": [],
                                       "reason": f"over {self.options.file_seconds:g} s"}  # fmt: skip
                        self.finish(each)
            return False
        finally:
            for each in self.running:
                each.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("files", help="JSON lines: name, file, program, tolerance")
    parser.add_argument("--output", required=True, help="JSON lines, appended")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu")
    parser.add_argument("--at-once", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--seconds", type=float, default=1e9, help="for all files")
    parser.add_argument("--file-seconds", type=float, default=240, help="for a file")
    parser.add_argument("--all-headers", action="store_true",
                        help="compile with PyTorch's headers as they are at once")  # fmt: skip
    options = parser.parse_args()
    with open(options.files) as lines:
        files = [json.loads(line) for line in lines]
    done = names_in(options.output)
    files = [file for file in files if file["name"] not in done]
    sys.dont_write_bytecode = True
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    architecture, memory = device_facts(options.device)
    memory -= options.at_once * CONTEXT_BYTES
    if architecture:
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", architecture)
    with tempfile.TemporaryDirectory(prefix="plain_check_") as folder, open(options.output, "a") as to:

        def write(line):
            to.write(json.dumps(line) + "\n")
            to.flush()

        headers = None if options.all_headers else few_headers(folder)
        finished = Checks(files, options, memory, headers, write).run()
    sys.exit(0 if finished else 3)


if __name__ == "__main__":
    main()
