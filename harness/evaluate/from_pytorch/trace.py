# Runs a problem's file, a KernelBench file with Model, get_inputs() and get_init_inputs(), and
# records what its forward() calls. tensors.py, recorded.py and operators.py come
# before it.
#
# Parameters and inputs are tensors of the device "meta", which have a shape and no memory. What a
# module makes of plain numbers, a mask, an index, is computed as it is, and becomes data.
#
# Descriptor 0 has {"seconds": for each, "requests": [...]}, a request being {"file": TEXT'S FILE,
# "shown": its name in messages, "name": the task's, "title": ..., "sizes": TEXT, "divisor": of its
# sizes, "divides_sizes", "divides_classes": of which numbers, "class": the module's or "",
# "init": TEXT, "list": which list of inputs, "beside": {NAME: text of a file beside it}};
# descriptor 3 takes a list of answers, each {"task": the task's file, "given": {"inputs": [NAME,
# ...], "parameters": [NAME, ...]}, "sizes": {NAME: number or list}, "notes": [...]} or {"error":
# MESSAGE}.
#
# A request with "given": [{"names": an answer's "given", "tensors": {NAME: tensor}}, ...] is run on
# these tensors instead, a tensor being as tensors.py has it: {"outputs": [tensor, ...]} for each.
import ast
import collections
import contextlib
import os
import random
import re
import signal
import sys
import traceback
import types

from torch.overrides import TorchFunctionMode, resolve_name

META = torch.device("meta")
MOST_INPUTS = 64  # of a generator that gives them
LONG = 4096  # numbers from which on are divided with a rest
INPUTS = ("get_inputs", "get_input_groups")  # functions of a file, of which it has one
MOST_REAL = MOST_DATA  # elements of a tensor that is computed rather than recorded

# Functions that make tensors. What they put there is known, or drawn at random, or nothing.
MADE_REAL = set(
    """
    zeros ones full arange linspace logspace eye tensor as_tensor from_numpy tril_indices
    triu_indices range scalar_tensor hann_window hamming_window asarray zeros_like ones_like
    full_like new_zeros new_ones new_full new_tensor frombuffer complex polar
    """.split()
)
# Of these, what takes from its first argument the shape alone.
MADE_LIKE = set("zeros_like ones_like full_like new_zeros new_ones new_full new_tensor".split())
MADE_DRAWN = set(
    """
    rand randn randint normal randperm bernoulli multinomial poisson rand_like randn_like
    randint_like
    """.split()
)
# What draws a tensor's elements in place.
DRAWN_IN_PLACE = set(
    "uniform normal random bernoulli exponential log_normal cauchy geometric trunc_normal".split()
)
COMPARISONS = {"gt", "ge", "lt", "le"}
MADE_EMPTY = {"empty", "empty_like", "new_empty", "empty_strided"}
MADE = MADE_REAL | MADE_DRAWN | MADE_EMPTY
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
OTHER_ORDER = {
    getattr(torch, "batch_norm"),
    getattr(torch, "instance_norm"),
    getattr(torch, "embedding"),
    torch.nn.functional.unfold,  # not Tensor.unfold
}
# What is drawn as their argument is.
COPIES = set(
    "clone detach data float double half bfloat16 long int bool to contiguous deepcopy".split()
)
RESHAPED = {"view", "reshape", "unsqueeze", "getitem", "flatten", "permute"}
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


def filled_with(values):
    """The one number that all elements of a tensor of known values are, or that a number is."""
    if not isinstance(values, torch.Tensor):
        return values if is_number(values) else None
    if values.device.type == "meta" or values.numel() == 0:
        return None
    if values.dim() > 0 and not any(values.stride()):
        return values.flatten()[:1].item()  # One element in memory.
    first = values.flatten()[0]
    return first.item() if bool((values == first).all()) else None


def drawn_by(name, arguments, named):
    """How uniform_() and its like draw; None where a task's file has no such distribution."""
    if name == "uniform":
        return Drawn("uniform", *two_numbers(arguments, named, "from", "to"))
    if name == "normal":
        return Drawn("normal", *two_numbers(arguments, named, "mean", "std"))
    if name == "bernoulli" and filled_with(first_of(*arguments, named.get("p"), 0.5)) == 0.5:
        return Drawn("randint", 0, 2)
    return None


def keeps_values(drawn, x, result):
    """Whether a conversion of drawn elements changes none of them."""
    if not isinstance(result, torch.Tensor) or kind_of(x.dtype) == kind_of(result.dtype):
        return True
    bits = (drawn.lo, drawn.hi) == (0, 2)
    return drawn.kind == "randint" and (kind_of(result.dtype) != "bool" or bits)


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
        self.drawing = False  # while get_inputs() is recorded
        self.making_inputs = False  # while get_inputs() runs
        self.drawn_here = []  # inputs that get_inputs() has drawn, in order
        self.halves = []  # inputs of get_inputs() of which only whether they are large is used
        self.computed = set()  # ids of tensors that are computed of drawn ones
        self.path = []  # of modules that are running
        self.paths = {}  # of modules of the model, by their ids: their names
        self.graph.place = lambda: (*self.module_running(), self.line_running())
        self.file, self.lines = "", []  # the problem's file

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def module_running(self):
        """The name of the module whose forward() runs, and whether it is PyTorch's own."""
        if len(self.path) < 2:
            return "", False
        if not self.paths:
            self.paths = {id(each): name for name, each in self.path[0].named_modules()}
        name, kind = self.paths.get(id(self.path[-1]), ""), type(self.path[-1])
        return name, name != "" and kind.__module__.startswith("torch.nn.modules")

    def line_running(self):
        """The line of the problem's file that runs."""
        frame = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else None

    # --- calls
    def called(self, function, arguments, named):
        name, changes = name_of(function)
        if name in FACTS and not changes:
            if name == "device":
                return torch.device("cpu")  # Where a mask is made that goes with it.
            return function(*arguments, **named)
        if name in ("item", "__float__", "__int__") and self.making_inputs:
            middle = self.middle_of(arguments[0])
            if middle is not None:
                self.note("a number that get_inputs() draws is the middle of what it can be")
                return middle
        named.pop("device", None)
        named.pop("pin_memory", None)
        if named.get("dtype") in OTHER_FLOATS and name in MADE:
            named["dtype"] = torch.float32
            self.k.note(OTHER_FLOATS_NOTE)
        if not self.recording:
            return self.prepared(function, name, changes, arguments, named)
        if name == "data" and not changes:
            return arguments[0]
        everything = list(tensors_in((arguments, named)))
        if name in MADE_REAL or name in MADE_EMPTY:
            values = (arguments[1:] if name in MADE_LIKE else arguments, named)
            if any(self.is_recorded(each) for each in tensors_in(values)):
                if name in ("as_tensor", "asarray"):
                    return self.recorded(torch.Tensor.to, "to", False, arguments, named)
                raise Unknown(f"{shown_name(function)} of what depends on the inputs")
            return self.made(function, name, arguments, named)
        if name in MADE_DRAWN and not changes:
            return self.drawn_input(function, name, arguments, named)
        if name in DRAWN_IN_PLACE and changes:
            return self.drawn_in_place(function, name, arguments, named)
        if not any(self.is_recorded(each) for each in everything):
            return function(*arguments, **named)
        if self.drawing and name in COMPARISONS and self.halved(arguments):
            return self.drawn_half(arguments[0])
        if name in READS:
            raise Dependent(
                f"{shown_name(function)} needs the values of a tensor that depends on "
                f"the inputs ({READS[name]}): the task's graph cannot depend on them"
            )
        return self.recorded(function, name, changes, arguments, named)

    def middle_of(self, tensor):
        """The number that stands for one that is drawn at random; None if it is not drawn."""
        drawn = self.drawn_as(tensor)
        if drawn is None and id(tensor) in self.current:
            drawn = self.current[id(tensor)][1].drawn
        if drawn is None or drawn.then:
            return None
        if drawn.kind == "randint":
            return int(drawn.lo + drawn.hi) // 2
        return drawn.lo if drawn.kind in ("normal", "fill") else (drawn.lo + drawn.hi) / 2

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
        unknown = [
            each
            for each in tensors_in((arguments, named))
            if each.device.type == "meta" or self.drawn_as(each) is not None
        ]
        if name in MADE_REAL:
            values = (arguments[1:] if name in MADE_LIKE else arguments, named)
            if any(each.device.type == "meta" for each in tensors_in(values)):
                raise Dependent(
                    f"{shown_name(function)} needs values of a tensor that is drawn at random"
                )
            return self.made(function, name, arguments, named)
        if not unknown and not (changes and name in DRAWN_IN_PLACE):
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
        elif name == "bernoulli":
            even = filled_with(first_of(named.pop("p", None), *arguments[1:], arguments[0])) == 0.5
            drawn = Drawn("randint", 0, 2) if even else None
        made = (
            function(*arguments, **named, device=META)
            if name != "bernoulli"
            else torch.empty_like(arguments[0], device=META)
        )
        return self.keep(made, drawn)

    def drawn_input(self, function, name, arguments, named):
        """A task's steps draw nothing: what is drawn while they are recorded comes in."""
        if name != "bernoulli":  # Its argument's values say how it is drawn.
            arguments = replaced(tuple(arguments), self.meta)
        tensor = self.drawn_anew(function, name, arguments, named)
        return self.bind(tensor, self.come_in(tensor, shown_name(function)))

    def drawn_in_place(self, function, name, arguments, named):
        x = arguments[0]
        fresh = torch.empty(x.shape, dtype=x.dtype, device=META)
        self.keep(fresh, drawn_by(name, arguments[1:], named))
        self.assign(x, self.come_in(fresh, shown_name(function)))
        return x

    def come_in(self, tensor, function):
        """The input that is drawn as a tensor is, by the name of the variable that it is given to,
        if there is one. Whole numbers that are floats are cast."""
        drawn, kind = self.drawn_as(tensor), kind_of(tensor.dtype)
        stored = "i64" if kind == "f32" and drawn is not None and drawn.kind == "randint" else kind
        if not can_be_said(drawn, stored):
            raise Unknown(f"{function}: a task's file has no such distribution")
        line = self.line_running()
        target = re.match(r"\s*(\w+)\s*=[^=]", self.lines[line - 1] if line else "")
        value = self.declare(tensor.shape, stored, target.group(1) if target else "drawn", drawn)
        if not self.drawing:
            self.note(f"{value.name}, which forward() draws, is an input")
        return self.k.cast(value, kind)

    def declare(self, shape, dtype, name, drawn):
        """An input."""
        value = Value(shape, dtype, "input")
        value.name, value.drawn = name, drawn
        self.graph.inputs.append(value)
        return value

    def halved(self, arguments):
        """Whether half of the elements of a drawn tensor are on either side of a number."""
        x, bound_ = arguments[0], plain(arguments[1])
        if not isinstance(x, torch.Tensor) or not is_number(bound_):
            return False
        if self.drawing:
            value = self.current[id(x)][1] if id(x) in self.current else None
            drawn = value.drawn if value is not None else None
        else:
            drawn = self.drawn_as(x)
        if drawn is None or drawn.then or drawn.kind not in ("uniform", "normal"):
            return False
        return bound_ == (drawn.lo if drawn.kind == "normal" else (drawn.lo + drawn.hi) / 2)

    def drawn_half(self, x):
        """An input of bits in place of one that is compared with its median."""
        known = self.value(x)
        self.halves.append(known)  # which nothing else may need
        value = self.declare(x.shape, "bool", known.name, Drawn("randint", 0, 2))
        return self.tensor_of(value)

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
        if changes and name in DRAWN_IN_PLACE:
            self.keep(x, drawn_by(name, arguments[1:], named))
            if self.drawn_as(x) is None:
                self.computed.add(id(x))
            return x
        if changes and name in ("zero", "fill", "copy"):
            rest = [*arguments[1:], *named.values()]
            if name == "copy":
                self.keep(x, self.drawn_as(rest[0]))
            else:
                fill = plain(rest[0]) if rest and not isinstance(rest[0], torch.Tensor) else 0
                self.keep(x, Drawn("fill", float(fill)))
            return x
        drawn = self.drawn_as(x) if isinstance(x, torch.Tensor) else None
        others = [each for each in arguments[1:] if not isinstance(each, str)]
        whole = drawn is not None and not drawn.then
        if name in COPIES or (name in RESHAPED and whole and not list(tensors_in(others))):
            made = drawn
        elif name in ("add", "sub", "mul", "div", "rsub", "neg") and not named:
            made = self.affine(name, x, others)
        elif name in ("triu", "tril") and whole and not others:
            made = Drawn(drawn.kind, drawn.lo, drawn.hi, name)
        elif name == "softmax" and whole:
            dim = first_of(named.get("dim"), *others)
            if dim in (-1, x.dim() - 1):
                made = Drawn(drawn.kind, drawn.lo, drawn.hi, "softmax_last")
        elif name in COMPARISONS and self.halved(arguments):
            made = Drawn("randint", 0, 2)
        elif name in ("T", "mT", "t", "transpose") and whole and x.dim() == 2:
            made = Drawn(drawn.kind, drawn.lo, drawn.hi, f"transposed {id(x)}")
        result = self.on_meta(function, arguments, named)
        if made is not None and name in COPIES and not keeps_values(made, x, result):
            made = None
        if changes:
            result = x
        for each in tensors_in([result]):
            self.keep(each, made if each is result else None)
            if made is None and each is not x:
                self.computed.add(id(each))
        return result

    def on_meta(self, function, arguments, named):
        try:
            return function(*replaced(tuple(arguments), self.meta), **replaced(named, self.meta))
        except NotImplementedError:  # PyTorch has it for tensors with memory alone.
            raise Unknown(f"{shown_name(function)} of a tensor that is drawn at random")

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
        given = filled_with(given)
        if drawn is None or given is None:
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
        kind_of(tensor.dtype)
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
        elements = value.tensor.flatten().contiguous().view(torch.uint8).numpy().tobytes()
        key = (value.shape, value.dtype, value.bits, elements)
        return self.constants.setdefault(key, value)

    def parameter(self, tensor, name):
        if id(tensor) in self.computed:
            self.note(f"{name}, which the model computes of random numbers, is drawn as a weight")
        value = Value(tensor.shape, kind_of(tensor.dtype), "parameter")
        value.name, value.drawn = name, self.drawn_as(tensor)
        if value.dtype != "f32":
            raise Unknown(f"{name}, whole numbers that the model draws at random")
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
        if handler is None or function in OTHER_ORDER:
            return self.taken_apart(function, arguments, named)
        arguments, named, out = self.as_in_table(handler, arguments, named)
        # A number that is a tensor is no dimension.
        operand = self.value if name in ("max", "min") else self.operand
        given = bound(
            function, handler, self.k, replaced(tuple(arguments), operand), replaced(named, operand)
        )
        inplace = changes or given.arguments.get("inplace") is True
        result = handler(*given.args, **given.kwargs)
        if inplace:
            x = arguments[0]
            self.assign(x, self.k.cast(result, kind_of(x.dtype)))
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
            known, written = self.value(x), Value(x.shape, kind_of(x.dtype), "written")
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


class Rerun(Tracer):
    """Runs forward() instead of recording it, in float64, on the tensors that are given for the
    inputs and parameters of the task that was recorded. Numbers and tables that do not depend on
    these are made as they were while it was recorded."""

    def __init__(self, given):
        super().__init__()
        self.tensors, self.given = given["tensors"], given["names"]
        self.running = False
        self.reals = {}  # id of a tensor -> (the tensor, what it is given as)
        self.wide = {}  # id and version of a tensor of known values -> (the tensor, in float64)
        self.draws = 0  # of get_inputs(), so far

    def real(self, tensor):
        """What is given for a tensor, or computed of that; None for known values."""
        if getattr(tensor, "_kbench_given", False):
            return tensor
        if id(tensor) not in self.reals:
            if not self.is_recorded(tensor):
                return None
            value = self.current[id(tensor)][1] if id(tensor) in self.current else None
            value = value or self.constant(tensor)
            if value.kind == "data":
                made = torch.full(value.shape, value.fill, dtype=torch.float64)
            else:
                made = self.values_of(value, tensor.dtype)
            self.replace(tensor, made)
        return self.reals[id(tensor)][1]

    def replace(self, tensor, made):
        made._kbench_given = True
        self.reals[id(tensor)] = (tensor, made)

    def values_of(self, value, dtype):
        kind = "inputs" if value.kind == "input" else "parameters"
        place = (self.graph.inputs if kind == "inputs" else self.graph.parameters).index(value)
        names = self.given[kind]  # without what is written to before it is read
        said = self.tensors.get(names[place]) if place < len(names) else None
        made = torch.zeros(value.shape) if said is None else tensor_of(said)
        return made.to(torch.float64 if dtype.is_floating_point else dtype).reshape(value.shape)

    def called(self, function, arguments, named):
        if not self.running:
            return super().called(function, arguments, named)
        name, changes = name_of(function)
        if name in ("item", "__float__", "__int__") and self.making_inputs:
            middle = self.middle_of(arguments[0])
            if middle is not None:
                return middle
        if name == "data" and not changes:
            return arguments[0]
        if name in FACTS and not changes:
            fact = function(*self.swapped(arguments), **named)
            if name == "device":
                return torch.device("cpu")
            return torch.float32 if name == "dtype" and fact == torch.float64 else fact
        named.pop("device", None)
        named.pop("pin_memory", None)
        if named.get("dtype") in OTHER_FLOATS and name in MADE:
            named["dtype"] = torch.float32
        if name in MADE_REAL and name not in ("as_tensor", "asarray") or name in MADE_EMPTY:
            return self.made(function, name, self.swapped(arguments), named)
        if (name in MADE_DRAWN and not changes) or (name in DRAWN_IN_PLACE and changes):
            return self.next_drawn(function, name, changes, arguments, named)
        everything = list(tensors_in((arguments, named)))
        if not any(self.real(each) is not None for each in everything):
            return function(*arguments, **named)
        if self.drawing and name in COMPARISONS:
            return self.next_given(torch.bool)
        if name == "data":
            self.replace(arguments[0], self.swapped(arguments[1]))
            return None
        if ROWS.get(name) is dropout or name in ("cuda", "cpu"):
            return self.swapped(arguments[0])
        if name in ("float", "half", "bfloat16"):
            function, named = torch.Tensor.double, {}
        elif name == "to":
            given = (torch.dtype, torch.Tensor)
            arguments = (arguments[0], *(each for each in arguments[1:] if isinstance(each, given)))
            if len(arguments) == 1 and "dtype" not in named and "other" not in named:
                return self.swapped(arguments[0])
        elif "dropout_p" in named:
            named["dropout_p"] = 0.0
        result = function(*self.swapped(arguments), **self.swapped(named))
        for each in tensors_in([result]):
            each._kbench_given = True
        if changes or named.get("inplace") is True or named.get("out") is not None:
            x = named["out"] if named.get("out") is not None else arguments[0]
            if self.real(x) is None:
                self.replace(x, self.swapped(x))
        return result

    def swapped(self, argument):
        """An argument with what is given in place of tensors, all floating ones in float64."""
        if isinstance(argument, torch.dtype):
            return torch.float64 if argument.is_floating_point else argument
        if isinstance(argument, torch.Tensor):
            known = self.real(argument)
            if known is not None or not argument.is_floating_point():
                return argument if known is None else known
            key = (id(argument), argument._version)
            return self.wide.setdefault(key, (argument, argument.double()))[1]
        if isinstance(argument, slice):
            return slice(*map(self.swapped, (argument.start, argument.stop, argument.step)))
        if isinstance(argument, (list, tuple)) and not isinstance(argument, torch.Size):
            made = [self.swapped(each) for each in argument]
            return made if isinstance(argument, list) else tuple(made)
        if isinstance(argument, dict):
            return {key: self.swapped(each) for key, each in argument.items()}
        return plain(argument)

    def next_given(self, dtype):
        """For what is drawn now."""
        value = self.graph.inputs[-1] if not self.drawing else self.drawn_here[self.draws]
        self.draws += int(self.drawing)
        known = value in self.graph.inputs  # Or what it is for came in itself.
        made = self.values_of(value, dtype) if known else torch.zeros(value.shape).to(torch.float64)
        made._kbench_given = True
        return made

    def next_drawn(self, function, name, changes, arguments, named):
        if changes:
            tensor = arguments[0]
            fresh = torch.empty(tensor.shape, dtype=tensor.dtype, device=META)
            self.keep(fresh, drawn_by(name, arguments[1:], named))
        else:
            arguments = replaced(tuple(self.swapped(arguments)), lambda each: each.to(META))
            fresh = self.drawn_anew(function, name, arguments, named)
        if not self.drawing:
            self.come_in(fresh, shown_name(function))
        made = self.next_given(fresh.dtype)
        if changes:
            self.keep(tensor, self.drawn_as(fresh))
            self.replace(tensor, made)
            return tensor
        return made


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
            if id(data) in tracer.computed:
                tracer.computed.add(id(parameter))
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
    return f"{tracer.module_running()[0]} ({type(tracer.path[-1]).__name__})"


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


def seed_all():
    random.seed(0)
    torch.manual_seed(0)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(0)


class Divided(ast.NodeTransformer):
    def __init__(self, divisor):
        self.divisor = divisor

    def of(self, number):
        whole = type(number) is int and number > self.divisor
        fits = whole and (number % self.divisor == 0 or number >= LONG)
        return number // self.divisor if fits else number

    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(self.of(node.value)), node)


def shrunk(tree, divisor, sizes, classes):
    """The file with smaller sizes: whole numbers at its top level and in the functions that draw
    the inputs, and in its classes, divided where they can be."""
    own = (ast.Assign, ast.AnnAssign, ast.FunctionDef) if sizes else ()
    own += (ast.ClassDef,) if classes else ()
    for i, line in enumerate(tree.body):
        if divisor != 1 and isinstance(line, own):
            tree.body[i] = Divided(divisor).visit(line)
    return tree


def shrunk_text(text, divisor):
    """A file of data with smaller sizes: its lists' whole numbers."""
    smaller = lambda each: str(Divided(divisor).of(int(each[0])))  # noqa: E731
    lists = lambda each: re.sub(r"\b\d+\b", smaller, each[0])  # noqa: E731
    return re.sub(r"\[[\d,\s]*\]", lists, text)


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
    """A file whose forward() is recorded, or, with `given`, run on what is given."""

    def __init__(self, request, given=None):
        self.request, self.shown = request, request["shown"]
        self.file = os.path.abspath(request["file"])
        self.tracer = Tracer() if given is None else Rerun(given)
        self.late = None  # why it was ended, if it was
        self.place = None  # the line that an error is about which no line of the file raises
        self.lines = {}  # of classes, their methods, and functions, by their names
        self.computed = []  # of inputs: their place in get_inputs(), what stands for them

    def answer(self):
        doing = "executing it"
        try:
            seed_all()  # What its __init__() draws by other means is the same in every run.
            with open(self.file, encoding="utf-8") as source:
                text = source.read()
            self.tracer.file, self.tracer.lines = self.file, text.splitlines()
            divisor = self.request.get("divisor", 1)
            tree = ast.parse(text, self.file)
            divides = [self.request[each] for each in ("divides_sizes", "divides_classes")]
            tree = shrunk(tree, divisor, *divides)
            for each in tree.body:
                if isinstance(each, (ast.ClassDef, ast.FunctionDef)):
                    self.lines[each.name] = each.lineno
                for one in getattr(each, "body", []):
                    if isinstance(each, ast.ClassDef) and isinstance(one, ast.FunctionDef):
                        self.lines[f"{each.name}.{one.name}"] = one.lineno
            for name, beside in self.request.get("beside", {}).items():
                with open(os.path.join(os.path.dirname(self.file), name), "w") as copy:
                    copy.write(shrunk_text(beside, divisor) if divides[0] else beside)
            sizes = sizes_in(self.request.get("sizes", ""))
            names = [name for name, _, _ in constants_of(tree)]
            code = compile(with_sizes(tree, sizes, self.shown), self.file, "exec")
            module = types.ModuleType("problem")
            module.__file__ = os.path.join(
                os.path.dirname(self.file), os.path.basename(self.shown)
            )
            sys.modules["problem"] = module
            with torch.no_grad():
                with self.watched():
                    exec(code, module.__dict__)
                    doing = "making its Model"
                    model = self.model_of(module)
                self.name_parameters(model)
                doing = "its get_inputs()"
                self.place = first_of(*map(self.lines.get, INPUTS))
                inputs = self.inputs_of(module, model)
                doing = "its forward()"
                self.place = self.lines.get(self.model + ".forward")
                if isinstance(self.tracer, Rerun):
                    self.begin_rerun(module, model)
                result = self.forward(model, inputs)
                return self.answer_of(result, whole_numbers(names, module))
        except BaseException as error:
            return {"error": self.said(error, doing)}

    @contextlib.contextmanager
    def watched(self, making_inputs=False):
        """While the file's code runs."""
        self.tracer.watching, self.tracer.making_inputs = True, making_inputs
        try:
            with Mode(self.tracer):
                yield
        finally:
            self.tracer.watching = self.tracer.making_inputs = False

    def model_of(self, module):
        made_by = self.class_of(module)
        self.place = self.lines.get(made_by.__name__)
        self.model = made_by.__name__
        if not any(callable(getattr(module, each, None)) for each in INPUTS):
            raise Missing(
                "it has no function get_inputs() or get_input_groups(), which gives its inputs"
            )
        given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        positional, named = ((), given) if isinstance(given, dict) else (given, {})
        if len(positional) == 2 and isinstance(given[0], list) and isinstance(given[1], dict):
            try:  # [[1, 2], {"axis": 2}] where the class takes it so
                inspect.signature(made_by).bind(*given[0], **given[1])
                positional, named = given
            except TypeError:
                pass
        if self.request.get("init"):
            of = Divided(self.request["divisor"] if self.request["divides_sizes"] else 1).of
            given = sizes_in(self.request["init"])
            positional, named = (), {name: of(each) for name, each in given.items()}
        try:
            inspect.signature(made_by).bind(*positional, **named)
        except TypeError as error:
            said = "get_init_inputs()" if given else "no get_init_inputs()"
            raise Missing(f"{made_by.__name__}() with {said}: {error}; --init gives others")
        return made_by(*positional, **named)

    def class_of(self, module):
        """The module's class: the one that is asked for, Model, or the only one."""
        kinds = {
            name: each
            for name, each in vars(module).items()
            if isinstance(each, type) and issubclass(each, torch.nn.Module)
        }
        asked = self.request.get("class") or "Model"
        if asked in kinds:
            return kinds[asked]
        own = [each for each in kinds.values() if each.__module__ == module.__name__]
        if len(own) == 1 and not self.request.get("class"):
            self.tracer.note(f"its module is {own[0].__name__}, as it has no class Model")
            return own[0]
        has = ", ".join(f"{each.__name__} in line {self.lines.get(each.__name__)}" for each in own)
        raise Missing(
            f"it has no torch.nn.Module of the name {asked}"
            + (f"; --class names one of its own: {has}" if own else "")
        )

    def case_of(self, module):
        """One list of inputs."""
        with self.watched(making_inputs=True):
            if callable(getattr(module, "get_inputs", None)):
                inputs = module.get_inputs()
                if isinstance(inputs, types.GeneratorType):
                    inputs = self.one_of(list(itertools.islice(inputs, MOST_INPUTS)))
            else:
                inputs = self.one_of(module.get_input_groups())
        return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]

    def one_of(self, found):
        """The list of inputs that is asked for, where there are several."""
        if not found or not all(isinstance(each, (list, tuple)) for each in found):
            return found
        number = self.request.get("list", 1)
        if not 1 <= number <= len(found):
            raise Missing(f"it has {len(found)} lists of inputs, and no list {number}")
        if len(found) > 1:
            self.tracer.note(f"it has {len(found)} lists of inputs: list {number} is taken")
        return found[number - 1]

    def name_parameters(self, model):
        tracer = self.tracer
        for name, buffer in model.named_buffers():
            tracer.names[id(buffer)] = name
        for name, parameter in model.named_parameters():
            value = tracer.parameter(parameter, name)
            if owned_by_torch(model, name):
                value.drawn = None  # as kbench draws it

    def forward(self, model, inputs):
        self.tracer.recording = True
        with self.watched():
            result = model(*inputs)
        outputs = list(outputs_in(result))
        if not outputs:
            raise Missing(f"its forward() returns {type(result).__name__}, no tensor")
        return outputs

    def begin_rerun(self, module, model):
        """Before forward(): computed inputs, by a third call; dropout is left out."""
        tracer = self.tracer
        tracer.running = True
        if self.computed:
            tracer.drawing = tracer.recording = True
            again = list(tensors_in(self.case_of(module)))
            tracer.drawing = tracer.recording = False
            for place, stand in self.computed:
                tracer.replace(stand, tracer.swapped(again[place]))
        for each in model.modules():
            if is_number(getattr(each, "dropout", None)):
                each.dropout = 0.0

    def answer_of(self, outputs, sizes):
        tracer = self.tracer
        if isinstance(tracer, Rerun):
            return {"outputs": [said_of(tracer.swapped(each).double()) for each in outputs]}
        for each in tracer.graph.parameters:
            each.drawn = each.drawn or each.role or Drawn("uniform", -0.5, 0.5)
        values = [tracer.value(each) for each in outputs]
        if any(each.kind == "data" for each in values):
            raise Missing("an output of its forward() does not depend on the inputs")
        steps = tracer.graph.needed(values)
        if not steps:
            raise Missing("its forward() computes nothing of these inputs: a task has operators")
        for line, count in collections.Counter(each.line for each in steps).most_common(1):
            if len(steps) > MOST_STEPS:
                self.place = line
                raise Missing(
                    f"its forward() is {len(steps)} steps, {count} of which this line makes; "
                    f"a task has {MOST_STEPS} at most"
                )
            if count >= MANY_STEPS:
                tracer.note(f"line {line} makes {count} of its {len(steps)} steps")
        file, given = tracer.graph.file(self.request["name"], self.request["title"], values)
        return {"task": file, "given": given, "sizes": sizes, "notes": tracer.notes}

    def inputs_of(self, module, model):
        """What forward() is called with, by the names of its parameters. A tensor that is drawn as
        a task's file can say is an input; what get_inputs() computes of draws is recorded as
        forward() is, and part of the task. Numbers stay what they are."""
        tracer = self.tracer
        told = self.case_of(module)
        names = named_tensors(told, positional_parameters(model.forward))
        later = list(tensors_in(self.case_of(module)))
        again, refused = self.recorded_inputs(module, len(names))
        behind = [
            inputs_behind(tracer.value(each)) if tracer.is_recorded(each) else [] for each in again
        ]
        if any(base in each for base in tracer.halves for each in behind):
            raise Unknown("an input that get_inputs() also compares with a number")
        tracer.graph.inputs = []
        stands = {}
        for i, (tensor, name) in enumerate(names):
            if id(tensor) in stands:
                continue
            drawn, kind = tracer.drawn_as(tensor), kind_of(tensor.dtype)
            shared = any(
                one in others
                for one in (behind[i] if again else [])
                for j, others in enumerate(behind)
                if again[j] is not again[i]
            )
            real = tensor.device.type != "meta" and id(tensor) not in tracer.computed
            if drawn is None and real:
                stand = self.known_input(tensor, later[i] if i < len(later) else None, name)
            elif can_be_said(drawn, kind) and not shared:
                stand = torch.empty(tensor.shape, dtype=tensor.dtype, device=META)
                tracer.bind(stand, tracer.declare(tensor.shape, kind, name, drawn))
            elif refused is not None:
                known = isinstance(refused, (Unknown, Dependent))
                raise type(refused)(f"{refused} (for input {name})") if known else refused
            elif not behind[i]:  # torch.empty()
                stand = self.known_input(again[i], again[i], name)
            else:
                stand = self.computed_input(again[i], name, behind[i])
                self.computed.append((i, stand))
            stands[id(tensor)] = stand
        return replaced(told, lambda tensor: stands[id(tensor)])

    def recorded_inputs(self, module, count):
        """The tensors of a second call, which is recorded, or why it cannot be."""
        tracer = self.tracer
        notes = list(tracer.notes)
        tracer.recording = tracer.drawing = True
        try:
            again, refused = list(tensors_in(self.case_of(module))), None
            if len(again) != count:
                again, refused = [], Missing("its get_inputs() gives other inputs every time")
        except Exception as error:
            again, refused = [], error
        tracer.recording = tracer.drawing = False
        tracer.drawn_here = list(tracer.graph.inputs)
        tracer.notes[:] = notes
        return again, refused

    def known_input(self, tensor, later, name):
        """Of values that no function of PyTorch's draws: where all are one number, they are drawn
        from that number alone."""
        if later is None or later.shape != tensor.shape or not bool((later == tensor).all()):
            raise Missing(
                f"input {name} has other values in every call, and no function of PyTorch's that "
                "kbench knows draws them"
            )
        tracer, kind, fill = self.tracer, kind_of(tensor.dtype), filled_with(tensor)
        if tensor.dim() == 0:
            return tensor
        if fill is None or kind == "bool" or not math.isfinite(fill):
            tracer.names[id(tensor)] = name
            tracer.note(f"input {name} has the same values in every call: it is data of the task")
            return tensor
        drawn = (
            Drawn("uniform", fill, fill) if kind == "f32" else Drawn("randint", fill, fill + 1)
        )
        stand = torch.empty(tensor.shape, dtype=tensor.dtype, device=META)
        return tracer.bind(stand, tracer.declare(tensor.shape, kind, name, drawn))

    def computed_input(self, tensor, name, behind):
        tracer = self.tracer
        if len(behind) == 1 and behind[0] not in tracer.graph.inputs:
            behind[0].name = name
        tracer.graph.inputs += [each for each in behind if each not in tracer.graph.inputs]
        if tracer.value(tensor).kind != "input":
            drawn = ", ".join(f"{each.name} is drawn as {each.drawn.text()}" for each in behind)
            tracer.note(f"input {name}: {drawn}; what get_inputs() makes of it is part of the task")
        return tensor

    def said(self, error, doing):
        """One line: what is wrong, and where."""
        frames = [
            each for each in traceback.extract_tb(error.__traceback__) if each.filename == self.file
        ]
        line = frames[-1].lineno if frames else self.place
        if isinstance(error, SyntaxError) and error.filename == self.file:
            line = error.lineno
        place = f"{self.shown}:{line}: " if line else f"{self.shown}: "
        inside = module_path(self.tracer)
        inside = f" (in module {inside})" if inside and self.tracer.recording else ""
        error = self.late or error  # PyTorch may have made another error of it.
        text = " ".join(str(error)[:2000].split())
        if isinstance(error, Unknown):
            text = f"kbench has no operator for {text}"
        elif isinstance(error, ModuleNotFoundError):
            text = f"it needs the package {error.name}, which this python3 does not have"
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


def positional_parameters(function):
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind in kinds]


def named_tensors(inputs, names):
    """The tensors of inputs, in order, with names: of several in a list "x_0", "x_1"."""
    named = []
    for i, each in enumerate(inputs):
        name = names[i] if i < len(names) else f"x{i}"
        require_plain(each, name)
        tensors = list(tensors_in([each]))
        several = len(tensors) > 1
        named += [(one, f"{name}_{k}" if several else name) for k, one in enumerate(tensors)]
    return named


def require_plain(given, name):
    plain_ = (torch.Tensor, str, type(None), torch.dtype, torch.device, torch.Size)
    if isinstance(given, (list, tuple, dict)):
        for each in given.values() if isinstance(given, dict) else given:
            require_plain(each, name)
    elif not isinstance(given, plain_) and not is_number(given):
        raise Missing(f"its get_inputs() gives a {type(given).__name__} as {name}, no tensor")


def inputs_behind(value):
    """The inputs that a value is computed of, in the order of its steps."""
    found, seen, open_ = [], set(), [value]
    while open_:
        each = open_.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if each.kind == "input":
            found.append(each)
        elif each.step is not None:
            open_ += reversed(each.step.inputs)
    return found


def outputs_in(result):
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, dict):
        yield from outputs_in(list(result.values()))
    elif isinstance(result, (list, tuple)):
        for each in result:
            yield from outputs_in(each)


def add_newer_names():
    """What a problem's file may name, and older versions of PyTorch lack."""
    for name in ("uint16", "uint32", "uint64"):
        if not hasattr(torch, name):
            setattr(torch, name, torch.int64)  # All whole numbers are a task's i64.
    functional = torch.nn.functional
    if hasattr(functional, "scaled_dot_product_attention"):
        return

    def scaled_dot_product_attention(
        query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None
    ):
        tensors = (query, key, value, attn_mask)
        if torch.overrides.has_torch_function(tensors):
            return torch.overrides.handle_torch_function(
                scaled_dot_product_attention,
                tensors,
                query,
                key,
                value,
                attn_mask=attn_mask,
                dropout_p=dropout_p,
                is_causal=is_causal,
                scale=scale,
            )
        scores = query @ key.transpose(-2, -1) * first_of(scale, query.shape[-1] ** -0.5)
        if is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        elif attn_mask is not None:
            scores = scores + attn_mask
        return torch.softmax(scores, -1) @ value

    scaled_dot_product_attention.__module__ = "torch.nn.functional"
    functional.scaled_dot_product_attention = scaled_dot_product_attention


def answer_to(request, seconds, given=None):
    problem = Problem(request, given)

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
    cases = [(each, given) for each in asked["requests"] for given in each.get("given", [None])]
    answers = [answer_to(each, asked["seconds"], given) for each, given in cases]
    with os.fdopen(3, "w") as channel:
        json.dump(answers, channel)


main()
