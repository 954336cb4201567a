#!/usr/bin/python3
"""Writes golden records: what KernelBench's own modules compute in float64, at sizes of one's choice.

    tests/golden/generate.py --kernelbench DIR --base smoke.json.zst --check [--task 1/19,2/*]
    tests/golden/generate.py --kernelbench DIR --base smoke.json.zst --variants odd.variants.json
                             --out odd.json.zst [--task 1/19,2/*]
    tests/golden/generate.py --kernelbench DIR --base smoke.json.zst --again --facts FILE
                             --out smoke.json.zst [--task 1/19,2/*]
    tests/golden/generate.py --kernelbench DIR --base smoke.json.zst --again --dtype f16 --samples 8
                             --out smoke.f16.json.zst [--task 1/19,2/*]

DIR is a checkout of KernelBench. The base is a golden file: from it come the tasks' names, seeds and
variables, and how each input is drawn. A variants file maps a task to a list of overrides of those
variables: {"1/1": [{"N": 37}, {"N": 53}], ...}; each makes one record. docs/golden.md describes the
format.

--again makes the base's own records anew, at its sizes; records of other tasks are taken over. Tensors
are drawn as --facts says where it says otherwise than the base: a line of `kbench show TASK --json
--preset P` a task, at the base's sizes. It holds for --variants too.

--dtype f16 or bf16 makes them of tasks in that type: what is drawn, and a module's own constants, are
rounded to it before the module runs in float64. The base is of float32; none of it is taken over.

--check computes every record of the base again, from its own variables, and compares all that it
holds; it proves that generator, draws and modules are those the base was made with.

Needs PyTorch and NumPy; zstd for .zst files; einops for tasks 3/48 and 3/49.
"""

import argparse
import ast
import glob
import json
import math
import os
import subprocess
import sys
import types
import warnings

import numpy as np
import torch

SAMPLES = 128  # elements listed of an output; all of them where it has not many more
HALVES = {"f16": torch.float16, "bf16": torch.bfloat16}


# --- the draws ------------------------------------------------------------------------------------
def fnv1a32(text):
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def philox_words(count, seed, name, task_word):
    """The first `count` words of Philox4x32-10 for a tensor's name."""
    mask = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    c0, c1 = blocks & mask, blocks >> half
    c2 = np.full_like(blocks, fnv1a32(name))
    c3 = np.full_like(blocks, task_word)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0 = c0 * np.uint64(0xD2511F53)
        p1 = c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (p1 >> half) ^ c1 ^ np.uint64(k0),
            p1 & mask,
            (p0 >> half) ^ c3 ^ np.uint64(k1),
            p0 & mask,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=1).reshape(-1)[:count]


def draw(dist, shape, seed, name, task_word):
    """A tensor of the generator: float32, or int64 for integers."""
    count = math.prod(shape)
    kind = dist["kind"]
    words = philox_words(count * (2 if kind == "normal" else 1), seed, name, task_word)
    if kind == "uniform":
        lo = np.float32(dist["lo"])
        u = (words >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)
        values = lo + u * (np.float32(dist["hi"]) - lo)
    elif kind == "normal":
        u1 = ((words[0::2] >> np.uint64(8)) + np.uint64(1)).astype(np.float64) * 2.0**-24
        u2 = (words[1::2] >> np.uint64(8)).astype(np.float64) * 2.0**-24
        standard = np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2)
        values = (dist.get("mean", 0) + dist.get("std", 1) * standard).astype(np.float32)
    else:
        span = np.uint64(dist["hi"] - dist["lo"])
        values = dist["lo"] + ((words * span) >> np.uint64(32)).astype(np.int64)
    values = values.reshape(shape)
    then = dist.get("then")
    if then == "symmetrize":
        values = (values + values.T) / np.float32(2)
    elif then == "triu":
        values = np.triu(values)
    elif then == "tril":
        values = np.tril(values)
    elif then == "softmax_last":
        e = np.exp(values.astype(np.float64) - values.max(axis=-1, keepdims=True))
        values = (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)
    elif then == "plus_minus_one":
        values = np.float32(2) * values.astype(np.float32) - np.float32(1)
    elif then == "offset":
        kept = shape[: 1 if len(shape) == 2 else 2]
        plain = {k: v for k, v in dist.items() if k != "then"}
        offsets = draw(plain, list(kept), seed, name + ".offsets", task_word)
        values = values + offsets.reshape(list(kept) + [1] * (len(shape) - len(kept)))
    return values


# --- KernelBench's modules ------------------------------------------------------------------------
def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def with_sizes(tree, sizes, fixed):
    """A module's statements with the sizes of its literal assignments replaced. Those it computes
    from others (`bias_shape = (out_channels, 1, 1)`) stay computed, but for the names in `fixed`."""
    statements = []
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            statements.append(node)
            continue
        for target in node.targets:  # several in `height = width = 128`
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple):  # depth, height, width = 16, 32, 32
                pairs = list(zip(target.elts, node.value.elts))
            for name, value in pairs:
                known = isinstance(name, ast.Name) and name.id in sizes
                if known and (name.id in fixed or not names_in(value)):
                    new = sizes[name.id]
                    is_tuple = isinstance(value, ast.Tuple) and isinstance(new, list)
                    value = ast.parse(repr(tuple(new) if is_tuple else new), mode="eval").body
                statements.append(ast.Assign([name], value))
    return ast.fix_missing_locations(ast.Module(statements, tree.type_ignores))


def load_module(folder, task, variables, overrides):
    """KernelBench's file of a task, executed with those sizes; and the sizes it then has."""
    level, number = task.split("/")
    (path,) = glob.glob(os.path.join(folder, "KernelBench", f"level{level}", f"{number}_*.py"))
    with open(path, encoding="utf-8") as file:
        text = file.read()

    def execute(sizes, fixed):
        module = types.ModuleType(f"level{level}_{number}")
        exec(compile(with_sizes(ast.parse(text), sizes, fixed), path, "exec"), module.__dict__)
        values = {name: getattr(module, name) for name in variables}
        return module, {n: list(v) if isinstance(v, tuple) else v for n, v in values.items()}

    # What the module computes otherwise than the base has it (3/9's input_shape) is given too.
    _, computed = execute(variables, set())
    fixed = {name for name, value in variables.items() if computed[name] != value}
    return execute({**variables, **overrides}, fixed | set(overrides))


def build(module):
    model = module.Model(*module.get_init_inputs()).train()
    for part in model.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        if isinstance(part, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
            part.dropout = 0.0
    return model


# --- how inputs and parameters are drawn ----------------------------------------------------------
def spread(fan_in):
    """Uniform, of variance 1 / fan_in: activations keep their scale."""
    bound = round(math.sqrt(3 / fan_in), 6)
    return {"kind": "uniform", "lo": -bound, "hi": bound}


def uniform(lo, hi):
    return {"kind": "uniform", "lo": lo, "hi": hi}


NORMS = (
    torch.nn.modules.batchnorm._NormBase,
    torch.nn.GroupNorm,
    torch.nn.LayerNorm,
)


def parameter_dist(owner, name, shape, base):
    """The rule the base was made by; `base` maps the last part of a parameter's name to its own."""
    if isinstance(owner, NORMS):
        return uniform(0.5, 1.5) if name == "weight" else uniform(-0.5, 0.5)
    if isinstance(owner, torch.nn.RNNBase):
        bound = round(1.5 / math.sqrt(owner.hidden_size), 6)
        return uniform(-bound, bound)
    if isinstance(owner, torch.nn.modules.conv._ConvTransposeNd) and name == "weight":
        taps = shape[0] // owner.groups * math.prod(shape[2:]) // math.prod(owner.stride)
        return spread(max(taps, 1))
    if name.endswith("weight") and len(shape) > 1 and shape[-1] * shape[1] > 1:
        if "weight" in name and not name.startswith("multiply"):
            return spread(math.prod(shape[1:]))
    if name in base:
        return base[name]
    if "bias" in name:
        return uniform(-0.5, 0.5)
    if name.endswith("weight"):
        return spread(max(math.prod(shape[1:]), 1))
    raise ValueError(f"no rule for parameter {name} of {type(owner).__name__}")


DTYPES = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool", torch.float64: "f32"}


def input_tensors(module, model, record):
    """The base's inputs with the shapes the module's own get_inputs has at these sizes."""
    made = list(module.get_inputs())
    base = [t for t in record["tensors"] if t["kind"] != "param"]
    if record["task"] == "3/35":  # drawn inside forward, of these extents
        state = torch.empty(model.num_layers, made[0].shape[0], model.hidden_size)
        made += [state, state]
    if len(made) != len(base):
        raise ValueError(f"{len(made)} inputs, the base has {len(base)}")
    tensors = []
    for mine, like in zip(made, base):
        if like["kind"] == "scalar":
            tensors.append({"name": like["name"], "kind": "scalar", "value": mine})
            continue
        dist = dict(like["dist"])
        if record["task"] == "1/95" and dist["kind"] == "randint":
            dist["hi"] = module.num_classes
        tensors.append({"name": like["name"], "kind": "input", "dtype": like["dtype"],
                        "shape": list(mine.shape), "dist": dist})  # fmt: skip
    return tensors


def parameter_tensors(model, record):
    base = {t["name"].split(".")[-1]: t["dist"] for t in record["tensors"] if t["kind"] == "param"}
    tensors = []
    for name, parameter in model.named_parameters():
        path, _, last = name.rpartition(".")
        shape = list(parameter.shape)
        dist = parameter_dist(model.get_submodule(path), last, shape, base)
        tensors.append(
            {"name": name, "kind": "param", "dtype": "f32", "shape": shape, "dist": dist})  # fmt: skip
    return tensors


def scaled_dot_product_attention(query, key, value):
    """PyTorch's function by its documentation, for a PyTorch that is older than it (before 2.0)."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    return torch.softmax(scores, dim=-1) @ value


if not hasattr(torch.nn.functional, "scaled_dot_product_attention"):
    torch.nn.functional.scaled_dot_product_attention = scaled_dot_product_attention


# --- a record -------------------------------------------------------------------------------------
def rounded(values, half):
    """Floats rounded to that type, to the nearest, ties to even; as they are without one."""
    return values.to(half).to(values.dtype) if half and values.is_floating_point() else values


def run(model, arguments, parameters, dtype, half):
    """The outputs of one forward pass in that precision, from float32 draws."""
    state = dict(model.named_parameters())
    with torch.no_grad():
        for constant in model.buffers():
            constant.copy_(rounded(constant, half))
        model = model.to(dtype)
        for name, value in parameters.items():
            state[name].copy_(value.to(dtype))
        # A module's own constants are float32 in its code; some build them where they run.
        torch.set_default_dtype(dtype)
        try:
            outputs = model(*[
                a.to(dtype) if torch.is_tensor(a) and a.is_floating_point() else a
                for a in arguments
            ])  # fmt: skip
        finally:
            torch.set_default_dtype(torch.float32)
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return [output.detach().clone().contiguous() for output in outputs]


def positions(count, task_word, number, samples):
    """First, last and a spread of others; all where they are few."""
    if count <= 2 * samples:
        return list(range(count))
    random = np.random.default_rng([task_word, number, count])
    inner = random.choice(count - 2, size=samples, replace=False) + 1
    return [0] + sorted(int(i) for i in inner) + [count - 1]


def describe_output(double, single, seed, task_word, number, samples):
    exact = not double.is_floating_point()
    values = double.reshape(-1).to(torch.float64).numpy()
    weights = draw(uniform(-1, 1), [values.size], seed, f"checksum{number}", task_word)
    products = values * weights.astype(np.float64)
    rms = float(np.sqrt(np.mean(values**2)))
    error = 0.0
    if not exact and rms > 0:
        error = float(np.abs(single.reshape(-1).to(torch.float64).numpy() - values).max()) / rms
    index = positions(values.size, task_word, number, samples)
    return {
        "shape": list(double.shape),
        "dtype": "f32" if not exact else DTYPES[double.dtype],
        "rms": rms,
        "std": float(values.std()),
        "absmax": float(np.abs(values).max()),
        "checksum": float(products.sum()),
        "checksum_scale": float(np.abs(products).sum()),
        "float32_error": error,
        "index": index,
        "value": [int(values[i]) if exact else float(values[i]) for i in index],
    }


def parse_drawn(text):
    """A distribution as kbench writes it: "uniform(-4, 4)", "normal, triu"."""
    head, _, then = text.partition("), ") if "(" in text else text.partition(", ")
    kind, _, bounds = head.rstrip(")").partition("(")
    dist = {"kind": kind}
    if bounds:
        number = int if kind == "randint" else float
        low, high = map(number, bounds.split(", "))
        dist.update({"mean": low, "std": high} if kind == "normal" else {"lo": low, "hi": high})
    return {**dist, "then": then} if then else dist


def same_dist(a, b):
    """But for digits: kbench writes six."""
    defaults = {"mean": 0, "std": 1} if a["kind"] == "normal" else {}
    a, b = {**defaults, **a}, {**defaults, **b}
    if set(a) != set(b):
        return False
    return all(
        a[key] == b[key] if isinstance(a[key], str) else math.isclose(a[key], b[key], rel_tol=1e-5)
        for key in a)  # fmt: skip


def changed_draws(facts, record):
    """By name, the tensors of the record that kbench draws otherwise."""
    changed = {}
    kinds = {tensor["name"]: tensor for tensor in record["tensors"] if tensor["kind"] != "scalar"}
    for tensor in facts["inputs"] + facts["parameters"]:
        dist = parse_drawn(tensor["drawn_from"])
        if not same_dist(dist, kinds[tensor["name"]]["dist"]):
            changed[tensor["name"]] = dist
    return changed


def compute(folder, record, overrides, draws, half, samples):
    """The record of the base's task with some variables overridden, and some tensors drawn otherwise;
    and its float64 outputs."""
    task, seed = record["task"], record["seed"]
    dtype = HALVES.get(half)
    level, number = map(int, task.split("/"))
    task_word = level * 65536 + number
    module, sizes = load_module(folder, task, record["vars"], overrides)
    model = build(module)
    tensors = input_tensors(module, model, record)
    inputs = len(tensors)
    tensors += parameter_tensors(model, record)
    for tensor in tensors:
        if tensor["name"] in draws:
            tensor["dist"] = draws[tensor["name"]]
    arguments, parameters = [], {}
    for i, tensor in enumerate(tensors):
        if tensor["kind"] == "scalar":
            arguments.append(tensor["value"])
            continue
        drawn = draw(tensor["dist"], tensor["shape"], seed, tensor["name"], task_word)
        if i < inputs:
            drawn = drawn.astype(bool) if tensor["dtype"] == "bool" else drawn
            arguments.append(rounded(torch.from_numpy(np.array(drawn)), dtype))
        else:
            parameters[tensor["name"]] = rounded(torch.from_numpy(np.array(drawn)), dtype)
    single = run(model, arguments, parameters, torch.float32, dtype)
    double = run(build(module), arguments, parameters, torch.float64, dtype)
    if any(not torch.isfinite(output).all() for output in double):
        raise ValueError("an output is not finite")
    made = {
        "task": task,
        "name": record["name"],
        **({"dtype": half} if half else {}),
        "seed": seed,
        "vars": sizes,
        "tensors": tensors,
        "constants": [
            {"name": name, "shape": list(buffer.shape)}
            for name, buffer in model.named_buffers()
            if name.split(".")[-1] not in ("running_mean", "running_var", "num_batches_tracked")
        ],
        "outputs": [
            describe_output(d, s, seed, task_word, i, samples)
            for i, (d, s) in enumerate(zip(double, single))
        ],
    }
    return made, double


# --- files ----------------------------------------------------------------------------------------
def read(path):
    if path.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(text)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, document):
    text = json.dumps(document, separators=(",", ":")).encode()
    if path.endswith(".zst"):
        subprocess.run(["zstd", "-19", "-qfo", path], check=True, input=text)
        return
    with open(path, "wb") as file:
        file.write(text)


def selected(selection):
    """Whether a selection like 1/19,2/* names a task."""
    items = [item for item in selection.split(",") if item]
    return lambda task: not items or task in items or task.split("/")[0] + "/*" in items


def differences(mine, outputs, theirs):
    """How a record computed again differs from the base's, in words."""
    for field in ("vars", "tensors", "constants"):
        if mine[field] != theirs[field]:
            yield f"{field} differ"
    if len(outputs) != len(theirs["outputs"]):
        yield "another number of outputs"
        return
    for output, got, want in zip(outputs, mine["outputs"], theirs["outputs"]):
        if got["shape"] != want["shape"] or got["dtype"] != want["dtype"]:
            yield f"{got['dtype']} {got['shape']} for {want['dtype']} {want['shape']}"
            continue
        values = output.reshape(-1).to(torch.float64).numpy()
        scale = want["rms"] or 1.0
        # The base lists nine digits; both runs order their sums as they like.
        listed = np.abs(values[want["index"]] - np.array(want["value"], dtype=np.float64))
        bound = 1e-8 * (scale + np.abs(np.array(want["value"], dtype=np.float64)))
        if (listed > bound).any():
            yield f"a listed value is off by {listed.max() / scale:.2g} of the rms"
        for field, unit in (("rms", scale), ("std", scale), ("absmax", want["absmax"] or 1.0),
                            ("checksum", want["checksum_scale"] or 1.0),
                            ("checksum_scale", want["checksum_scale"] or 1.0)):  # fmt: skip
            off = abs(got[field] - want[field]) / unit
            if off > 1e-9:
                yield f"{field} is off by {off:.2g}"
        # Another build of PyTorch rounds otherwise in float32: the same order of magnitude.
        if not got["float32_error"] <= 30 * max(want["float32_error"], 1e-7):
            yield f"float32_error is {got['float32_error']:.2g} for {want['float32_error']:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernelbench", required=True, help="a checkout of KernelBench")
    parser.add_argument("--base", required=True, help="a golden file: .json or .json.zst")
    parser.add_argument("--variants", help="the overrides, by task")
    parser.add_argument("--out", help="the golden file to write")
    parser.add_argument("--check", action="store_true", help="compute the base again and compare")
    parser.add_argument("--again", action="store_true", help="make the base's records anew")
    parser.add_argument("--facts", help="how kbench draws tensors")
    parser.add_argument("--task", default="", help="1/19,2/* for some; all without it")
    parser.add_argument("--dtype", choices=sorted(HALVES), help="round what is drawn to it")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="elements of an output")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.check + options.again + bool(options.variants) != 1:
        parser.error("give one of --check, --again and --variants")
    if not options.check and not options.out:
        parser.error("--variants and --again need --out")

    if options.dtype and not options.again:
        parser.error("--dtype goes with --again")

    warnings.filterwarnings("ignore")  # of old functions and of options without effect
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    wants = selected(options.task)
    whole = read(options.base)["tasks"]
    base = [record for record in whole if wants(record["task"])]
    facts = {}
    if options.facts:
        with open(options.facts, encoding="utf-8") as file:
            facts = {f["task"].replace("level", ""): f for f in map(json.loads, file)}
    variants = read(options.variants) if options.variants else {}
    unknown = set(variants) - {record["task"] for record in base}
    if unknown and not options.task:
        parser.error(f"the base has no task {', '.join(sorted(unknown))}")

    made, bad = [], 0
    for record in base:
        draws = changed_draws(facts[record["task"]], record) if record["task"] in facts else {}
        once = options.check or options.again
        for overrides in [{}] if once else variants.get(record["task"], []):
            try:
                mine, outputs = compute(
                    options.kernelbench, record, overrides, draws,
                    options.dtype or record.get("dtype"), options.samples)  # fmt: skip
                problems = list(differences(mine, outputs, record)) if options.check else []
                made.append(mine)
            except Exception as error:
                problems = [f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"]
            if problems:
                bad += 1
                print(record["task"], overrides or "", "; ".join(problems), file=sys.stderr)
    if options.check:
        print(f"{len(base) - bad} of {len(base)} records agree")
    else:
        if options.again and not options.dtype:
            anew = {record["task"]: record for record in made}
            made = [anew.get(record["task"], record) for record in whole]
        write(options.out, {"generator": f"PyTorch {torch.__version__}, float64", "tasks": made})
        print(f"{len(made)} records written, {bad} left out")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
