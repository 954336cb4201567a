"""Runs a candidate's ModelNew once under a checker of its kernels (harness/evaluate/sanitize): with the
code of driver.py, but with neither clock nor server, on values that lie in a file.

Its argument is a file of JSON: the scripts, the lock-in, the task as driver.py takes it, and where
the values of its parameters and inputs lie, one behind another.
"""

import json
import os
import sys
import types


def loaded(name, text, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def fill(tensor, values):
    data = bytearray(values.read(tensor.numel() * tensor.element_size()))
    if data:
        tensor.copy_(torch.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape))


with open(sys.argv[1]) as file:
    job = json.load(file)
values, folder = open(job["values"], "rb"), job["folder"]
os.chdir(folder)
for name in ("HOME", "TMPDIR", "TRITON_HOME"):
    os.environ[name] = folder
for name in ("TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR"):
    os.environ[name] = os.path.join(folder, name.split("_")[1].lower())
os.environ.update(PATH=os.path.dirname(sys.executable) + ":" + os.environ["PATH"], USER="kbench",
                  CUDA_VISIBLE_DEVICES=job["device"],
                  TORCH_CUDA_ARCH_LIST=job["architecture"], TORCHINDUCTOR_COMPILE_THREADS="1",
                  # Each tensor has memory of its own, whose ends and first writes checkers see.
                  PYTORCH_NO_CUDA_MEMORY_CACHING="1")  # fmt: skip
prototype = loaded("prototype", job["prototype"])
script = loaded("driver", job["driver"], filter_system_calls=prototype.filter_system_calls)
# What a process of driver.py warms up would be checked, too.
script.load_kernels = lambda: None
import torch  # noqa: E402

# A checker and CUDA's driver find each other by sockets and shared memory, so first of all.
torch.zeros(1, device="cuda")
prototype.lock_in(job["lock"])
driver = script.Driver()
try:
    driver.answer({"do": "start", "cuda": True, "filter": job["filter"],
                   "seccomp": job["lock"]["calls"]["seccomp"]}, [])  # fmt: skip
    driver.answer(job["task"], [])
    for tensor in driver.memory.parameters + driver.memory.inputs[0]:
        fill(tensor, values)
    driver.answer({"do": "load"}, [])
    driver.answer({"do": "run", "calls": 1, "capture": False, "timed": False}, [])
except script.Refusal as refusal:
    sys.exit(str(refusal))
script.synchronise()
