"""Builds the C++ and CUDA extensions of a candidate's module, without a device: what load_inline()
makes is found again, compiled, when the module is loaded where it runs."""

import json
import os
import sys

request = json.load(sys.stdin)
error = ""
try:
    import torch  # noqa: F401

    load_module(request["source"], os.path.abspath("model_new.py"))
except BaseException as failure:
    text = f"{type(failure).__name__}: {failure}"
    # All else may be for want of a device, and shows again where there is one.
    if "building extension" in text or "Ninja" in text or "CUDA_HOME" in text:
        lines = text.splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        error = "\n".join(errors[:20] + lines[-60:])[:8000]
with os.fdopen(3, "w") as answer:
    json.dump({"error": error}, answer)
