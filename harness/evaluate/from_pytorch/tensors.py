# Tensors as text, between kbench and python3: {"shape": [...], "dtype": "float32", "bytes":
# HEXADECIMAL}. Put in front of the other scripts.
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
