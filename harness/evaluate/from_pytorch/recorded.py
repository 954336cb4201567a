# The graph of a task as it is recorded from PyTorch's calls: values, the steps that make them, and
# the task's file. Put in front of operators.py and trace.py.
import inspect
import itertools
import json
import math
import numbers

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f32",
    torch.float16: "f32",
    torch.bfloat16: "f32",
    torch.int64: "i64",
    torch.int32: "i64",
    torch.int16: "i64",
    torch.int8: "i64",
    torch.uint8: "i64",
    torch.bool: "bool",
}
TORCH_TYPES = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}
MOST_DATA = 1 << 24  # values that a task's file may say
MOST_OPERANDS = 64  # of a cat
MOST_STEPS = 16384  # of a task
MOST_EXTENT = 2**31 - 1  # of a dimension, as an attribute may say it
MANY_STEPS = 256  # of one line of the problem's file, from which on a note says so
LONG_FILL = 4096  # equal values from which on a file says one, and an expand the rest


class Unknown(Exception):
    """What kbench has no operator for."""


def kind_of(dtype):
    """A type of PyTorch's as a graph has it."""
    if dtype not in DTYPES:
        raise Unknown(f"tensors of {dtype}")
    return DTYPES[dtype]


class Drawn:
    """How a tensor is drawn at random, as far as it is known: as a task's file writes it."""

    def __init__(self, kind, lo=0.0, hi=1.0, then=""):
        self.kind, self.lo, self.hi, self.then = kind, lo, hi, then

    def text(self):
        numbers_too = self.kind != "normal" or (self.lo, self.hi) != (0, 1)
        text = self.kind + (f"({number(self.lo)}, {number(self.hi)})" if numbers_too else "")
        return text + (f", {self.then}" if self.then else "")

    def scaled(self, factor, more):
        """x * factor + more of it."""
        if self.then == "twice" and (factor, more) == (1, -1):
            return Drawn("randint", 0, 2, "plus_minus_one")
        if self.then or self.kind in ("randint", "fill"):
            return None
        lo, hi = self.lo * factor + more, self.hi * factor
        if self.kind == "uniform":
            hi += more
            lo, hi = min(lo, hi), max(lo, hi)
        return Drawn(self.kind, lo, hi if self.kind == "uniform" else abs(hi))

    def same(self, other):
        return vars(self) == vars(other)


class Value:
    def __init__(self, shape, dtype="f32", kind="result"):
        self.shape, self.dtype, self.kind = tuple(int(each) for each in shape), dtype, kind
        self.name = ""
        self.step = None  # that makes it
        self.tensor = None  # data's
        self.bits = dtype == "bool"  # of data too, which has none of that type
        self.fill = None  # of data: the one number that all its elements are
        self.drawn = None  # of an input or a parameter
        self.role = None  # of a parameter: how kbench draws one that is used so
        self.swapped = None  # of a transposition of the last two dimensions: what is transposed

    @property
    def rank(self):
        return len(self.shape)

    @property
    def elements(self):
        return math.prod(self.shape)

    def axis(self, dim):
        axis = dim + self.rank if dim < 0 else dim
        if not 0 <= axis < max(self.rank, 1):
            raise IndexError(f"there is no dimension {dim} in a tensor of shape {list(self.shape)}")
        return axis


class Step:
    def __init__(self, op, inputs, attributes):
        self.op, self.inputs, self.attributes, self.outputs = op, inputs, attributes, []
        self.module = ""  # the path of the module that it belongs to; empty: the model itself
        self.is_modules = False  # the module is PyTorch's own, and is what it computes
        self.line = None  # of the problem's file


class Graph:
    def __init__(self):
        self.steps, self.inputs, self.parameters = [], [], []
        self.place = lambda: ("", False, None)  # of a step that is recorded, as a Step has it

    def step(self, op, inputs, attributes, shapes, dtype="f32"):
        step = Step(op, inputs, attributes)
        step.module, step.is_modules, step.line = self.place()
        for shape in shapes:
            value = Value(shape, dtype)
            value.step = step
            step.outputs.append(value)
        self.steps.append(step)
        return step.outputs

    def needed(self, outputs):
        """The steps that outputs depend on."""
        wanted, kept = {id(each) for each in outputs}, []
        for step in reversed(self.steps):
            if any(id(each) in wanted for each in step.outputs):
                wanted.update(id(each) for each in step.inputs)
                kept.append(step)
        return kept[::-1]

    def file(self, name, title, outputs):
        """The task's file, as JSON, which is YAML; and the names of inputs and parameters in it."""
        steps = self.needed(outputs)
        declared = self.inputs + self.parameters
        data = {}
        for step in steps:
            data.update((id(each), each) for each in step.inputs if each.kind != "result")
        for each in declared:
            data.pop(id(each), None)
        taken, names = set(), {}

        def named(value, wish):
            wish = "".join(c if c.isalnum() or c in "_." else "_" for c in wish) or "x"
            numbered = (f"{wish}_{i}" for i in itertools.count(1))
            known = next(each for each in itertools.chain([wish], numbered) if each not in taken)
            taken.add(known)
            names[id(value)] = known
            return known

        file = {"kbench_task": 1, "name": name, "title": title, "family": "own"}
        # Parameters keep their names; inputs step back.
        parameters = {}
        for each in self.parameters:
            parameters[named(each, each.name)] = declaration(each)
        file["inputs"] = {named(each, each.name): declaration(each) for each in self.inputs}
        if parameters:
            file["parameters"] = parameters
        operators = []
        if data:
            file["data"] = {}
            for each in data.values():
                wish = each.name or "data"
                if each.fill is not None and each.elements > LONG_FILL:
                    one = named(Value(()), wish + "_value")
                    file["data"][one] = {"shape": [1], "values": number(each.fill)}
                    operators.append(
                        {
                            "op": "expand",
                            "in": one,
                            "out": named(each, wish),
                            "attributes": {"shape": list(each.shape)},
                        }
                    )
                else:
                    file["data"][named(each, wish)] = data_of(each)
        counts = {}
        for step in steps:
            own = [] if step.is_modules else [step.op]
            wish = ".".join(([step.module] if step.module else []) + own)
            for each in step.outputs:  # In the model itself all have numbers, for turns of a loop.
                count = counts[wish] = counts.get(wish, 0) + 1
                named(each, wish if count == 1 and step.module else f"{wish}_{count}")
            written = {
                "op": step.op,
                "in": [names[id(each)] for each in step.inputs],
                "out": [names[id(each)] for each in step.outputs],
            }
            if step.attributes:
                written["attributes"] = {
                    key: list(value) if isinstance(value, tuple) else value
                    for key, value in step.attributes.items()
                }
            operators.append(written)
        file["operators"] = operators
        file["outputs"] = [names[id(each)] for each in outputs]
        given = {
            "inputs": [names[id(each)] for each in self.inputs],
            "parameters": [names[id(each)] for each in self.parameters],
        }
        return json.dumps(file, indent=0, default=number), given


def number(value):
    return repr(value.item() if hasattr(value, "item") else value)


def declaration(value):
    drawn = value.drawn or Drawn("normal")
    said = {"shape": list(value.shape), "distribution": drawn.text()}
    if value.dtype != "f32":
        said["dtype"] = value.dtype
    return said


def data_of(value):
    """Its elements; equal ones that follow one another as one, told apart by their bits."""
    if value.elements > MOST_DATA:
        raise Unknown(
            f"a tensor of {value.elements} values that are no input's and no parameter's; "
            f"a task's file has {MOST_DATA} at most"
        )
    tensor = value.tensor.to(TORCH_TYPES["i64" if value.dtype == "i64" else "f32"]).flatten()
    bits = tensor.contiguous().view(torch.int64 if value.dtype == "i64" else torch.int32)
    _, counts = torch.unique_consecutive(bits, return_counts=True)
    firsts = tensor[(torch.cumsum(counts, 0) - counts)].tolist()
    texts = [
        (f"{count}*" if count > 1 else "") + number(each)
        for each, count in zip(firsts, counts.tolist())
    ]
    said = {"shape": list(value.shape), "values": " ".join(texts)}
    if value.dtype == "i64":
        said["dtype"] = "i64"
    return said


def broadcast(*shapes):
    result = []
    for extents in itertools.zip_longest(*(reversed(each) for each in shapes), fillvalue=1):
        wide = {each for each in extents if each != 1}
        if len(wide) > 1:
            raise ValueError(
                "shapes " + " and ".join(str(list(each)) for each in shapes) + " do not broadcast"
            )
        result.append(wide.pop() if wide else 1)
    return tuple(reversed(result))


def is_number(value):
    return isinstance(value, numbers.Number) and not isinstance(value, torch.Tensor)


def plain(value):
    """NumPy's numbers as Python's."""
    return value.item() if is_number(value) and hasattr(value, "item") else value


class Steps:
    """kbench's operators, as they are put together from values: what libkbench/ops/ has for C++."""

    def __init__(self, graph):
        self.graph = graph

    def one(self, op, inputs, shape, dtype="f32", **attributes):
        return self.graph.step(op, inputs, attributes, [shape], dtype)[0]

    def data(self, tensor, name=""):
        value = Value(tensor.shape, kind_of(tensor.dtype), "data")
        value.tensor, value.name = tensor.detach().clone(), name
        if value.dtype == "bool":  # A file has data of f32 and i64.
            value.dtype, value.tensor, value.bits = "f32", value.tensor.float(), True
        flat = value.tensor.flatten()
        if flat.numel() > 0 and value.dtype == "f32" and bool((flat == flat[0]).all()):
            value.fill = flat[0].item()
        return value

    def filled(self, shape, fill):
        value = Value(shape, "f32", "data")
        value.fill = float(fill)
        value.tensor = torch.full((1,), value.fill).expand(value.shape)
        return value

    def floats(self, x):
        return self.cast(x, "f32")

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        if x.kind == "data":
            return self.data(x.tensor.to(TORCH_TYPES[dtype]))
        return self.graph.step("cast", [x], {"dtype": dtype}, [x.shape], dtype)[0]

    # --- elementwise
    def unary(self, op, x, **attributes):
        x = self.floats(x)
        return self.one(op, [x], x.shape, **attributes)

    def binary(self, op, a, b):
        """add, sub, mul, div, maximum or minimum of values and numbers."""
        a, b = self.number_if_filled(a, b), self.number_if_filled(b, a)
        if is_number(a) and is_number(b):
            a = self.filled((), a)
        if is_number(b):
            if op in ("maximum", "minimum"):
                return self.unary("clamp_min" if op == "maximum" else "clamp_max", a, value=b)
            return self.unary(op + "_scalar", a, value=b)
        if is_number(a):
            if op in ("add", "mul", "maximum", "minimum"):
                return self.binary(op, b, a)
            if op == "sub":
                negative = self.unary("neg", b)
                return negative if a == 0 else self.binary("add", negative, a)
            a = self.data(torch.tensor([float(a)]))
        if op == "mul" and "bool" in (a.dtype, b.dtype) and a.shape == b.shape:
            if a.dtype == "bool":
                a, b = b, a
            if a.dtype == "f32":
                return self.one("mul_mask", [a, b], a.shape)
        a, b = self.floats(a), self.floats(b)
        return self.one(op, [a, b], broadcast(a.shape, b.shape))

    @staticmethod
    def number_if_filled(value, other):
        """A tensor of equal elements beside a larger one is a number."""
        if not isinstance(value, Value) or value.fill is None or is_number(other):
            return value
        return value.fill if broadcast(value.shape, other.shape) == other.shape else value

    # --- shapes
    def moved(self, x, shape, move):
        """Data with its elements moved; of equal ones there is one in memory."""
        y = self.filled(shape, x.fill) if x.fill is not None else self.data(move(x.tensor), x.name)
        y.bits = x.bits
        return y

    def reshape(self, x, shape):
        shape = [int(each) for each in shape]
        if -1 in shape:
            known = math.prod(each for each in shape if each != -1)
            shape[shape.index(-1)] = x.elements // known
        if max(shape, default=0) > MOST_EXTENT:
            raise Unknown(f"a dimension of {max(shape)}; a task has {MOST_EXTENT} at most")
        if math.prod(shape) != x.elements:
            raise ValueError(f"shape {shape} does not hold the elements of {list(x.shape)}")
        if x.kind == "data":
            return self.moved(x, shape, lambda tensor: tensor.reshape(shape))
        return self.one_of(x.dtype, "reshape", [x], shape, {"shape": tuple(shape)})

    def flatten(self, x, first=0, last=-1):
        if x.rank == 0:
            return self.reshape(x, [1])
        first, last = x.axis(first), x.axis(last)
        extents = x.shape
        return self.reshape(
            x, [*extents[:first], math.prod(extents[first : last + 1]), *extents[last + 1 :]]
        )

    def squeeze(self, x, axes):
        return self.reshape(x, [each for i, each in enumerate(x.shape) if i not in axes])

    def unsqueeze(self, x, axis):
        axis = axis + x.rank + 1 if axis < 0 else axis
        return self.reshape(x, [*x.shape[:axis], 1, *x.shape[axis:]])

    def permute(self, x, axes):
        axes = [x.axis(each) for each in axes]
        if axes == list(range(x.rank)):
            return x
        if x.kind == "data":
            extents = [x.shape[each] for each in axes]
            return self.moved(x, extents, lambda tensor: tensor.permute(axes))
        if x.step is not None and x.step.op == "permute":  # Two after one another are one.
            before = x.step.attributes["axes"]
            return self.permute(x.step.inputs[0], [before[each] for each in axes])
        return self.one("permute", [x], [x.shape[each] for each in axes], x.dtype, axes=tuple(axes))

    def transpose(self, x, a, b):
        axes = list(range(x.rank))
        a, b = x.axis(a), x.axis(b)
        axes[a], axes[b] = b, a
        steps = len(self.graph.steps)
        y = self.permute(x, axes)
        if {a, b} == {x.rank - 2, x.rank - 1} and len(self.graph.steps) > steps:
            y.swapped = x
        return y

    def slice(self, x, axis, start, stop, step=1):
        axis, extent = x.axis(axis), x.shape[x.axis(axis)]
        start, stop, step = slice(start, stop, step).indices(extent)
        if (start, step) == (0, 1) and stop == extent:
            return x
        count = max(0, -(-(stop - start) // step))
        if count == 0:
            raise Unknown("a slice without elements")
        shape = [*x.shape[:axis], count, *x.shape[axis + 1 :]]
        if x.kind == "data":
            part = (slice(None),) * axis + (slice(start, stop, step),)
            return self.moved(x, shape, lambda tensor: tensor[part])
        attributes = {"axis": axis, "start": start, "stop": stop, "step": step}
        return self.graph.step("slice", [x], attributes, [shape], x.dtype)[0]

    def select(self, x, axis, index):
        axis = x.axis(axis)
        index = index + x.shape[axis] if index < 0 else index
        if not 0 <= index < x.shape[axis]:
            raise IndexError(f"index {index} is out of bounds for a dimension of {x.shape[axis]}")
        return self.squeeze(self.slice(x, axis, index, index + 1), [axis])

    def cat(self, parts, axis):
        axis = parts[0].axis(axis)
        parts = [each for each in parts if each.shape != (0,)]
        if len(parts) == 1:
            return parts[0]
        # Zeros at an end are padding.
        zeros = [each.kind == "data" and each.fill == 0 for each in parts]
        if (
            len(parts) == 2
            and any(zeros)
            and not all(zeros)
            and parts[zeros.index(False)].dtype == "f32"
        ):
            known = parts[zeros.index(False)]
            before, after = (each.shape[axis] if zero else 0 for each, zero in zip(parts, zeros))
            return self.pad(known, axis, before, after)
        while len(parts) > 1:
            parts = [
                self.joined(parts[i : i + MOST_OPERANDS], axis)
                for i in range(0, len(parts), MOST_OPERANDS)
            ]
        return parts[0]

    def joined(self, parts, axis):
        if len({each.dtype for each in parts}) > 1:
            parts = [self.floats(each) for each in parts]
        shape = list(parts[0].shape)
        shape[axis] = sum(each.shape[axis] for each in parts)
        return self.one_of(parts[0].dtype, "cat", parts, shape, {"axis": axis})

    def one_of(self, dtype, op, inputs, shape, attributes):
        return self.graph.step(op, inputs, attributes, [shape], dtype)[0]

    def pad(self, x, axis, before, after):
        """Zeros; a negative number takes elements away."""
        axis = x.axis(axis)
        if before < 0 or after < 0:
            x = self.slice(x, axis, max(-before, 0), x.shape[axis] - max(-after, 0))
            before, after = max(before, 0), max(after, 0)
        if before == after == 0:
            return x
        x = self.floats(x)
        shape = list(x.shape)
        shape[axis] += before + after
        return self.one("pad", [x], shape, axis=axis, before=before, after=after)

    def expand(self, x, shape):
        shape, more = [int(each) for each in shape], len(shape) - x.rank
        shape = [x.shape[i - more] if each == -1 else each for i, each in enumerate(shape)]
        if tuple(shape) == x.shape:
            return x
        if x.fill is not None:
            return self.filled(shape, x.fill)
        return self.one_of(x.dtype, "expand", [x], shape, {"shape": tuple(shape)})

    def rows(self, table, index):
        """Of a table of any rank, along its first dimension."""
        table, rest = self.floats(table), table.shape[1:]
        if len(rest) != 1:
            table = self.reshape(table, [table.shape[0], math.prod(rest)])
        y = self.one("index_rows", [table, self.cast(index, "i64")], [*index.shape, table.shape[1]])
        return y if len(rest) == 1 else self.reshape(y, [*index.shape, *rest])

    # --- reductions
    def along(self, op, x, axis, **attributes):
        x = self.floats(x)
        return self.one(op, [x], x.shape, axis=x.axis(axis), **attributes)

    def reduced(self, op, x, axes=None, keepdim=False, dtype="f32"):
        """Over all dimensions (None), one, or several: neighbours as one."""
        x = self.floats(x)
        if axes is None or axes == [] or axes == ():
            kept = [1] * x.rank
            if x.elements > MOST_EXTENT and x.rank > 1 and not op.startswith("arg"):
                x = self.reduced_one(op, x, x.rank - 1, False, dtype)  # as one would be too long
            y = self.reduced_one(op, self.flatten(x) if x.rank != 1 else x, 0, False, dtype)
            return self.reshape(y, kept) if keepdim and x.rank > 0 else y
        axes = sorted({x.axis(each) for each in ([axes] if is_number(axes) else axes)})
        kept = [1 if i in axes else each for i, each in enumerate(x.shape)]
        groups = []
        for axis in axes:
            if groups and groups[-1][-1] == axis - 1:
                groups[-1].append(axis)
            else:
                groups.append([axis])
        for group in reversed(groups):
            if len(group) > 1:
                x = self.flatten(x, group[0], group[-1])
            x = self.reduced_one(op, x, group[0], keepdim, dtype)
        return self.reshape(x, kept) if keepdim and list(x.shape) != kept else x

    def reduced_one(self, op, x, axis, keepdim, dtype):
        shape = [*x.shape[:axis], *([1] if keepdim else []), *x.shape[axis + 1 :]]
        return self.one_of(dtype, op, [x], shape, {"axis": axis, "keepdim": int(keepdim)})

    # --- products
    def matmul(self, a, b):
        a, b = self.floats(a), self.floats(b)
        if a.rank == 1:
            return self.squeeze_at(self.matmul(self.reshape(a, [1, *a.shape]), b), -2)
        if b.rank == 1:
            return self.squeeze_at(self.matmul(a, self.reshape(b, [*b.shape, 1])), -1)
        flags = {}
        if a.swapped is not None:
            a, flags["transpose_a"] = a.swapped, 1
        if b.swapped is not None:
            b, flags["transpose_b"] = b.swapped, 1
        return self.product(a, b, **flags)

    def squeeze_at(self, x, axis):
        return self.squeeze(x, [x.axis(axis)])

    def product(self, a, b, transpose_a=0, transpose_b=0):
        m, inner = a.shape[-2:][:: -1 if transpose_a else 1]
        other, n = b.shape[-2:][:: -1 if transpose_b else 1]
        if inner != other:
            raise ValueError(f"inner extents differ: {inner} and {other}")
        shape = (*broadcast(a.shape[:-2], b.shape[:-2]), m, n)
        return self.one("matmul", [a, b], shape, transpose_a=transpose_a, transpose_b=transpose_b)

    def linear(self, x, weight, bias=None):
        x = self.floats(x)
        if weight.role is None:
            weight.role = fan_in_weight(weight.shape[1])
        inputs = [x, weight] + ([bias] if bias is not None else [])
        return self.one("linear", inputs, [*x.shape[:-1], weight.shape[0]])


def fan_in_weight(fan_in):
    """weight_init() of kbench/ops.h: keeps activations at unit scale."""
    bound = round(math.sqrt(3 / max(fan_in, 1)) * 1e6) / 1e6
    return Drawn("uniform", -bound, bound)
