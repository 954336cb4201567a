# Runs a program that kbench prints of a task (pytorch_module()) on given tensors.
#
# Descriptor 0 has {"program": TEXT, "inputs": [tensor, ...], "parameters": {NAME: tensor}}, a
# tensor being {"shape": [...], "dtype": "float32", "bytes": HEXADECIMAL}; descriptor 3 takes
# {"outputs": [tensor, ...]} or {"error": MESSAGE}.
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402


def tensor_of(said):
    data = bytearray(bytes.fromhex(said["bytes"]))
    dtype = getattr(torch, said["dtype"])
    return torch.frombuffer(data, dtype=dtype).reshape(said["shape"]).clone()


def said_of(tensor):
    tensor = tensor.detach().contiguous()
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).replace("torch.", ""),
        "bytes": tensor.numpy().tobytes().hex(),
    }


def run(request):
    names = {}
    exec(compile(request["program"], "program.py", "exec"), names)
    model = names["ModelNew"]()
    own = model.parameters_by_name()
    for name, said in request["parameters"].items():
        own[name].copy_(tensor_of(said))
    outputs = model(*(tensor_of(each) for each in request["inputs"]))
    return [said_of(each) for each in ([outputs] if isinstance(outputs, torch.Tensor) else outputs)]


asked = json.load(sys.stdin)
try:
    with torch.no_grad():
        answer = {"outputs": run(asked)}
except Exception as error:
    answer = {"error": " ".join(f"{type(error).__name__}: {error}"[:500].split())}
with os.fdopen(3, "w") as channel:
    json.dump(answer, channel)
