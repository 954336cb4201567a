# Runs a problem's file, a KernelBench file with Model, get_inputs() and get_init_inputs(), and
# records what its forward() calls. recorded.py and operators.py come before it.
#
# Parameters and inputs are tensors of the device "meta", which have a shape and no memory. What a
# module makes of plain numbers, a mask, an index, is computed as it is, and becomes data.
#
# Descriptor 0 has a JSON list of requests {"file": TEXT'S FILE, "shown": its name in messages,
# "name": the task's, "title": ..., "sizes": TEXT}; descriptor 3 takes a list of answers, each
# {"task": the task's file, "sizes": {NAME: number or list}, "notes": [...]} or {"error": MESSAGE}.
import ast
import collections
import inspect
import os
import re
import signal
import sys
import traceback
import types

from torch.overrides import TorchFunctionMode, resolve_name

META = torch.device("meta")
MOST_REAL = MOST_DATA  # elements of a tensor that is computed rather than recorded

# Functions that make tensors. What they put there is known, or drawn at random, or nothing.
MADE_REAL = set(
    """
    zeros ones full arange linspace logspace eye tensor as_tensor from_numpy tril_indices
    triu_indices range scalar_tensor hann_window hamming_window asarray zeros_like ones_like
    full_like new_zeros new_ones new_full new_tensor frombuffer complex polar
    """.split()
)
MADE_DRAWN = set(
    """
    rand randn randint normal randperm bernoulli multinomial poisson rand_like randn_like
    randint_like
    """.split()
)
MADE_EMPTY = {"empty", "empty_like", "new_empty", "empty_strided"}
# What a tensor says of itself without its values.
FACTS = set(
    """
    shape size dim ndim numel nelement dtype device stride is_cuda is_contiguous
    is_floating_point is_complex ndimension requires_grad grad_fn grad layout is_nested
    is_sparse is_quantized is_meta is_leaf names element_size get_device __len__
    storage_offset is_mkldnn is_mps is_xpu has_names is_same_size is_inference is_conj is_neg
    is_signed itemsize retain_grad retains_grad _backward_hooks register_hook is_ort is_xla
    __hash__ __repr__ __format__ __dir__ data_ptr result_type is_tensor can_cast
    broadcast_shapes promote_types is_storage output_nr _version _base _is_view nbytes
    is_pinned is_shared is_coalesced volatile
    """.split()
)
# What takes a tensor's values out of PyTorch, where a graph has none.
READS = {
    "__bool__": "bool()",
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__int__": "int()",
    "__float__": "float()",
    "__index__": "an index",
    "__complex__": "complex()",
    "__array__": "an array of NumPy's",
    "__contains__": "in",
    "nonzero": "nonzero()",
    "equal": "torch.equal()",
    "allclose": "torch.allclose()",
    "is_nonzero": "is_nonzero()",
    "unique": "unique()",
}
# Views: what shares memory with its argument if PyTorch says so.
VIEWS = set(
    """
    view reshape view_as reshape_as flatten ravel unflatten unsqueeze squeeze permute
    transpose swapaxes swapdims t T mT H mH adjoint movedim moveaxis expand expand_as
    broadcast_to chunk split split_with_sizes unsafe_split tensor_split unbind select narrow
    getitem detach alias contiguous to type type_as float cuda cpu double half bfloat16
    requires_grad_ pin_memory positive unfold
    """.split()
)
# Of these, what is the same tensor where it has the type already.
SAME_TENSOR = set(
    """
    to type type_as float cuda cpu double half bfloat16 requires_grad_ pin_memory positive
    detach alias
    """.split()
)
# Whose arguments stand in another order in torch than in torch.nn.functional, whose order the table
# has.
OTHER_ORDER = {"batch_norm", "instance_norm", "embedding"}
# What is drawn as their argument is.
COPIES = set(
    "clone detach data float double half bfloat16 long int bool to contiguous deepcopy".split()
)
RESHAPED = {"view", "reshape", "unsqueeze", "getitem", "expand", "flatten", "permute"}
# What a tensor is on its way to a distribution that a task's file can say.
UNFINISHED = {"transposed", "sum", "twice"}


class Dependent(Exception):
    """What depends on values that are drawn only when the task runs."""


def name_of(function):
    """The row's name of a function, and whether it is done in place: "add" of Tensor.__iadd__."""
    name = getattr(function, "__name__", str(function))
    if name in ("__get__", "__set__"):
        return function.__self__.__name__, name == "__set__"
    if name in READS or name in FACTS:
        return name, False
    if name.startswith("__") and name.endswith("__"):
        bare = name[2:-2]
        if bare in ("getitem", "setitem"):
            return bare, bare == "setitem"
        if bare not in ROWS and bare.startswith("i") and bare[1:] in ROWS:
            return bare[1:], True
        if bare not in ROWS and bare.startswith("r") and bare[1:] in ROWS:
            return "r" + bare[1:], False
        return bare, False
    if name.endswith("_") and not name.endswith("__") and name[:-1] in (ROWS.keys() | CHANGED):
        return name[:-1], name not in ROWS
    return name, False


CHANGED = set(
    """
    uniform normal random zero fill copy bernoulli exponential log_normal cauchy geometric
    erfinv masked_scatter index_fill trunc_normal
    """.split()
)


def shown_name(function):
    """ "torch.nn.functional.hinge_embedding_loss"."""
    try:
        name = resolve_name(function)
    except Exception:
        name = None
    name = name or getattr(function, "__name__", str(function))
    return re.sub(r"\.__get__$", "", name)


def tensors_in(arguments):
    for each in arguments:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, (list, tuple)):
            yield from tensors_in(each)
        elif isinstance(each, slice):
            yield from tensors_in((each.start, each.stop, each.step))
        elif isinstance(each, dict):
            yield from tensors_in(each.values())


def replaced(argument, change):
    """An argument with change(tensor) in place of its tensors."""
    if isinstance(argument, torch.Tensor):
        return change(argument)
    if isinstance(argument, (list, tuple)) and not isinstance(argument, torch.Size):
        made = [replaced(each, change) for each in argument]
        return made if isinstance(argument, list) else tuple(made)
    if isinstance(argument, dict):
        return {key: replaced(each, change) for key, each in argument.items()}
    return plain(argument)


def two_numbers(arguments, named, first, second):
    """What is given of two arguments that are 0 and 1 otherwise."""
    given = dict(zip((first, second), arguments), **named)
    return float(given.get(first, 0.0)), float(given.get(second, 1.0))


class View:
    """Of a tensor that shares memory with another one."""

    def __init__(self, base, steps, seen):
        self.base, self.steps, self.seen = base, steps, seen


class Mode(TorchFunctionMode):
    def __init__(self, tracer):
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, function, types, arguments=(), named=None):
        tracer = self.tracer
        tracer.depth += 1
        try:
            return tracer.called(function, arguments, dict(named or {}))
        finally:
            tracer.depth -= 1


class Tracer:
    """Two phases: while the file is executed, the model made and its inputs drawn, tensors are
    either real or `drawn`; in forward() calls are recorded."""

    def __init__(self):
        self.graph = Graph()
        self.k = Steps(self.graph)
        self.k.note = self.note
        self.k.pair = lambda op: collections.namedtuple(op, ["values", "indices"])._make
        self.recording = False
        self.watching = False  # while the problem's file runs
        self.depth = 0  # of calls that are being recorded: what these call is not
        self.notes = []
        self.current = {}  # id of a tensor -> (the tensor, its value now)
        self.views = {}
        self.drawn = {}  # id of a tensor -> (the tensor, how it is drawn: Drawn or None)
        self.constants = {}
        self.names = {}  # id of a tensor -> its name in the module
        self.path = []  # of modules that are running
        self.file, self.lines = "", []  # the problem's file

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    # --- calls
    def called(self, function, arguments, named):
        name, changes = name_of(function)
        if name in FACTS and not changes:
            if name == "device":
                return torch.device("cpu")  # Where a mask is made that goes with it.
            return function(*arguments, **named)
        named.pop("device", None)
        named.pop("pin_memory", None)
        if not self.recording:
            return self.prepared(function, name, changes, arguments, named)
        if name == "data" and not changes:
            return arguments[0]
        everything = list(tensors_in((arguments, named)))
        if name in MADE_REAL or name in MADE_EMPTY:
            return self.made(function, name, arguments, named)
        if name in MADE_DRAWN and not changes:
            return self.drawn_input(function, name, arguments, named)
        if not any(self.is_recorded(each) for each in everything):
            return function(*arguments, **named)
        if name in READS:
            raise Dependent(
                f"{shown_name(function)} needs the values of a tensor that depends on "
                f"the inputs ({READS[name]}): the task's graph cannot depend on them"
            )
        return self.recorded(function, name, changes, arguments, named)

    def is_recorded(self, tensor):
        return id(tensor) in self.current or tensor.device.type == "meta"

    def made(self, function, name, arguments, named):
        """A tensor of known values; equal ones take no memory."""
        arguments = replaced(arguments, self.real_shape)
        if name in MADE_EMPTY:  # What is read of it has been written before, or is wrong anyway.
            arguments, named = [arguments, {"dtype": named.get("dtype")}]
            return function(
                *arguments, **{key: each for key, each in named.items() if each}
            ).zero_()
        shape = self.large_shape(name, arguments, named)
        if shape is not None:
            fill = (
                0
                if "zeros" in name
                else 1
                if "ones" in name
                else first_of(named.get("fill_value"), arguments[1])
            )
            return torch.full((1,), float(fill)).expand(shape)
        return function(*arguments, **named)

    @staticmethod
    def real_shape(tensor):
        """Of zeros_like(x): a tensor of its shape that is no meta tensor."""
        if tensor.device.type != "meta":
            return tensor
        return torch.empty(1, dtype=tensor.dtype).expand(tensor.shape)

    @staticmethod
    def large_shape(name, arguments, named):
        if name not in ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like"):
            return None
        if named.get("dtype", torch.float32) not in (None, torch.float32) or not arguments:
            return None
        first = arguments[0]
        if name.endswith("_like"):
            shape = first.shape if first.dtype == torch.float32 else ()
        elif name == "full":
            shape = first
        else:
            shape = arguments if is_number(first) else first
        return tuple(shape) if math.prod(shape) > MOST_REAL else None

    # --- before forward()
    def prepared(self, function, name, changes, arguments, named):
        if not changes and (name in MADE_DRAWN or name in MADE_EMPTY):
            return self.drawn_anew(function, name, arguments, named)
        unknown = [each for each in tensors_in((arguments, named)) if each.device.type == "meta"]
        if name in MADE_REAL:
            made = self.made(function, name, arguments, named)
            return made
        if not unknown:
            return function(*arguments, **named)
        if name in ("cuda", "cpu", "to", "requires_grad_", "pin_memory", "contiguous") and not any(
            isinstance(each, torch.dtype) for each in (*arguments, *named.values())
        ):
            return arguments[0]
        if name in READS:
            raise Dependent(
                f"{shown_name(function)} needs values of a tensor that is drawn at random"
            )
        return self.drawn_on(function, name, changes, arguments, named)

    def drawn_anew(self, function, name, arguments, named):
        for each in ("out", "generator"):
            named.pop(each, None)
        drawn = None
        if name in ("rand", "rand_like"):
            drawn = Drawn("uniform", 0.0, 1.0)
        elif name in ("randn", "randn_like"):
            drawn = Drawn("normal")
        elif name in ("randint", "randint_like"):
            given = [each for each in arguments if is_number(each)]
            low = first_of(named.get("low"), given[0] if len(given) > 1 else 0)
            high = first_of(
                named.get("high"),
                given[1] if len(given) > 1 else None,
                given[0] if given and "low" not in named else None,
            )
            drawn = Drawn("randint", int(low), int(high))
        elif name == "normal":
            given = dict(zip(("mean", "std", "size"), arguments), **named)
            shaped = next(tensors_in([given.get("mean"), given.get("std")]), None)
            if shaped is None:
                drawn = Drawn("normal", *two_numbers((), given, "mean", "std"))
            shape = given["size"] if shaped is None else shaped.shape
            return self.keep(torch.empty(tuple(shape), device=META), drawn)
        elif name == "randperm":
            drawn = Drawn("randint", 0, int(arguments[0]))
        made = (
            function(*arguments, **named, device=META)
            if name != "bernoulli"
            else torch.empty_like(arguments[0], device=META)
        )
        return self.keep(made, drawn)

    def drawn_input(self, function, name, arguments, named):
        """A task's steps draw nothing: what forward() draws comes in. It is called by the variable
        that it is given to, if there is one."""
        arguments = replaced(tuple(arguments), self.meta)
        tensor = self.drawn_anew(function, name, arguments, named)
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        line = self.lines[frame.f_lineno - 1] if frame is not None else ""
        target = re.match(r"\s*(\w+)\s*=[^=]", line)
        value = self.declare(tensor, target.group(1) if target else "drawn")
        self.note(f"{value.name}, which forward() draws, is an input")
        return self.bind(tensor, value)

    def declare(self, tensor, name):
        """An input."""
        value = Value(tensor.shape, DTYPES[tensor.dtype], "input")
        drawn = self.drawn_as(tensor)
        if not can_be_said(drawn, value.dtype):
            drawn = Drawn("normal") if value.dtype == "f32" else Drawn("randint", 0, 2)
            self.note(f"input {name} is drawn as {drawn.text()}")
        value.name, value.drawn = name, drawn
        self.graph.inputs.append(value)
        return value

    @staticmethod
    def meta(tensor):
        return tensor if tensor.device.type == "meta" or tensor.dim() == 0 else tensor.to(META)

    def keep(self, tensor, drawn):
        self.drawn[id(tensor)] = (tensor, drawn)
        return tensor

    def drawn_as(self, tensor):
        return self.drawn.get(id(tensor), (None, None))[1]

    def drawn_on(self, function, name, changes, arguments, named):
        """What becomes of a tensor that is drawn, as far as a task's file can say it."""
        x = arguments[0] if arguments else next(iter(named.values()))
        made = None
        if changes and name in ("uniform", "normal", "random", "zero", "fill", "copy"):
            rest = [*arguments[1:], *named.values()]
            if name == "copy":
                self.keep(x, self.drawn_as(rest[0]))
            elif name == "random":
                self.keep(x, None)
            elif name in ("zero", "fill"):
                fill = plain(rest[0]) if rest and not isinstance(rest[0], torch.Tensor) else 0
                self.keep(x, Drawn("fill", float(fill)))
            else:
                names = ("from", "to") if name == "uniform" else ("mean", "std")
                self.keep(x, Drawn(name, *two_numbers(arguments[1:], named, *names)))
            return x
        drawn = self.drawn_as(x) if isinstance(x, torch.Tensor) else None
        others = [each for each in arguments[1:] if not isinstance(each, str)]
        whole = drawn is not None and not drawn.then
        if name in COPIES or (name in RESHAPED and whole):
            made = drawn
        elif name in ("add", "sub", "mul", "div", "rsub", "neg"):
            made = self.affine(name, x, others)
        elif name in ("triu", "tril") and whole and not others:
            made = Drawn(drawn.kind, drawn.lo, drawn.hi, name)
        elif name == "softmax" and whole:
            dim = first_of(named.get("dim"), *others)
            if dim in (-1, x.dim() - 1):
                made = Drawn(drawn.kind, drawn.lo, drawn.hi, "softmax_last")
        elif name in ("gt", "ge", "lt", "le"):
            made = Drawn("randint", 0, 2)
        elif name in ("T", "mT", "t", "transpose") and whole and x.dim() == 2:
            made = Drawn(drawn.kind, drawn.lo, drawn.hi, f"transposed {id(x)}")
        result = self.on_meta(function, arguments, named)
        if changes:
            self.keep(x, made)
            return x
        if isinstance(result, torch.Tensor):
            self.keep(result, made)
        return result

    def on_meta(self, function, arguments, named):
        return function(*replaced(tuple(arguments), self.meta), **replaced(named, self.meta))

    def affine(self, name, x, others):
        if name == "neg":
            drawn = self.drawn_as(x)
            return drawn.scaled(-1.0, 0.0) if drawn is not None else None
        y = others[0] if others else None
        a, b = (self.drawn_as(each) if isinstance(each, torch.Tensor) else None for each in (x, y))
        if (
            isinstance(x, torch.Tensor)
            and x.device.type == "meta"
            and isinstance(y, torch.Tensor)
            and y.device.type == "meta"
        ):
            return self.combined(name, a, b, x, y)
        drawn, given = (a, y) if a is not None else (b, x)
        if drawn is None or not is_number(plain(given)):
            return None
        given = float(given)
        if drawn.then.startswith("sum "):  # x + x^T, by 2
            half = (name == "div" and given == 2) or (name == "mul" and given == 0.5)
            return Drawn(drawn.kind, drawn.lo, drawn.hi, "symmetrize") if half else None
        if name == "add":
            return drawn.scaled(1.0, given)
        if name == "sub":
            return drawn.scaled(1.0, -given)
        if name == "rsub":
            return drawn.scaled(-1.0, given)
        if name == "mul":
            return (
                drawn.scaled(given, 0.0)
                if not (drawn.kind == "randint")
                else self.twice(drawn, given)
            )
        return drawn.scaled(1.0 / given, 0.0) if given else None

    @staticmethod
    def twice(drawn, factor):
        known = (drawn.kind, drawn.lo, drawn.hi, drawn.then) == ("randint", 0, 2, "")
        return Drawn("uniform", 0.0, 2.0, "twice") if known and factor == 2 else None

    @staticmethod
    def combined(name, a, b, x, y):
        if name != "add" or a is None or b is None:
            return None
        if b.then == f"transposed {id(x)}":
            return Drawn(a.kind, a.lo, a.hi, "sum with its transpose")
        wide = x.dim() > 0 and y.dim() == x.dim()
        own = 2 if x.dim() > 2 else 1
        if (
            wide
            and a.same(b)
            and not a.then
            and tuple(y.shape) == (*x.shape[:own], *[1] * (x.dim() - own))
        ):
            return Drawn(a.kind, a.lo, a.hi, "offset")
        return None

    # --- forward()
    def value(self, tensor):
        """What a tensor is now."""
        if id(tensor) not in self.current:
            return self.constant(tensor)
        value = self.current[id(tensor)][1]
        view = self.views.get(id(tensor))
        if view is not None:
            base = self.value(view.base)
            if base is not view.seen:  # It has been written to since.
                value = base
                for op, attributes, shape in view.steps:
                    value = self.k.one_of(value.dtype, op, [value], shape, attributes)
                self.current[id(tensor)], view.seen = (tensor, value), base
        return value

    def constant(self, tensor):
        if tensor.device.type == "meta":
            if id(tensor) not in self.drawn:
                raise Unknown(
                    "a tensor that is neither an input nor a parameter, and not computed of them"
                )
            drawn = self.drawn_as(tensor)
            if drawn is not None and drawn.kind == "fill":
                return self.k.filled(tensor.shape, drawn.lo)
            name = self.names.get(id(tensor)) or f"drawn_{len(self.graph.parameters)}"
            self.note(f"{name}, drawn at random by the model, is a parameter")
            return self.parameter(tensor, name)
        if tensor.dtype not in DTYPES:
            raise Unknown(f"tensors of {tensor.dtype}")
        key = (id(tensor), tensor._version)
        if key not in self.constants:
            if tensor.numel() > MOST_REAL:
                one = tensor.flatten()[:1] if tensor.stride() and not any(tensor.stride()) else None
                if one is None:
                    raise Unknown(
                        f"a tensor of {tensor.numel()} values that are no input's and no "
                        f"parameter's; a task's file has {MOST_DATA} at most"
                    )
                value = self.k.filled(tensor.shape, one.item())
            else:
                value = self.k.data(tensor, self.names.get(id(tensor), ""))
                value = self.known_data(value)
            self.constants[key] = (tensor, value)
        return self.constants[key][1]

    def known_data(self, value):
        """One value for what has the same elements."""
        key = (value.shape, value.dtype, value.bits, value.tensor.contiguous().numpy().tobytes())
        return self.constants.setdefault(key, value)

    def parameter(self, tensor, name):
        value = Value(tensor.shape, DTYPES[tensor.dtype], "parameter")
        value.name, value.drawn = name, self.drawn_as(tensor)
        if not can_be_said(value.drawn, value.dtype):
            value.drawn = None  # So is a weight that begins as 1 or 0.
        self.graph.parameters.append(value)
        self.bind(tensor, value)
        return value

    def bind(self, tensor, value):
        self.current[id(tensor)] = (tensor, value)
        return tensor

    def tensor_of(self, value):
        """A new tensor that stands for a value."""
        if not isinstance(value, Value):
            return value
        if value.kind == "data":
            return value.tensor.to(torch.bool) if value.bits else value.tensor
        return self.bind(
            torch.empty(value.shape, dtype=TORCH_TYPES[value.dtype], device=META), value
        )

    def operand(self, tensor):
        """Of a row: a value, or a number where a tensor without dimensions is one."""
        if id(tensor) not in self.current and tensor.device.type != "meta" and tensor.dim() == 0:
            return tensor.item()
        return self.value(tensor)

    def recorded(self, function, name, changes, arguments, named):
        if name == "setitem":
            return self.assign_part(*arguments)
        if name == "data":
            return self.bind(arguments[0], self.value(arguments[1])) and None
        if changes and name in ("copy", "zero", "fill"):
            x = arguments[0]
            new = (
                self.k.filled(x.shape, 0)
                if name == "zero"
                else self.operand(arguments[1])
                if isinstance(arguments[1], torch.Tensor)
                else arguments[1]
            )
            new = self.k.filled(x.shape, new) if is_number(new) else self.k.expand(new, x.shape)
            self.assign(x, new)
            return x
        handler = ROWS.get(name)
        if name in OTHER_ORDER and function is getattr(torch, name):
            handler = None
        if handler is None:
            return self.taken_apart(function, arguments, named)
        arguments, named, out = self.as_in_table(handler, arguments, named)
        try:
            given = inspect.signature(handler).bind(self.k, *arguments, **named).arguments
        except TypeError as error:
            raise Unknown(f"{shown_name(function)} with these arguments: {error}")
        inplace = changes or given.get("inplace") is True
        # A number that is a tensor is no dimension.
        operand = self.value if name in ("max", "min") else self.operand
        result = handler(self.k, *replaced(tuple(arguments), operand), **replaced(named, operand))
        if inplace:
            x = arguments[0]
            self.assign(x, self.k.cast(result, DTYPES[x.dtype]))
            return x
        if out is not None:
            self.assign(out, result)
            return out
        if name in VIEWS:
            return self.bound_views(function, name, arguments, named, result)
        return self.bound(result)

    @staticmethod
    def as_in_table(handler, arguments, named):
        """The arguments by the names that the table has; and what is to be written to."""
        known = inspect.signature(handler).parameters
        for theirs, ours in (("axis", "dim"), ("keepdims", "keepdim")):
            if theirs in named and theirs not in known:
                named[ours] = named.pop(theirs)
        for first in ("input", "self"):
            if first in named and first not in known:
                arguments = (named.pop(first), *arguments)
        for second in ("other", "exponent", "mat2", "tensor2"):
            if second in named and second not in known:
                arguments = (*arguments, named.pop(second))
        return arguments, named, named.pop("out", None)

    def bound(self, result):
        if isinstance(result, Value):
            return self.tensor_of(result)
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            return type(result)(*(self.bound(each) for each in result))
        if isinstance(result, (tuple, list)):
            return type(result)(self.bound(each) for each in result)
        return result

    def bound_views(self, function, name, arguments, named, result):
        """PyTorch's own result says whether it shares the argument's memory."""
        x = arguments[0]
        before = self.value(x)
        if name in SAME_TENSOR and result is before:
            return x
        made = (
            self.on_meta(function, arguments, named)
            if name not in SAME_TENSOR
            else self.tensor_of(result)
        )
        if made is x:
            return x
        single = isinstance(made, torch.Tensor)
        for tensor, value in zip([made] if single else made, [result] if single else result):
            self.bind(tensor, value)
            steps = steps_between(before, value)
            if tensor._is_view() and steps is not None:
                self.views[id(tensor)] = View(x, steps, before)
        return made

    def assign(self, tensor, value):
        """Writes to a tensor, and to what it shares memory with."""
        if tuple(tensor.shape) != value.shape:
            value = self.k.expand(value, tensor.shape)
        view = self.views.get(id(tensor))
        if view is None and id(tensor) not in self.current and tensor._is_view():
            raise Unknown(
                "writing what depends on the inputs to a part of a tensor of known values"
            )
        self.bind(tensor, value)
        if view is None:
            return
        base = self.value(view.base)
        shapes = [base.shape] + [shape for _, _, shape in view.steps]
        through = [base]
        for op, attributes, shape in view.steps[:-1]:
            through.append(self.k.one_of(base.dtype, op, [through[-1]], shape, attributes))
        for (op, attributes, _), before, shape in reversed(list(zip(view.steps, through, shapes))):
            value = self.undone(op, attributes, before, shape, value)
        self.assign(view.base, value)
        view.seen = self.current[id(view.base)][1]

    def undone(self, op, attributes, before, shape, value):
        """The tensor `before` of which a view was taken, with the view's new elements."""
        if op == "reshape":
            return self.k.reshape(value, shape)
        if op == "permute":
            axes = attributes["axes"]
            return self.k.permute(value, [axes.index(each) for each in range(len(axes))])
        axis, start, stop = attributes["axis"], attributes["start"], attributes["stop"]
        if op != "slice" or attributes["step"] != 1:
            raise Unknown("writing to every n-th element of a tensor")
        parts = [self.k.slice(before, axis, 0, start)] if start > 0 else []
        parts.append(value)
        if stop < shape[axis]:
            parts.append(self.k.slice(before, axis, stop, shape[axis]))
        return self.k.joined(parts, axis) if len(parts) > 1 else value

    def assign_part(self, x, index, new):
        if id(x) not in self.current:  # Of known values until now.
            known, written = self.value(x), Value(x.shape, DTYPES[x.dtype], "written")
            written.tensor, written.fill, written.name = known.tensor, known.fill, known.name
            self.bind(x, written)
        part = self.recorded(torch._C._TensorBase.__getitem__, "getitem", False, (x, index), {})
        new = self.operand(new) if isinstance(new, torch.Tensor) else plain(new)
        shape = tuple(part.shape)
        new = (
            self.k.filled(shape, new)
            if is_number(new)
            else self.k.expand(self.k.floats(new), shape)
        )
        if part is x:
            self.assign(x, new)
        elif id(part) in self.views:
            self.assign(part, new)
        else:
            raise Unknown("writing to elements that a tensor or a mask chooses")

    def taken_apart(self, function, arguments, named):
        """A function of PyTorch's that is written in Python, call by call."""
        function_of = getattr(function, "__func__", function)
        code = getattr(function_of, "__code__", None)
        if code is None:
            raise Unknown(shown_name(function))
        no = lambda *_: False  # noqa: E731
        names = {
            each: no for each in function_of.__globals__ if each.startswith("has_torch_function")
        }
        bare = types.FunctionType(
            code,
            {**function_of.__globals__, **names},
            code.co_name,
            function_of.__defaults__,
            function_of.__closure__,
        )
        bare.__kwdefaults__ = function_of.__kwdefaults__
        depth, self.depth = self.depth, 0
        try:
            with Mode(self):
                return bare(*arguments, **named)
        except Unknown as error:
            name = shown_name(function)
            if name in str(error):
                raise
            raise Unknown(f"{name}, by way of {error}")
        finally:
            self.depth = depth


def steps_between(before, value):
    """The steps by which a view's value follows from that of its base."""
    steps = []
    while value is not before:
        made = value.step
        if made is None or made.op not in ("reshape", "permute", "slice", "expand"):
            return None
        steps.append((made.op, made.attributes, value.shape))
        value = made.inputs[0]
    return steps[::-1]


def can_be_said(drawn, dtype):
    """Whether a task's file has such a distribution for elements of that type."""
    if drawn is None or drawn.kind == "fill" or drawn.then.split(" ")[0] in UNFINISHED:
        return False
    return (drawn.kind == "randint") == (dtype != "f32" or drawn.then == "plus_minus_one")


# --- the module's own names
def watch_modules(tracer):
    """So that an error can say in which module it arises."""
    call = torch.nn.Module.__call__

    def watched(module, *arguments, **named):
        tracer.path.append(module)
        result = call(module, *arguments, **named)
        tracer.path.pop()  # Not where it fails: then the path says where.
        return result

    torch.nn.Module.__call__ = watched
    return call


def watch_parameters(tracer):
    make = torch.nn.Parameter.__new__

    def made(cls, data=None, requires_grad=True):
        parameter = make(cls, data, requires_grad) if data is not None else make(cls)
        if data is not None:
            tracer.keep(parameter, tracer.drawn_as(data))
        return parameter

    torch.nn.Parameter.__new__ = staticmethod(made)
    return make


def watch_indexing(tracer):
    """x[i] and x[i] = y, of which PyTorch 1.13 tells a mode nothing."""
    kept = {}

    def watch(name):
        call = kept[name] = getattr(torch.Tensor, name)

        def watched(tensor, *arguments):
            if tracer.depth > 0 or not tracer.watching:
                return call(tensor, *arguments)
            return torch.overrides.handle_torch_function(watched, (tensor,), tensor, *arguments)

        watched.__name__ = name
        setattr(torch.Tensor, name, watched)

    watch("__getitem__")
    watch("__setitem__")
    return kept


def watch_initialisation(tracer):
    """torch.nn.init: how a parameter is drawn, without drawing it."""
    kept = {}

    def drawn_by(name):
        def initialise(tensor, *arguments, **named):
            drawn = None
            if name == "uniform_":
                drawn = Drawn("uniform", *two_numbers(arguments, named, "a", "b"))
            elif name in ("normal_", "trunc_normal_"):
                drawn = Drawn("normal", *two_numbers(arguments, named, "mean", "std"))
            tracer.keep(tensor, drawn)
            return tensor

        return initialise

    for name in dir(torch.nn.init):
        if (
            name.endswith("_")
            and not name.startswith("_")
            and callable(getattr(torch.nn.init, name))
        ):
            kept[name] = getattr(torch.nn.init, name)
            setattr(torch.nn.init, name, drawn_by(name))
    return kept


def module_path(tracer):
    """ "layers.0.attn (Attention)"; empty in the model itself."""
    if len(tracer.path) < 2:
        return ""
    inner = tracer.path[-1]
    names = {id(module): name for name, module in tracer.path[0].named_modules()}
    return f"{names.get(id(inner), '')} ({type(inner).__name__})"


# --- the file
def constants_of(tree):
    """The places in the file's top level that give a name a value, in order: (name, line, i), where
    the name is the i-th of several (a, b = 1, 2), or None."""
    places = []
    for line in tree.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value:
            places.append((line.target.id, line, None))
        if not isinstance(line, ast.Assign) or len(line.targets) != 1:
            continue
        target, value = line.targets[0], line.value
        if isinstance(target, ast.Name):
            places.append((target.id, line, None))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for i, each in enumerate(target.elts):
                if isinstance(each, ast.Name) and len(target.elts) == len(value.elts):
                    places.append((each.id, line, i))
    return places


def sizes_in(text):
    """{"a": 2, "b": (3, 5)} of "a=2,b=(3,5)"."""
    try:
        call = ast.parse(f"sizes({text})", mode="eval").body
        if call.args:
            raise ValueError
        return {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(
            f"sizes are written NAME=VALUE, by commas, as batch_size=2,kernel=(3,5); got '{text}'"
        )


def with_sizes(tree, sizes, shown):
    """The file with other values for some of its constants."""
    places = constants_of(tree)
    names = list(dict.fromkeys(name for name, _, _ in places))
    for name in sizes:
        if name not in names:
            raise ValueError(
                f"{shown} has no constant '{name}' at its top level (it has: "
                + (", ".join(names) or "none")
                + ")"
            )
    for name, line, i in places:
        if name not in sizes:
            continue
        value = ast.copy_location(ast.parse(repr(sizes[name]), mode="eval").body, line.value)
        if i is None:
            line.value = value
        else:
            line.value.elts[i] = value
        ast.fix_missing_locations(line)
    return tree


def whole_numbers(names, module):
    """The sizes of a file: the integers and lists of integers at its top level."""
    whole = lambda each: isinstance(each, int) and not isinstance(each, bool)  # noqa: E731
    found = {}
    for name in names:
        value = getattr(module, name, None)
        if whole(value) or (isinstance(value, (list, tuple)) and value and all(map(whole, value))):
            found[name] = value
    return found


class Problem:
    def __init__(self, request):
        self.request, self.shown = request, request["shown"]
        self.file = os.path.abspath(request["file"])
        self.tracer = Tracer()
        self.late = None  # why it was ended, if it was

    def answer(self):
        doing = "executing it"
        try:
            with open(self.file, encoding="utf-8") as source:
                text = source.read()
            self.tracer.file, self.tracer.lines = self.file, text.splitlines()
            tree = ast.parse(text, self.file)
            sizes = sizes_in(self.request.get("sizes", ""))
            names = [name for name, _, _ in constants_of(tree)]
            code = compile(with_sizes(tree, sizes, self.shown), self.file, "exec")
            module = types.ModuleType("problem")
            module.__file__ = self.file
            sys.modules["problem"] = module
            with torch.no_grad(), Mode(self.tracer):
                self.tracer.watching = True
                exec(code, module.__dict__)
                doing = "making its Model"
                model, inputs = self.model_and_inputs(module)
                doing = "its forward()"
                outputs = self.run(model, inputs)
            self.tracer.watching = False
            file = self.tracer.graph.file(self.request["name"], self.request["title"], outputs)
            return {
                "task": file,
                "sizes": whole_numbers(names, module),
                "notes": self.tracer.notes,
            }
        except BaseException as error:
            return {"error": self.said(error, doing)}

    def model_and_inputs(self, module):
        for name in ("Model", "get_inputs"):
            if not callable(getattr(module, name, None)):
                raise Missing(
                    f"it has no {'class Model' if name == 'Model' else 'function get_inputs()'}; "
                    "a problem's file has class Model, get_inputs() and get_init_inputs()"
                )
        given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        model = module.Model(**given) if isinstance(given, dict) else module.Model(*given)
        if not isinstance(model, torch.nn.Module):
            raise Missing("its Model is no torch.nn.Module")
        inputs = module.get_inputs()
        return model, list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]

    def run(self, model, inputs):
        tracer = self.tracer
        for name, buffer in model.named_buffers():
            tracer.names[id(buffer)] = name
        for name, parameter in model.named_parameters():
            value = tracer.parameter(parameter, name)
            if owned_by_torch(model, name):
                value.drawn = None  # as kbench draws it
        inputs = self.declared(model, inputs)
        tracer.recording = True
        result = model(*inputs)
        outputs = list(outputs_in(result))
        if not outputs:
            raise Missing(f"its forward() returns {type(result).__name__}, no tensor")
        for each in tracer.graph.parameters:
            each.drawn = each.drawn or each.role or Drawn("uniform", -0.5, 0.5)
        values = [tracer.value(each) for each in outputs]
        if any(each.kind == "data" for each in values):
            raise Missing("an output of its forward() does not depend on the inputs")
        if not tracer.graph.needed(values):
            raise Missing("its forward() computes nothing: a task has operators")
        return values

    def declared(self, model, inputs):
        """The inputs by the names of forward()'s parameters; numbers stay what they are."""
        parameters = list(inspect.signature(model.forward).parameters.values())
        names = [
            each.name
            for each in parameters
            if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
        made = []

        def declare(tensor, name):
            fresh = torch.empty(tensor.shape, dtype=tensor.dtype, device=META)
            return self.tracer.bind(fresh, self.tracer.declare(tensor, name))

        for i, each in enumerate(inputs):
            name = names[i] if i < len(names) else f"x{i}"
            count = len(list(tensors_in([each])))
            numbers_ = iter(range(count))
            made.append(
                replaced(
                    each,
                    lambda tensor: declare(
                        tensor, name if count == 1 else f"{name}_{next(numbers_)}"
                    ),
                )
            )
        return made

    def said(self, error, doing):
        """One line: what is wrong, and where."""
        frames = [
            each for each in traceback.extract_tb(error.__traceback__) if each.filename == self.file
        ]
        line = frames[-1].lineno if frames else None
        if isinstance(error, SyntaxError) and error.filename == self.file:
            line = error.lineno
        place = f"{self.shown}:{line}: " if line else f"{self.shown}: "
        inside = module_path(self.tracer)
        inside = f" (in module {inside})" if inside and self.tracer.recording else ""
        error = self.late or error  # PyTorch may have made another error of it.
        text = " ".join(str(error)[:2000].split())
        if isinstance(error, Unknown):
            text = f"kbench has no operator for {text}"
        elif isinstance(error, (Dependent, Missing, Late)):
            pass
        elif isinstance(error, ValueError) and not frames:
            pass
        else:
            text = f"{doing} fails: {type(error).__name__}: {text}"
        return place + text + inside


class Missing(Exception):
    """Of a problem's file that has not what one has."""


class Late(BaseException):
    """Of a problem's file that takes too long."""


def owned_by_torch(model, name):
    """Whether a parameter belongs to a layer of PyTorch's own, which draws it by its fan-in."""
    owner = model
    for each in name.split(".")[:-1]:
        owner = getattr(owner, each)
    kind = type(owner)
    draws = hasattr(kind, "reset_parameters") or hasattr(kind, "_reset_parameters")
    return draws and kind.__module__.startswith("torch.nn.modules")


def outputs_in(result):
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, dict):
        yield from outputs_in(list(result.values()))
    elif isinstance(result, (list, tuple)):
        for each in result:
            yield from outputs_in(each)


def add_newer_names():
    """Functions that a problem's file may call, and that older versions of PyTorch lack."""
    functional = torch.nn.functional
    if hasattr(functional, "scaled_dot_product_attention"):
        return

    def scaled_dot_product_attention(*arguments, **named):
        tensors = tuple(tensors_in((arguments, named)))
        return torch.overrides.handle_torch_function(
            scaled_dot_product_attention, tensors, *arguments, **named
        )

    scaled_dot_product_attention.__module__ = "torch.nn.functional"
    functional.scaled_dot_product_attention = scaled_dot_product_attention


def answer_to(request, seconds):
    problem = Problem(request)

    def late(*_):
        problem.late = Late(f"it takes longer than {seconds:g} s (a loop that does not end?)")
        raise problem.late

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    kept = (
        watch_modules(problem.tracer),
        watch_parameters(problem.tracer),
        watch_initialisation(problem.tracer),
        watch_indexing(problem.tracer),
    )
    try:
        return problem.answer()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        torch.nn.Module.__call__, torch.nn.Parameter.__new__ = kept[0], staticmethod(kept[1])
        for name, function in kept[3].items():
            setattr(torch.Tensor, name, function)
        for name, function in kept[2].items():
            setattr(torch.nn.init, name, function)


def main():
    sys.setrecursionlimit(10000)
    asked = json.load(sys.stdin)
    add_newer_names()
    answers = [answer_to(each, asked["seconds"]) for each in asked["requests"]]
    with os.fdopen(3, "w") as channel:
        json.dump(answers, channel)


main()
