# PyTorch's functions as kbench's operators: one table, by the functions' names.
#
# A row is a function with the parameters of PyTorch's, which gets values of the graph in place of
# tensors, and returns values. `x.add_(y)`, `x += y`, torch.add and Tensor.add are all "add": what
# is done in place, and what shares memory with what, is trace.py's matter. What has no row here is
# taken apart by PyTorch itself if it is written in Python, and unknown otherwise.
#
# A row reads every parameter that it has, or says by an annotation what becomes of an argument that
# it does not read; bound() below refuses the others. tests/from_pytorch/rows_test.py looks for rows
# that do neither.
ROWS = {}


class Fixed:
    """A parameter that may only have its default: the translation holds for that alone."""


class Free:
    """A parameter that changes no value: memory formats, in-place flags, running statistics."""


class Floating:
    """A dtype of the result: floating ones are all the task's, others are refused."""


def bound(function, row, k, arguments, named):
    """A row's arguments by its parameters. Throws Unknown for what the row does not understand."""
    signature = inspect.signature(row)
    known = signature.parameters
    named = {name: each for name, each in named.items() if name in known or each is not None}
    try:
        bound_ = signature.bind(k, *arguments, **named)
    except TypeError as error:
        raise Unknown(f"{shown_name(function)} with these arguments: {error}")
    given = bound_.arguments
    for name, value in given.items():
        rule, default = known[name].annotation, known[name].default
        floating = isinstance(value, torch.dtype) and value.is_floating_point
        fits = value is None if rule is Floating else is_same(value, default)
        if rule in (Fixed, Floating) and not fits and not (rule is Floating and floating):
            shown = "a tensor" if isinstance(value, (Value, torch.Tensor)) else repr(value)
            raise Unknown(f"{shown_name(function)} with {name}={shown[:80]}")
    older = [given.get(name) for name in ("size_average", "reduce")]
    if any(each is not None for each in older):
        given["reduction"] = torch.nn._reduction.legacy_get_string(*older, emit_warning=False)
    return bound_


def is_same(value, default):
    if isinstance(value, (Value, torch.Tensor)) or type(value) in (list, tuple):
        return value is default
    return value == default


def row(*names):
    def add(function):
        for name in names:
            ROWS[name] = function
        return function

    return add


def first_of(*values):
    return next((each for each in values if each is not None), None)


def tuple_of(value, count):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return tuple(int(each) for each in (values * count if len(values) == 1 else values))


def sizes_of(sizes):
    return list(sizes[0]) if len(sizes) == 1 and not is_number(sizes[0]) else list(sizes)


# --- elementwise, the same operator with the same meaning
def elementwise(op):
    def rows(k, x, inplace: Free = False):
        return k.unary(op, x)

    return rows


for name in "relu sigmoid tanh selu mish hardsigmoid hardswish exp log sin cos abs neg square sqrt".split():
    ROWS[name] = elementwise(name)
ROWS["negative"], ROWS["absolute"] = ROWS["neg"], ROWS["abs"]


def triangle(op):
    def rows(k, x, diagonal=0):
        if diagonal == 0:
            return k.unary(op, x)
        rows, columns = x.shape[-2:]
        ones = torch.ones(rows, columns)
        return k.binary("mul", x, k.data(getattr(torch, op)(ones, diagonal)))

    return rows


ROWS["triu"], ROWS["tril"] = triangle("triu"), triangle("tril")


@row("gelu")
def gelu(k, x, approximate="none"):
    if approximate == "none":
        return k.unary("gelu", x)
    cubic = k.binary("mul", k.unary("cube", x), 0.044715)
    inner = k.binary("mul", k.binary("add", x, cubic), math.sqrt(2 / math.pi))
    return k.binary("mul", k.binary("mul", x, 0.5), k.binary("add", k.unary("tanh", inner), 1.0))


@row("leaky_relu")
def leaky_relu(k, x, negative_slope=0.01, inplace: Free = False):
    return k.unary("leaky_relu", x, slope=negative_slope)


@row("elu")
def elu(k, x, alpha=1.0, inplace: Free = False):
    return k.unary("elu", x, alpha=alpha)


@row("softplus")
def softplus(k, x, beta=1, threshold=20):
    if threshold != 20:
        raise Unknown("torch.nn.functional.softplus of another threshold than 20")
    if beta == 1:
        return k.unary("softplus", x)
    return k.binary("div", k.unary("softplus", k.binary("mul", x, beta)), beta)


@row("logsigmoid", "log_sigmoid")
def logsigmoid(k, x):
    return k.unary("neg", k.unary("softplus", k.unary("neg", x)))


@row("silu")
def silu(k, x, inplace: Free = False):
    return k.binary("mul", x, k.unary("sigmoid", x))


ROWS["softsign"] = lambda k, x: k.binary("div", x, k.binary("add", k.unary("abs", x), 1.0))


@row("celu")
def celu(k, x, alpha=1.0, inplace: Free = False):
    return k.binary("mul", k.unary("elu", k.binary("div", x, alpha), alpha=1.0), alpha)


@row("glu")
def glu(k, x, dim=-1):
    a, b = chunk(k, x, 2, dim)
    return k.binary("mul", a, k.unary("sigmoid", b))


@row("prelu")
def prelu(k, x, weight):
    if weight.elements > 1 and x.rank > 2:
        weight = k.reshape(weight, [weight.elements, *[1] * (x.rank - 2)])
    below = k.binary("minimum", x, 0.0)
    return k.binary("add", k.unary("relu", x), k.binary("mul", below, weight))


ROWS["expm1"] = lambda k, x: k.binary("sub", k.unary("exp", x), 1.0)
ROWS["log1p"] = lambda k, x: k.unary("log", k.binary("add", x, 1.0))
ROWS["log2"] = lambda k, x: k.binary("div", k.unary("log", x), math.log(2))
ROWS["log10"] = lambda k, x: k.binary("div", k.unary("log", x), math.log(10))
ROWS["exp2"] = lambda k, x: k.unary("exp", k.binary("mul", x, math.log(2)))


@row("relu6")
def relu6(k, x, inplace: Free = False):
    return k.unary("clamp", x, lo=0.0, hi=6.0)


@row("hardtanh")
def hardtanh(k, x, min_val=-1.0, max_val=1.0, inplace: Free = False):
    return k.unary("clamp", x, lo=min_val, hi=max_val)


@row("clamp", "clip")
def clamp(k, x, min=None, max=None):
    if is_number(min) and is_number(max):
        return k.unary("clamp", x, lo=min, hi=max)
    x = x if min is None else k.binary("maximum", x, min)
    return x if max is None else k.binary("minimum", x, max)


ROWS["clamp_min"] = lambda k, x, min: k.binary("maximum", x, min)
ROWS["clamp_max"] = lambda k, x, max: k.binary("minimum", x, max)


@row("reciprocal")
def reciprocal(k, x):
    return k.binary("div", 1.0, x)


@row("rsqrt")
def rsqrt(k, x):
    return k.binary("div", 1.0, k.unary("sqrt", x))


@row("sinh")
def sinh(k, x):
    both = k.binary("sub", k.unary("exp", x), k.unary("exp", k.unary("neg", x)))
    return k.binary("mul", both, 0.5)


@row("cosh")
def cosh(k, x):
    both = k.binary("add", k.unary("exp", x), k.unary("exp", k.unary("neg", x)))
    return k.binary("mul", both, 0.5)


ROWS["tan"] = lambda k, x: k.binary("div", k.unary("sin", x), k.unary("cos", x))


@row("logaddexp")
def logaddexp(k, a, b):
    apart = k.unary("neg", k.unary("abs", k.binary("sub", a, b)))
    return k.binary("add", k.binary("maximum", a, b), k.unary("softplus", apart))


@row("softshrink")
def softshrink(k, x, lambd=0.5):
    return k.binary("sub", x, k.unary("clamp", x, lo=-lambd, hi=lambd))


@row("hardshrink")
def hardshrink(k, x, lambd=0.5):
    return k.binary("mul", x, greater(k, k.unary("abs", x), lambd))


@row("threshold")
def threshold(k, x, threshold, value, inplace: Free = False):
    return where(k, greater(k, x, threshold), x, value)


# --- comparisons: a != b where a - b is not 0, a > b where it is positive. A NaN counts as both.
@row("ne", "not_equal", "logical_xor")
def differs(k, a, b):
    return k.cast(k.binary("sub", a, b), "bool")


@row("gt", "greater")
def greater(k, a, b):
    more = a if is_number(b) and b == 0 else k.binary("sub", a, b)
    return k.cast(k.unary("relu", more), "bool")


@row("lt", "less")
def less(k, a, b):
    return greater(k, b, a)


@row("logical_not")
def logical_not(k, x):
    return k.cast(k.binary("sub", 1.0, k.floats(k.cast(x, "bool"))), "bool")


ROWS["eq"] = lambda k, a, b: logical_not(k, differs(k, a, b))
ROWS["ge"] = ROWS["greater_equal"] = lambda k, a, b: logical_not(k, less(k, a, b))
ROWS["le"] = ROWS["less_equal"] = lambda k, a, b: logical_not(k, greater(k, a, b))


@row("sign", "sgn")
def sign(k, x):
    return k.binary("sub", k.floats(greater(k, x, 0.0)), k.floats(less(k, x, 0.0)))


@row("hardsigmoid_backward")
def hardsigmoid_backward(k, gradient, x):
    return k.binary("mul", k.binary("div", gradient, 6.0), less(k, k.unary("abs", x), 3.0))


def logical(op, of_bits_alone):
    def rows(k, a, b):
        if of_bits_alone and not (a.bits and b.bits):
            raise Unknown("bits of whole numbers")
        a, b = (k.floats(k.cast(each, "bool")) for each in (a, b))
        return k.cast(k.binary(op, a, b), "bool")

    return rows


for name, op in (("and", "mul"), ("or", "maximum")):
    ROWS[f"logical_{name}"] = logical(op, False)
    ROWS[name] = ROWS[f"bitwise_{name}"] = logical(op, True)


@row("invert", "bitwise_not")
def invert(k, x):
    if not x.bits:
        raise Unknown("bits of whole numbers")
    return logical_not(k, x)


def of_bits(op):
    def rows(k, x, dim=None, keepdim=False):
        return k.cast(k.reduced(op, k.floats(k.cast(x, "bool")), dim, keepdim), "bool")

    return rows


ROWS["any"], ROWS["all"] = of_bits("max"), of_bits("min")


def is_positive(x):
    """Whether all elements are known to be more than 0."""
    made = x.step
    if made is None:
        return x.drawn is not None and x.drawn.kind != "normal" and x.drawn.lo > 0
    if made.op in ("exp", "sigmoid", "softplus", "softmax"):
        return True
    if made.op == "add_scalar" and made.attributes["value"] > 0:
        below = made.inputs[0]
        drawn = below.drawn is not None and below.drawn.kind == "uniform" and below.drawn.lo >= 0
        known = below.step is not None and below.step.op in ("abs", "relu", "square", "sqrt")
        return drawn or known or is_positive(below)
    return made.op == "clamp_min" and made.attributes["value"] > 0


@row("pow", "float_power")
def power(k, x, exponent):
    if isinstance(exponent, Value) and exponent.fill is not None:
        exponent = exponent.fill
    if is_number(x) and x > 0 and isinstance(exponent, Value):
        return k.unary("exp", k.binary("mul", exponent, math.log(x)))
    if isinstance(exponent, Value) and isinstance(x, Value) and is_positive(x):
        return k.unary("exp", k.binary("mul", k.unary("log", x), exponent))
    if not is_number(exponent) or not isinstance(x, Value):
        raise Unknown("torch.pow of a tensor that may be negative by a tensor")
    if exponent == 0.5:
        return k.unary("sqrt", x)
    if exponent == -0.5:
        return rsqrt(k, x)
    if exponent == -1:
        return reciprocal(k, x)
    if exponent != int(exponent):  # NaN of what is negative, as the logarithm is.
        return k.unary("exp", k.binary("mul", k.unary("log", x), exponent))
    if exponent < 0:
        return reciprocal(k, power(k, x, -exponent))
    if not 1 <= exponent <= 8:
        raise Unknown(f"torch.pow of exponent {exponent}")
    y, count = None, int(exponent)
    if count == 1:
        return x
    y = k.unary("square" if count == 2 else "cube", x)
    for _ in range(count - 3):
        y = k.binary("mul", y, x)
    return y


@row("add")
def add(k, a, b, alpha=1):
    return k.binary("add", a, b if alpha == 1 else k.binary("mul", b, alpha))


@row("sub", "subtract")
def sub(k, a, b, alpha=1):
    return k.binary("sub", a, b if alpha == 1 else k.binary("mul", b, alpha))


ROWS["rsub"] = lambda k, a, b, alpha=1: sub(k, b, a, alpha)
ROWS["mul"] = ROWS["multiply"] = lambda k, a, b: k.binary("mul", a, b)


@row("trunc", "fix")
def trunc(k, x):
    return k.floats(k.cast(k.floats(x), "i64"))


@row("floor")
def floor(k, x):
    whole = trunc(k, x)
    return k.binary("sub", whole, k.floats(less(k, x, whole)))


ROWS["ceil"] = lambda k, x: k.unary("neg", floor(k, k.unary("neg", x)))


@row("div", "divide", "true_divide", "truediv")
def div(k, a, b, rounding_mode=None):
    y = k.binary("div", a, b)
    return y if rounding_mode is None else ROWS[rounding_mode](k, y)


ROWS["floor_divide"] = ROWS["floordiv"] = lambda k, a, b: floor(k, k.binary("div", a, b))
ROWS["rdiv"] = ROWS["rtruediv"] = lambda k, a, b: k.binary("div", b, a)
ROWS["maximum"] = ROWS["fmax"] = lambda k, a, b: k.binary("maximum", a, b)
ROWS["minimum"] = ROWS["fmin"] = lambda k, a, b: k.binary("minimum", a, b)


@row("lerp")
def lerp(k, a, b, weight):
    return k.binary("add", a, k.binary("mul", k.binary("sub", b, a), weight))


ROWS["addcmul"] = lambda k, x, a, b, value=1: add(k, x, k.binary("mul", a, b), value)


@row("masked_fill")
def masked_fill(k, x, mask, value):
    """`value` where the mask is not 0."""
    if mask.kind != "data":
        kept = k.binary("sub", 1.0, k.floats(k.cast(mask, "bool")))
        if is_number(value) and math.isinf(value):  # The logarithm of 0 is -inf, that of 1 is 0.
            return k.binary("sub" if value > 0 else "add", x, k.unary("log", kept))
        return where(k, mask, value, x)
    if isinstance(value, Value):
        return where(k, mask, value, x)
    set_ = mask.tensor != 0
    while set_.dim() > 2 and set_.shape[0] == 1:  # It broadcasts all the same.
        set_ = set_[0]
    if math.isinf(value):
        added = torch.zeros(set_.shape).masked_fill(set_, value)
        return k.binary("add", x, k.data(added, mask.name))
    x = k.binary("mul", x, k.data(1.0 - set_.float()))
    added = torch.zeros(set_.shape).masked_fill(set_, value)
    return x if value == 0 else k.binary("add", x, k.data(added))


@row("where")
def where(k, condition, x=None, y=None):
    if x is None:
        raise Unknown("torch.where of a condition alone, whose shape depends on values")
    if condition.kind != "data":
        x, y = (each.fill if getattr(each, "fill", None) is not None else each for each in (x, y))
        for one, other, mask in ((x, y, condition), (y, x, None)):
            if is_number(one) and math.isinf(one) and isinstance(other, Value):
                return masked_fill(k, other, mask or logical_not(k, condition), one)
        chosen = k.floats(k.cast(condition, "bool"))
        other = k.binary("mul", k.binary("sub", 1.0, chosen), y)
        return k.binary("add", k.binary("mul", chosen, x), other)
    chosen = (condition.tensor != 0).float()
    x, y = (
        each.fill if isinstance(each, Value) and each.fill is not None else each for each in (x, y)
    )
    if is_number(y) and isinstance(x, Value):
        return masked_fill(k, x, k.data(1.0 - chosen, condition.name), y)
    if is_number(x) and isinstance(y, Value):
        return masked_fill(k, y, condition, x)
    return k.binary(
        "add", k.binary("mul", x, k.data(chosen)), k.binary("mul", y, k.data(1.0 - chosen))
    )


@row(
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_dropout",
    "feature_alpha_dropout",
)
def dropout(k, x, p=0.5, training=True, inplace: Free = False):
    """Left out: a task computes the same every time."""
    if training and p > 0:
        k.note(f"dropout of p = {p} is left out: a task computes the same every time")
    return x


@row(
    "positive",
    "clone",
    "contiguous",
    "detach",
    "alias",
    "cuda",
    "cpu",
    "requires_grad_",
    "pin_memory",
    "resolve_conj",
    "lift_fresh",
)
def same(
    k,
    x,
    device: Free = None,
    non_blocking: Free = False,
    memory_format: Free = None,
    requires_grad: Free = True,
):
    return x


# --- types
OTHER_FLOATS = (torch.float64, torch.float16, torch.bfloat16)
OTHER_FLOATS_NOTE = (
    "floating tensors of other types are of the task's: float32 if --dtype does not say it"
)


@row("to", "type_as")
def to(
    k,
    x,
    *others,
    dtype=None,
    non_blocking: Free = False,
    copy: Fixed = False,
    memory_format: Free = None,
):
    for each in (*others, dtype):
        if isinstance(each, Value):
            return k.cast(x, each.dtype)
        if isinstance(each, torch.dtype):
            if each in OTHER_FLOATS:
                return to_other_float(k, x)
            return k.cast(x, kind_of(each))
        if not (each is None or isinstance(each, (bool, int, str, torch.device))):
            raise Unknown(f"torch.Tensor.to {type(each).__name__}")
    return x


@row("type")
def type_(k, x, dtype, non_blocking: Free = False):
    if not isinstance(dtype, torch.dtype):
        raise Unknown(f"torch.Tensor.type of {dtype!r}")
    return to(k, x, dtype)


@row("float")
def to_float(k, x, memory_format: Free = None):
    return k.cast(x, "f32")


@row("double", "half", "bfloat16")
def to_other_float(k, x, memory_format: Free = None):
    k.note(OTHER_FLOATS_NOTE)
    return k.cast(x, "f32")


@row("long", "int")
def to_long(k, x, memory_format: Free = None):
    return k.cast(x, "i64")


@row("bool")
def to_bool(k, x, memory_format: Free = None):
    return k.cast(x, "bool")


# --- shapes
@row("view", "reshape", "view_as", "reshape_as", "unsafe_view")
def reshape(k, x, *sizes, shape=None):
    if sizes and isinstance(sizes[0], Value):
        return k.reshape(x, sizes[0].shape)
    if sizes and isinstance(sizes[0], torch.dtype):
        raise Unknown("torch.Tensor.view of another type")
    return k.reshape(x, sizes_of(sizes) if shape is None else shape)


@row("flatten", "ravel")
def flatten(k, x, start_dim=0, end_dim=-1):
    return k.flatten(x, start_dim, end_dim)


@row("unflatten")
def unflatten(k, x, dim, sizes):
    axis = x.axis(dim)
    sizes = list(sizes)
    if -1 in sizes:
        known = -math.prod(sizes)
        sizes[sizes.index(-1)] = x.shape[axis] // known
    return k.reshape(x, [*x.shape[:axis], *sizes, *x.shape[axis + 1 :]])


ROWS["unsqueeze"] = lambda k, x, dim: k.unsqueeze(x, dim)


@row("squeeze")
def squeeze(k, x, dim=None):
    axes = (
        range(x.rank)
        if dim is None
        else [x.axis(each) for each in ([dim] if is_number(dim) else dim)]
    )
    axes = [each for each in axes if x.shape[each] == 1]
    return k.squeeze(x, axes) if axes else x


ROWS["permute"] = lambda k, x, *dims: k.permute(x, sizes_of(dims))


@row("transpose", "swapaxes", "swapdims")
def transpose(k, x, dim0, dim1):
    return k.transpose(x, dim0, dim1)


@row("t", "T", "mT", "H", "mH", "adjoint")
def transposed(k, x):
    return x if x.rank < 2 else k.transpose(x, -2, -1)


@row("movedim", "moveaxis")
def movedim(k, x, source, destination):
    source = [x.axis(each) for each in ([source] if is_number(source) else source)]
    destination = [
        x.axis(each) for each in ([destination] if is_number(destination) else destination)
    ]
    axes = [each for each in range(x.rank) if each not in source]
    for place, axis in sorted(zip(destination, source)):
        axes.insert(place, axis)
    return k.permute(x, axes)


@row("expand", "expand_as", "broadcast_to")
def expand(k, x, *sizes):
    return k.expand(x, sizes[0].shape if isinstance(sizes[0], Value) else sizes_of(sizes))


@row("repeat", "tile")
def repeat(k, x, *sizes):
    counts = sizes_of(sizes)
    shape = [1] * (len(counts) - x.rank) + list(x.shape)
    counts = [1] * (len(shape) - len(counts)) + counts
    if all(each == 1 for each in x.shape):
        return k.expand(k.reshape(x, shape) if len(shape) != x.rank else x, counts)
    apart = [each for pair in zip([1] * len(shape), shape) for each in pair]
    wide = [each for pair in zip(counts, shape) for each in pair]
    return k.reshape(k.expand(k.reshape(x, apart), wide), [a * b for a, b in zip(counts, shape)])


@row("repeat_interleave")
def repeat_interleave(k, x, repeats, dim=None, output_size: Free = None):
    if not is_number(repeats):
        raise Unknown("torch.repeat_interleave of a tensor of repeats")
    if dim is None:
        x, dim = k.flatten(x), 0
    axis = x.axis(dim)
    apart = [*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]]
    wide = [*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :]]
    shape = [*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :]]
    return k.reshape(k.expand(k.reshape(x, apart), wide), shape)


@row("cat", "concat", "concatenate")
def cat(k, tensors, dim=0):
    return k.cat(list(tensors), dim)


@row("stack")
def stack(k, tensors, dim=0):
    tensors = list(tensors)
    axis = dim + tensors[0].rank + 1 if dim < 0 else dim
    return k.cat([k.unsqueeze(each, axis) for each in tensors], axis)


@row("vstack", "row_stack")
def vstack(k, tensors):
    return k.cat([k.unsqueeze(each, 0) if each.rank == 1 else each for each in tensors], 0)


@row("diag")
def diag(k, x, diagonal: Fixed = 0):
    """A diagonal's elements are n + 1 apart."""
    n = min(x.shape)
    if x.rank == 1:
        wide = k.flatten(k.pad(k.reshape(x, [n, 1]), 1, 0, n))
        return k.reshape(k.slice(wide, 0, 0, n * n), [n, n])
    if x.shape[0] != x.shape[1]:
        raise Unknown("torch.diag of a matrix that is not square")
    return k.select(k.reshape(k.pad(k.flatten(x), 0, 0, n), [n, n + 1]), 1, 0)


ROWS["hstack"] = lambda k, tensors: k.cat(list(tensors), 0 if tensors[0].rank == 1 else 1)


@row("chunk")
def chunk(k, x, chunks, dim=0):
    extent = x.shape[x.axis(dim)]
    return split(k, x, -(-extent // chunks), dim)


@row("split", "split_with_sizes", "unsafe_split")
def split(k, x, split_size_or_sections, dim=0):
    sizes, extent = split_size_or_sections, x.shape[x.axis(dim)]
    if is_number(sizes):
        sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)]
    ends = list(itertools.accumulate(sizes))
    return tuple(k.slice(x, dim, end - size, end) for size, end in zip(sizes, ends))


@row("tensor_split")
def tensor_split(k, x, indices_or_sections, dim=0):
    extent, where_ = x.shape[x.axis(dim)], indices_or_sections
    if is_number(where_):
        each, more = divmod(extent, where_)
        return split(k, x, [each + 1] * more + [each] * (where_ - more), dim)
    ends = [0, *where_, extent]
    return split(k, x, [b - a for a, b in zip(ends, ends[1:])], dim)


ROWS["unbind"] = lambda k, x, dim=0: tuple(k.select(x, dim, i) for i in range(x.shape[x.axis(dim)]))
ROWS["select"] = lambda k, x, dim, index: k.select(x, dim, index)
ROWS["narrow"] = lambda k, x, dim, start, length: k.slice(x, dim, start, start + length)


@row("unfold")
def unfold(k, x, dimension, size, step):
    """Tensor.unfold, where its windows touch one another."""
    if x.shape[x.axis(dimension)] % size or step != size:
        raise Unknown("torch.Tensor.unfold with windows that do not lie side by side")
    axis = x.axis(dimension)
    y = k.reshape(x, [*x.shape[:axis], x.shape[axis] // size, size, *x.shape[axis + 1 :]])
    return k.permute(y, [*range(axis + 1), *range(axis + 2, y.rank), axis + 1])


@row("roll")
def roll(k, x, shifts, dims=None):
    if dims is None:
        return k.reshape(roll(k, k.flatten(x), shifts, 0), x.shape)
    pairs = zip([shifts] if is_number(shifts) else shifts, [dims] if is_number(dims) else dims)
    for shift, dim in pairs:
        x = k.along("roll", x, dim, shift=shift)
    return x


@row("flip")
def flip(k, x, *dims):
    for dim in sizes_of(dims):
        x = k.along("flip", x, dim)
    return x


@row("pad")
def pad(k, x, pad, mode="constant", value=None):
    if mode != "constant":
        raise Unknown(f"torch.nn.functional.pad with mode={mode!r}")
    value = value or 0
    if not is_number(value) or not math.isfinite(value):
        raise Unknown(f"torch.nn.functional.pad with value={value!r}")
    if value != 0:
        x = k.binary("sub", x, value)
    for axis in range(x.rank):
        place = 2 * (x.rank - 1 - axis)
        if place < len(pad):
            x = k.pad(x, axis, pad[place], pad[place + 1])
    return x if value == 0 else k.binary("add", x, value)


@row("getitem")
def getitem(k, x, index):
    if isinstance(index, list) and not all(is_number(each) for each in index):
        index = tuple(index)
    index = list(index) if isinstance(index, tuple) else [index]
    taken = sum(1 for each in index if each is not None and each is not Ellipsis)
    if Ellipsis not in [each for each in index if not isinstance(each, Value)]:
        index.append(Ellipsis)
    axis, dropped = 0, []
    added = []  # places of None, in the result
    for each in index:
        if each is None:
            added.append(axis - len(dropped) + len(added))
            continue
        if each is Ellipsis:
            axis += x.rank - taken
            continue
        if isinstance(each, slice):
            x = k.slice(
                x,
                axis,
                *(None if i is None else int(i) for i in (each.start, each.stop, each.step)),
            )
        elif is_number(each) and not isinstance(each, bool):
            each = int(each)
            each = each + x.shape[axis] if each < 0 else each
            if not 0 <= each < x.shape[axis]:
                raise IndexError(
                    f"index {each} is out of bounds for a dimension of {x.shape[axis]}"
                )
            x = k.slice(x, axis, each, each + 1)
            dropped.append(axis)
        elif isinstance(each, (Value, list)):
            if len([one for one in index if isinstance(one, (Value, list))]) > 1:
                raise Unknown("indexing by several tensors")
            if isinstance(each, list) and any(isinstance(one, Value) for one in each):
                raise Unknown("indexing by a list of tensors")
            each = k.data(torch.tensor(each)) if isinstance(each, list) else each
            if each.dtype != "i64":
                raise Unknown("indexing by a mask")
            return indexed(k, x, index, each, axis, dropped, added)
        else:
            raise Unknown(f"indexing by {type(each).__name__}")
        axis += 1
    if dropped:
        x = k.squeeze(x, dropped)
    for place in added:
        x = k.unsqueeze(x, place)
    return x


def indexed(k, x, index, rows, axis, dropped, added):
    if (
        dropped
        or added
        or index[-1] is not Ellipsis
        or any(each not in (slice(None), Ellipsis) for each in index[axis + 1 :])
    ):
        raise Unknown("indexing by a tensor beside other indices")
    return index_select(k, x, axis, rows)


@row("index_select")
def index_select(k, x, dim, index):
    axis = x.axis(dim)
    if axis == 0:
        return k.rows(x, index)
    axes = [axis, *(each for each in range(x.rank) if each != axis)]
    y = k.rows(k.permute(x, axes), index)
    places = list(range(index.rank, y.rank))
    return k.permute(y, [*places[:axis], *range(index.rank), *places[axis:]])


@row("gather")
def gather(k, x, dim, index, sparse_grad: Free = False):
    """Along the last dimension; of the others x has what index has."""
    axis, last = x.axis(dim), x.rank - 1
    for each, wanted in enumerate(index.shape):
        x = x if each == axis else k.slice(x, each, 0, wanted)
    x, index = (k.transpose(each, axis, last) for each in (x, index))
    y = k.one("gather", [k.floats(x), k.cast(index, "i64")], index.shape)
    return k.transpose(y, axis, last)


@row("take_along_dim")
def take_along_dim(k, x, indices, dim=None):
    if dim is None:
        return gather(k, k.flatten(x), 0, k.flatten(indices))
    axis = x.axis(dim)
    if len({each.shape[:axis] + each.shape[axis + 1 :] for each in (x, indices)}) > 1:
        raise Unknown("torch.take_along_dim of shapes that broadcast")
    return gather(k, x, dim, indices)


@row("topk")
def topk(steps, x, k, dim=-1, largest=True, sorted: Free = True):
    """The largest, k times over: what was the largest is -inf from then on."""
    axis = x.axis(dim)
    if k > 8 or x.shape[axis] > 2048:  # whole numbers that all floating types have
        raise Unknown("torch.topk of more than 8 elements, or of more than 2048")
    steps.note("topk is as many times max, which takes longer than PyTorch's own")
    x = x if largest else steps.unary("neg", x)
    shape = [-1] + [1] * (x.rank - 1 - axis)
    places = steps.data(torch.arange(float(x.shape[axis])).reshape(shape))
    values, indices = [], []
    for _ in range(k):
        values.append(steps.reduced("max", x, axis, True))
        indices.append(steps.reduced("argmax", x, axis, True, "i64"))
        if len(values) < k:
            x = masked_fill(steps, x, ROWS["eq"](steps, places, indices[-1]), -math.inf)
    values = steps.cat(values, axis)
    values = values if largest else steps.unary("neg", values)
    return steps.pair("topk")((values, steps.cat(indices, axis)))


@row("embedding")
def embedding(
    k,
    input,
    weight,
    padding_idx: Free = None,
    max_norm: Fixed = None,
    norm_type: Free = 2.0,
    scale_grad_by_freq: Free = False,
    sparse: Free = False,
):
    return k.rows(weight, input)


# --- reductions
@row("sum", "nansum")
def sum_(k, x, dim=None, keepdim=False, dtype: Floating = None):
    return k.reduced("sum", x, dim, keepdim)


@row("mean")
def mean(k, x, dim=None, keepdim=False, dtype: Floating = None):
    return k.reduced("mean", x, dim, keepdim)


ROWS["amax"] = lambda k, x, dim=None, keepdim=False: k.reduced("max", x, dim, keepdim)
ROWS["amin"] = lambda k, x, dim=None, keepdim=False: k.reduced("min", x, dim, keepdim)


def extreme(op):
    def rows(k, x, dim=None, keepdim=False):
        if isinstance(dim, Value):
            return k.binary(op + "imum", x, dim)
        if dim is None:
            return k.reduced(op, x)
        found = k.pair(op)
        return found(
            (k.reduced(op, x, dim, keepdim), k.reduced("arg" + op, x, dim, keepdim, "i64"))
        )

    return rows


ROWS["max"], ROWS["min"] = extreme("max"), extreme("min")


ROWS["argmax"] = lambda k, x, dim=None, keepdim=False: k.reduced("argmax", x, dim, keepdim, "i64")
ROWS["argmin"] = lambda k, x, dim=None, keepdim=False: k.reduced("argmin", x, dim, keepdim, "i64")


@row("logsumexp")
def logsumexp(k, x, dim, keepdim=False):
    if not is_number(dim) and len(dim) > 1 and list(dim) != list(range(min(dim), max(dim) + 1)):
        raise Unknown("torch.logsumexp over dimensions that are not neighbours")
    return k.reduced("logsumexp", x, dim, keepdim)


@row("norm", "vector_norm", "linalg_vector_norm")
def norm(k, x, p="fro", dim=None, keepdim=False, dtype: Floating = None, ord=None):
    p = first_of(ord, p, "fro")
    if p in ("fro", 2, 2.0):
        return k.reduced("norm", x, dim, keepdim)
    if p == 1:
        return k.reduced("sum", k.unary("abs", x), dim, keepdim)
    if is_number(p) and math.isinf(p) and p > 0:
        return k.reduced("max", k.unary("abs", x), dim, keepdim)
    raise Unknown(f"torch.norm with p={p!r}")


@row("linalg_norm")
def linalg_norm(k, x, ord=None, dim=None, keepdim=False, dtype: Floating = None):
    """Of vectors, and what is the same of matrices."""
    of_vectors = is_number(dim) or (dim is None and x.rank == 1)
    if ord not in (None, "fro") and not of_vectors:
        raise Unknown(f"torch.linalg.norm of matrices with ord={ord!r}")
    return norm(k, x, ord, dim, keepdim)


@row("linalg_matrix_norm", "matrix_norm")
def matrix_norm(k, x, ord="fro", dim=(-2, -1), keepdim=False, dtype: Floating = None):
    if ord != "fro":
        raise Unknown(f"torch.linalg.matrix_norm with ord={ord!r}")
    return norm(k, x, "fro", list(dim), keepdim)


@row("normalize")
def normalize(k, x, p=2.0, dim=1, eps=1e-12, out: Fixed = None):
    return k.binary("div", x, k.unary("clamp_min", norm(k, x, p, dim, True), value=eps))


@row("var", "std", "var_mean")
def var(k, x, dim=None, unbiased=None, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    less = first_of(correction, None if unbiased is None else int(unbiased), 1)
    dims = (
        range(x.rank)
        if dim is None
        else [x.axis(each) for each in ([dim] if is_number(dim) else dim)]
    )
    count = math.prod(x.shape[each] for each in dims)
    away = k.binary("sub", x, k.reduced("mean", x, list(dims), True))
    if less == 0:
        return k.reduced("mean", k.unary("square", away), dim, keepdim)
    return k.binary("div", k.reduced("sum", k.unary("square", away), dim, keepdim), count - less)


def deviation(k, *arguments, **named):
    return k.unary("sqrt", var(k, *arguments, **named))


def variance_and_mean(k, x, dim=None, unbiased=None, keepdim=False, correction=None):
    return (
        var(k, x, dim, unbiased, keepdim, correction),
        k.reduced("mean", x, None if isinstance(dim, bool) else dim, keepdim),
    )


ROWS["std"], ROWS["var_mean"] = deviation, variance_and_mean


@row("prod")
def prod(k, x, dim=None, keepdim=False, dtype: Floating = None):
    """The last of the products so far."""
    x, dim = (k.flatten(x), 0) if dim is None else (x, x.axis(dim))
    last = k.slice(k.along("cumprod", x, dim), dim, x.shape[dim] - 1, x.shape[dim])
    return last if keepdim else k.squeeze(last, [dim])


@row("cumsum")
def cumsum(k, x, dim, dtype: Floating = None):
    return k.along("cumsum", x, dim)


@row("cumprod")
def cumprod(k, x, dim, dtype: Floating = None):
    return k.along("cumprod", x, dim)


def scan(op):
    def rows(k, x, dim=None, _stacklevel: Free = 3, dtype: Floating = None):
        dim = (0 if x.rank in (0, 1, 3) else 1) if dim is None else dim
        return k.along(op, x, dim)

    return rows


ROWS["softmax"], ROWS["log_softmax"] = scan("softmax"), scan("log_softmax")


@row("softmin")
def softmin(k, x, dim=None, _stacklevel: Free = 3, dtype: Floating = None):
    return ROWS["softmax"](k, k.unary("neg", x), dim)


# --- products
@row("matmul", "bmm", "mm", "mv", "linalg_matmul")
def matmul(k, a, b):
    return k.matmul(a, b)


ROWS["rmatmul"] = lambda k, a, b: k.matmul(b, a)


@row("dot", "vdot", "inner")
def dot(k, a, b):
    if a.rank != 1 or b.rank != 1:
        raise Unknown("torch.inner of tensors of several dimensions")
    return k.reduced("sum", k.binary("mul", a, b))


ROWS["outer"] = ROWS["ger"] = lambda k, a, b: k.binary("mul", k.unsqueeze(a, 1), k.unsqueeze(b, 0))


@row("addmm", "addmv", "baddbmm")
def addmm(k, x, a, b, beta=1, alpha=1):
    y = k.matmul(a, b)
    y = y if alpha == 1 else k.binary("mul", y, alpha)
    return y if beta == 0 else k.binary("add", y, x if beta == 1 else k.binary("mul", x, beta))


@row("addbmm")
def addbmm(k, x, batch1, batch2, beta=1, alpha=1):
    y = k.reduced("sum", k.matmul(batch1, batch2), 0)
    y = y if alpha == 1 else k.binary("mul", y, alpha)
    return y if beta == 0 else k.binary("add", y, x if beta == 1 else k.binary("mul", x, beta))


ROWS["linear"] = lambda k, x, weight, bias=None: k.linear(x, weight, bias)


@row("bilinear")
def bilinear(k, a, b, weight, bias=None):
    y = einsum(k, "...i,oij,...j->...o".replace("...", "xyzuvw"[: a.rank - 1]), a, weight, b)
    return y if bias is None else k.binary("add", y, bias)


@row("scaled_dot_product_attention")
def attention(
    k,
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    dropout(k, query, dropout_p)
    if enable_gqa and key.shape[-3] != query.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = (repeat_interleave(k, each, times, -3) for each in (key, value))
    scores = k.product(query, key, transpose_b=1)
    scores = k.binary("mul", scores, first_of(scale, 1.0 / math.sqrt(query.shape[-1])))
    if is_causal:
        shape = scores.shape[-2:]
        scores = masked_fill(k, scores, k.data(torch.ones(shape).triu(1), "mask"), -math.inf)
    scores = masked(k, scores, attn_mask)
    return k.product(k.along("softmax", scores, -1), value)


def masked(k, scores, mask, is_set_where_attended=True):
    """Scores with a mask of numbers added, or one of bits applied."""
    if mask is None:
        return scores
    if not mask.bits:
        return k.binary("add", scores, mask)
    if mask.kind != "data":
        raise Unknown("attention with a mask of bits that is computed")
    off = mask.tensor == 0 if is_set_where_attended else mask.tensor != 0
    return masked_fill(k, scores, k.data(off, mask.name or "mask"), -math.inf)


@row("multi_head_attention_forward")
def multi_head_attention(k, query, key, value, *arguments, **named):
    """query [tokens, batch, d], or without a batch."""
    if query.rank != 2:
        return batched_attention(k, query, key, value, *arguments, **named)
    wide = {id(each): k.unsqueeze(each, 1) for each in (query, key, value)}
    qkv = (wide[id(each)] for each in (query, key, value))
    y, weights = batched_attention(k, *qkv, *arguments, **named)
    return k.squeeze(y, [1]), None if weights is None else k.squeeze(weights, [0])


def batched_attention(
    k,
    query,
    key,
    value,
    embed_dim_to_check: Free,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal: Free = False,  # says what attn_mask is
):
    """kbench's own attention takes the batch first."""
    unusual = (bias_k, bias_v, key_padding_mask, static_k, static_v)
    if any(each is not None for each in unusual) or add_zero_attn or query.rank != 3:
        raise Unknown(
            "torch.nn.functional.multi_head_attention_forward with padding masks, static "
            "keys or added keys"
        )
    dropout(k, query, dropout_p, training)
    apart = [k.permute(each, [1, 0, 2]) for each in (query, key, value)]
    d = query.shape[2]
    bias = [None] * 3 if in_proj_bias is None else chunk(k, in_proj_bias, 3)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        qkv = [k.linear(*each) for each in zip(apart, weights, bias)]
    elif key is query and value is query:
        qkv = chunk(k, k.linear(apart[0], in_proj_weight, in_proj_bias), 3, -1)
    else:
        in_proj_weight.role = fan_in_weight(d)
        qkv = [k.linear(*each) for each in zip(apart, chunk(k, in_proj_weight, 3), bias)]
    heads = [
        k.transpose(k.reshape(each, [*each.shape[:2], num_heads, each.shape[2] // num_heads]), 1, 2)
        for each in qkv
    ]
    scores = k.binary(
        "mul", k.product(heads[0], heads[1], transpose_b=1), 1.0 / math.sqrt(d // num_heads)
    )
    if attn_mask is not None and attn_mask.rank == 3:
        attn_mask = k.reshape(attn_mask, [-1, num_heads, *attn_mask.shape[1:]])
    weights = k.along("softmax", masked(k, scores, attn_mask, is_set_where_attended=False), -1)
    y = k.flatten(k.transpose(k.product(weights, heads[2]), 1, 2), 2)
    y = k.permute(k.linear(y, out_proj_weight, out_proj_bias), [1, 0, 2])
    if not need_weights:
        return y, None
    return y, k.reduced("mean", weights, 1) if average_attn_weights else weights


multi_head_attention.__signature__ = inspect.signature(batched_attention)


@row("einsum")
def einsum(k, equation, *operands):
    """Two operands at a time, from left to right, each pair as a matrix product or elementwise."""
    if not isinstance(equation, str):
        raise Unknown("torch.einsum of lists of subscripts")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    left, _, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    dots = ""
    if "..." in equation:
        spare = [each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if each not in equation]
        wide = max(
            each.rank - len(term.replace("...", ""))
            for each, term in zip(operands, terms)
            if "..." in term
        )
        dots = "".join(spare[:wide])
        terms = [
            term.replace("...", dots[wide - (each.rank - len(term.replace("...", ""))) :])
            for each, term in zip(operands, terms)
        ]
        result = result.replace("...", dots)
    if "->" not in equation:
        everything = "".join(terms)
        once = sorted(each for each in set(everything) if everything.count(each) == 1)
        result = dots + "".join(each for each in once if each not in dots)
    if any(len(set(term)) != len(term) for term in terms):
        raise Unknown("torch.einsum along a diagonal")
    # An extent of 1 is repeated where another operand's is larger: it is left out of the product.
    extents = {}
    for each, term in zip(operands, terms):
        for letter, extent in zip(term, each.shape):
            extents[letter] = max(extent, extents.get(letter, 1))
    wide = [
        [extent != 1 or extents[letter] == 1 for letter, extent in zip(term, each.shape)]
        for each, term in zip(operands, terms)
    ]
    operands = [
        each if all(kept) else k.squeeze(each, [i for i, one in enumerate(kept) if not one])
        for each, kept in zip(operands, wide)
    ]
    terms = ["".join(itertools.compress(term, kept)) for term, kept in zip(terms, wide)]
    x, letters = operands[0], terms[0]
    for i in range(1, len(operands)):
        later = set(result).union(*terms[i + 1 :])
        x, letters = einsum_pair(k, x, letters, operands[i], terms[i], later)
    gone = [i for i, each in enumerate(letters) if each not in result]
    if gone:
        x = k.reduced("sum", x, gone)
        letters = "".join(each for each in letters if each in result)
    return k.permute(x, [letters.index(each) for each in result])


def einsum_pair(k, a, of_a, b, of_b, later):
    """The product of both, summed over what nothing needs later, and its letters."""
    sums = lambda x, own, others: (  # noqa: E731
        k.reduced("sum", x, [i for i, each in enumerate(own) if each not in others]),
        "".join(each for each in own if each in others),
    )
    for own, other in ((of_a, of_b), (of_b, of_a)):
        if any(each not in other and each not in later for each in own):
            if own is of_a:
                a, of_a = sums(a, of_a, set(other) | later)
            else:
                b, of_b = sums(b, of_b, set(other) | later)
    extents = {**dict(zip(of_a, a.shape)), **dict(zip(of_b, b.shape))}
    both = [each for each in of_a if each in of_b]
    batch, inner = [each for each in both if each in later], [
        each for each in both if each not in later
    ]
    free_a, free_b = ([each for each in own if each not in both] for own in (of_a, of_b))
    if not inner:
        order = of_a + "".join(free_b)
        a = k.reshape(a, [*a.shape, *[1] * len(free_b)]) if free_b else a
        places = [each for each in order if each in of_b]
        b = k.permute(b, [of_b.index(each) for each in places])
        b = (
            k.reshape(b, [extents[each] if each in of_b else 1 for each in order])
            if len(order) != b.rank
            else b
        )
        return k.binary("mul", a, b), order
    if not batch and len(of_b) == 2 and of_a[-1] == inner[0]:
        y = k.product(a, b, transpose_b=int(of_b[1] == inner[0]))
        return y, "".join(free_a + free_b)
    a, turn_a = matrix(k, a, of_a, batch, free_a, inner, extents)
    b, turn_b = matrix(k, b, of_b, batch, inner, free_b, extents)
    y = k.product(a, b, transpose_a=turn_a, transpose_b=turn_b)
    shape = [extents[each] for each in batch + free_a + free_b]
    return (y if list(y.shape) == shape else k.reshape(y, shape)), "".join(batch + free_a + free_b)


def matrix(k, x, own, batch, rows, columns, extents):
    """x as [batch..., rows, columns], or with both exchanged (1) where its order is so already."""
    turned = list(own) == batch + columns + rows and list(own) != batch + rows + columns
    first, second = (columns, rows) if turned else (rows, columns)
    x = k.permute(x, [own.index(each) for each in batch + first + second])
    shape = [extents[each] for each in batch]
    shape += [math.prod(extents[each] for each in part) for part in (first, second)]
    return (x if list(x.shape) == shape else k.reshape(x, shape)), int(turned)


# --- convolutions
def batched(k, x, dims):
    """x with a batch, and what takes the batch off a result again where x had none."""
    if x.rank != dims + 1:
        return k.floats(x), lambda y: y
    return k.unsqueeze(k.floats(x), 0), lambda y: k.squeeze(y, [0])


def operands(x, weight, bias):
    return [x, weight] if bias is None else [x, weight, bias]


def convolution(dims):
    def rows(k, x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride, dilation = tuple_of(stride, dims), tuple_of(dilation, dims)
        kernel = weight.shape[2:]
        if padding == "valid":
            padding = 0
        if padding == "same":
            total = [d * (e - 1) for d, e in zip(dilation, kernel)]
            padding = [each // 2 for each in total]
            for i, each in enumerate(total):
                if each % 2:
                    x = k.pad(x, x.rank - dims + i, 0, 1)
        padding = tuple_of(padding, dims)
        x, unbatched = batched(k, x, dims)
        weight.role = fan_in_weight(math.prod(weight.shape[1:]))
        extents = [
            (each + 2 * p - d * (e - 1) - 1) // s + 1
            for each, p, d, e, s in zip(x.shape[2:], padding, dilation, kernel, stride)
        ]
        y = k.one(
            f"conv{dims}d",
            operands(x, weight, bias),
            [x.shape[0], weight.shape[0], *extents],
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
        )
        return unbatched(y)

    return rows


def transposed_convolution(dims):
    def rows(k, x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, dilation = tuple_of(stride, dims), tuple_of(dilation, dims)
        padding, extra = tuple_of(padding, dims), tuple_of(output_padding, dims)
        x, unbatched = batched(k, x, dims)
        kernel = weight.shape[2:]
        # An output element gathers only every stride-th tap.
        fan_in = x.shape[1] // groups * math.prod(kernel) // max(math.prod(stride), 1)
        weight.role = fan_in_weight(max(fan_in, 1))
        extents = [
            (each - 1) * s - 2 * p + d * (e - 1) + o + 1
            for each, s, p, d, e, o in zip(x.shape[2:], stride, padding, dilation, kernel, extra)
        ]
        y = k.one(
            f"conv_transpose{dims}d",
            operands(x, weight, bias),
            [x.shape[0], weight.shape[1] * groups, *extents],
            stride=stride,
            padding=padding,
            output_padding=extra,
            dilation=dilation,
            groups=groups,
        )
        return unbatched(y)

    return rows


# --- pooling
def window_extent(extent, kernel, stride, padding, dilation, ceil_mode):
    room = extent + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= extent + padding else count


def pooled(k, op, dims, x, kernel, stride, padding, ceil_mode, dilation=None):
    kernel = tuple_of(kernel, dims)
    stride = kernel if stride is None or stride == [] else tuple_of(stride, dims)
    padding = tuple_of(padding, dims)
    x, unbatched = batched(k, x, dims)
    named = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": int(ceil_mode)}
    spread = (1,) * dims
    if dilation is not None:
        spread = named["dilation"] = tuple_of(dilation, dims)
    extents = [
        window_extent(*each, ceil_mode)
        for each in zip(x.shape[2:], kernel, stride, padding, spread)
    ]
    y = k.one(f"{op}{dims}d", [x], [*x.shape[:2], *extents], **named)
    return unbatched(y)


def max_pool(dims):
    def rows(
        k, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
    ):
        if return_indices:
            raise Unknown(f"torch.nn.functional.max_pool{dims}d with return_indices")
        return pooled(k, "max_pool", dims, x, kernel_size, stride, padding, ceil_mode, dilation)

    return rows


def avg_pool(dims):
    def rows(
        k,
        x,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        padded = any(tuple_of(padding, dims))
        if (padded and not count_include_pad) or divisor_override is not None:
            raise Unknown(
                f"torch.nn.functional.avg_pool{dims}d without count_include_pad or with "
                "divisor_override"
            )
        return pooled(k, "avg_pool", dims, x, kernel_size, stride, padding, ceil_mode)

    return rows


def adaptive_pool(op, dims):
    def rows(k, x, output_size, return_indices: Fixed = False):
        sizes = (
            list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * dims
        )
        sizes = [
            x.shape[x.rank - dims + i] if each is None else each for i, each in enumerate(sizes)
        ]
        axes = list(range(x.rank - dims, x.rank))
        if all(each == 1 for each in sizes):
            return k.reduced({"avg": "mean", "max": "max"}[op], x, axes, True)
        extents = x.shape[x.rank - dims :]
        if sizes == list(extents):
            return x
        if op == "avg" and dims == 2 and x.rank == 4:
            return k.one("adaptive_avg_pool2d", [x], [*x.shape[:2], *sizes], output=tuple(sizes))
        if all(extent % size == 0 for extent, size in zip(extents, sizes)):
            kernel = [extent // size for extent, size in zip(extents, sizes)]
            return pooled(
                k, f"{op}_pool", dims, x, kernel, None, 0, False, 1 if op == "max" else None
            )
        raise Unknown(
            f"torch.nn.functional.adaptive_{op}_pool{dims}d to {sizes} of {list(extents)}"
        )

    return rows


@row(*(f"adaptive_max_pool{dims}d_with_indices" for dims in (1, 2, 3)))
def pool_with_indices(k, x: Free, output_size: Free, return_indices: Free = False):
    raise Unknown("torch.nn.functional.adaptive_max_pool with return_indices")


for dims in (1, 2, 3):
    ROWS[f"conv{dims}d"] = convolution(dims)
    ROWS[f"conv_transpose{dims}d"] = transposed_convolution(dims)
    ROWS[f"max_pool{dims}d"] = max_pool(dims)
    ROWS[f"avg_pool{dims}d"] = avg_pool(dims)
    ROWS[f"adaptive_avg_pool{dims}d"] = adaptive_pool("avg", dims)
    ROWS[f"adaptive_max_pool{dims}d"] = adaptive_pool("max", dims)


@row("interpolate", "upsample", "upsample_nearest")
def interpolate(
    k,
    x,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Along one dimension after the other: each output is a weighed sum of its inputs."""
    dims = x.rank - 2
    sizes = [None] * dims if size is None else tuple_of(size, dims)
    times = scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dims
    if mode == "area":
        if size is None:
            sizes = [int(extent * each) for extent, each in zip(x.shape[2:], times)]
        return ROWS[f"adaptive_avg_pool{dims}d"](k, x, sizes)
    nearest = mode.startswith("nearest")
    for i in range(dims):
        extent, axis = x.shape[2 + i], 2 + i
        repeats = times[i] if size is None else sizes[i] / extent
        if nearest and repeats == int(repeats) >= 1:
            x = repeat_interleave(k, x, int(repeats), axis) if repeats > 1 else x
            continue
        weights = torch.nn.functional.interpolate(
            torch.eye(extent, dtype=torch.float64).reshape(extent, 1, extent, 1),
            None if size is None else (sizes[i], 1),
            None if size is not None else (float(repeats), 1.0),
            {"linear": "bilinear", "trilinear": "bilinear"}.get(mode, mode),
            align_corners,
            recompute_scale_factor,
            antialias=antialias,
        )[:, 0, :, 0].float()
        if nearest:
            x = index_select(k, x, axis, k.data(weights.argmax(0)))
        elif axis == x.rank - 1:
            x = k.product(k.floats(x), k.data(weights))
        else:
            rest = x.shape[axis + 1 :]
            wide = x if len(rest) == 1 else k.flatten(x, axis + 1)
            x = k.product(k.data(weights.T), k.floats(wide))
            x = x if len(rest) == 1 else unflatten(k, x, axis + 1, rest)
    return x


@row("pixel_shuffle")
def pixel_shuffle(k, x, upscale_factor):
    n, c, h, w = x.shape
    r = upscale_factor
    y = k.permute(k.reshape(x, [n, c // (r * r), r, r, h, w]), [0, 1, 4, 2, 5, 3])
    return k.reshape(y, [n, c // (r * r), h * r, w * r])


@row("channel_shuffle")
def channel_shuffle(k, x, groups):
    y = k.reshape(x, [x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]])
    return k.reshape(k.transpose(y, 1, 2), x.shape)


# --- normalisation
def normalised(k, op, x, weight, bias, channels=None, **attributes):
    """With weight and bias, both or none of which an operator has."""
    x = k.floats(x)
    if weight is not None and bias is not None:
        weight.role = Drawn("uniform", 0.5, 1.5)
        return k.one(op, [x, weight, bias], x.shape, **attributes)
    y = k.one(op, [x], x.shape, **attributes)
    fit = (lambda v: v) if channels is None else (lambda v: k.reshape(v, channels))
    if weight is not None:
        weight.role = Drawn("uniform", 0.5, 1.5)
        y = k.binary("mul", y, fit(weight))
    return y if bias is None else k.binary("add", y, fit(bias))


def a_channel(x):
    return [1, x.shape[1], *[1] * (x.rank - 2)]


@row("batch_norm")
def batch_norm(
    k,
    x,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum: Free = 0.1,
    eps=1e-5,
):
    if training:
        return normalised(k, "batch_norm", x, weight, bias, a_channel(x), eps=eps)
    shape = a_channel(x)
    spread = k.unary("sqrt", k.binary("add", k.reshape(running_var, shape), eps))
    y = k.binary("div", k.binary("sub", x, k.reshape(running_mean, shape)), spread)
    y = y if weight is None else k.binary("mul", y, k.reshape(weight, shape))
    return y if bias is None else k.binary("add", y, k.reshape(bias, shape))


@row("instance_norm")
def instance_norm(
    k,
    x,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum: Free = 0.1,
    eps=1e-5,
):
    if not use_input_stats:
        return batch_norm(k, x, running_mean, running_var, weight, bias, False, momentum, eps)
    if x.rank == 2:  # One sample of channels and one dimension.
        return k.squeeze(
            instance_norm(k, k.unsqueeze(x, 0), weight=weight, bias=bias, eps=eps), [0]
        )
    return normalised(k, "instance_norm", x, weight, bias, a_channel(x), eps=eps)


@row("group_norm")
def group_norm(k, x, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled: Free = True):
    return normalised(k, "group_norm", x, weight, bias, a_channel(x), groups=num_groups, eps=eps)


@row("layer_norm")
def layer_norm(
    k, x, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable: Free = True
):
    return normalised(k, "layer_norm", x, weight, bias, dims=len(list(normalized_shape)), eps=eps)


@row("rms_norm")
def rms_norm(k, x, normalized_shape, weight=None, eps=None):
    axes = list(range(x.rank - len(list(normalized_shape)), x.rank))
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    root = k.unary(
        "sqrt", k.binary("add", k.reduced("mean", k.unary("square", x), axes, True), eps)
    )
    y = k.binary("div", x, root)
    return y if weight is None else k.binary("mul", y, weight)


# --- losses
# `size_average` and `reduce` are older words for `reduction`: bound() translates them.
def reduced_loss(k, x, reduction):
    if reduction not in ("none", "mean", "sum"):
        raise Unknown(f"a loss with reduction={reduction!r}")
    return x if reduction == "none" else k.reduced(reduction, x)


def only(name, **expected):
    for key, (given, wanted) in expected.items():
        if given not in wanted:
            raise Unknown(f"torch.nn.functional.{name} with {key}={given!r}")


@row("mse_loss")
def mse_loss(
    k,
    x,
    target,
    size_average: Free = None,
    reduce: Free = None,
    reduction="mean",
    weight: Fixed = None,
):
    return reduced_loss(k, k.unary("square", k.binary("sub", x, target)), reduction)


@row("l1_loss")
def l1_loss(
    k,
    x,
    target,
    size_average: Free = None,
    reduce: Free = None,
    reduction="mean",
    weight: Fixed = None,
):
    return reduced_loss(k, k.unary("abs", k.binary("sub", x, target)), reduction)


@row("smooth_l1_loss")
def smooth_l1_loss(
    k, x, target, size_average: Free = None, reduce: Free = None, reduction="mean", beta=1.0
):
    if beta == 0:
        return l1_loss(k, x, target, reduction=reduction)
    if beta == 1 and reduction == "mean" and x.shape == target.shape:
        return k.one("smooth_l1_loss", [k.floats(x), k.floats(target)], [])
    return huber_loss(k, x, target, reduction, beta, scale=1 / beta)


@row("huber_loss")
def huber_loss(k, x, target, reduction="mean", delta=1.0, weight: Fixed = None, scale: Fixed = 1):
    """m * m / 2 + delta * (d - m) of distances d, m being the smaller of d and delta; `scale` is
    smooth_l1_loss's."""
    distance = k.unary("abs", k.binary("sub", x, target))
    near = k.binary("minimum", distance, delta)
    far = k.binary("mul", k.binary("sub", distance, near), delta)
    loss = k.binary("add", k.binary("mul", k.unary("square", near), 0.5), far)
    return reduced_loss(k, loss if scale == 1 else k.binary("mul", loss, scale), reduction)


@row("cross_entropy")
def cross_entropy(
    k,
    x,
    target,
    weight: Fixed = None,
    size_average: Free = None,
    ignore_index: Fixed = -100,  # which no target is
    reduce: Free = None,
    reduction="mean",
    label_smoothing: Fixed = 0.0,
):
    only("cross_entropy", reduction=(reduction, ["mean", "sum"]))
    if x.rank == 1:
        x, target = k.unsqueeze(x, 0), k.unsqueeze(target, 0)
    if target.dtype != "i64":  # of each class a probability
        if target.shape != x.shape:
            raise Unknown("torch.nn.functional.cross_entropy of targets that are no integers")
        classes = k.reduced("sum", k.binary("mul", target, k.along("log_softmax", x, 1)), 1)
        return reduced_loss(k, k.unary("neg", classes), reduction)
    if x.rank > 2:
        x = k.permute(x, [0, *range(2, x.rank), 1])
        x = k.reshape(x, [-1, x.shape[-1]])
    target = k.flatten(target) if target.rank != 1 else target
    mean = k.one("cross_entropy", [k.floats(x), target], [])
    return mean if reduction == "mean" else k.binary("mul", mean, float(target.elements))


@row("nll_loss")
def nll_loss(
    k,
    x,
    target,
    weight: Fixed = None,
    size_average: Free = None,
    ignore_index: Fixed = -100,
    reduce: Free = None,
    reduction="mean",
):
    made = x.step
    if made is None or made.op != "log_softmax" or made.attributes["axis"] != min(1, x.rank - 1):
        raise Unknown("torch.nn.functional.nll_loss but of log_softmax")
    return cross_entropy(k, made.inputs[0], target, reduction=reduction)


@row("kl_div")
def kl_div(
    k, x, target, size_average: Free = None, reduce: Free = None, reduction="mean", log_target=False
):
    only("kl_div", reduction=(reduction, ["mean", "sum", "batchmean"]))
    if log_target:
        target = k.unary("exp", target)
    total = k.one("kl_div_batchmean", [k.floats(x), k.floats(target)], [])
    if reduction == "batchmean":
        return total
    times = x.shape[0] if reduction == "sum" else x.shape[0] / x.elements
    return k.binary("mul", total, float(times))


@row("triplet_margin_loss")
def triplet_margin_loss(
    k,
    anchor,
    positive,
    negative,
    margin=1.0,
    p: Fixed = 2,
    eps: Fixed = 1e-6,
    swap: Fixed = False,
    size_average: Free = None,
    reduce: Free = None,
    reduction: Fixed = "mean",
):
    rows = [
        each if each.rank == 2 else k.reshape(each, [-1, each.shape[-1]])
        for each in (anchor, positive, negative)
    ]
    return k.one("triplet_margin_loss", rows, [], margin=margin)


@row("cosine_similarity")
def cosine_similarity(k, a, b, dim=1, eps=1e-8):
    dot = k.reduced("sum", k.binary("mul", a, b), dim)
    lengths = [k.unary("clamp_min", k.reduced("norm", each, dim), value=eps) for each in (a, b)]
    return k.binary("div", dot, k.binary("mul", *lengths))


# --- recurrent layers
def recurrent(op, gates, states):
    def rows(
        k, x, hx, weights, has_biases, num_layers, dropout_p, training, bidirectional, batch_first
    ):
        if not is_number(num_layers) or isinstance(weights, Value):
            raise Unknown(f"torch.{op} of packed sequences")
        if num_layers > 1:
            dropout(k, x, dropout_p, training)
        hx = list(hx) if isinstance(hx, (list, tuple)) else [hx]
        hidden = hx[0].shape[-1]
        directions = 2 if bidirectional else 1
        if not has_biases:
            none = k.filled([gates * hidden], 0)
            weights = [
                each for pair in zip(weights[::2], weights[1::2]) for each in (*pair, none, none)
            ]
        if len(weights) != 4 * num_layers * directions:
            raise Unknown(f"torch.{op} with projections")
        single = x.rank == 2
        if single:
            x = k.unsqueeze(x, 0 if batch_first else 1)
            hx = [k.unsqueeze(each, 1) for each in hx]
        bound = round(1.5 / math.sqrt(hidden) * 1e6) / 1e6
        for i, each in enumerate(weights):
            each.role = Drawn("uniform", -bound, bound) if i % 4 < 2 else Drawn("uniform", -5, 5)
        state = (num_layers * directions, x.shape[0 if batch_first else 1], hidden)
        shapes = [(*x.shape[:2], hidden * directions)] + [state] * states
        found = k.graph.step(
            op,
            [k.floats(x), *hx, *weights],
            {
                "hidden": hidden,
                "layers": num_layers,
                "bidirectional": int(bidirectional),
                "batch_first": int(batch_first),
            },
            shapes,
        )
        if single:
            found = [k.squeeze(found[0], [0 if batch_first else 1])] + [
                k.squeeze(each, [1]) for each in found[1:]
            ]
        return tuple(found)

    return rows


ROWS["lstm"], ROWS["gru"] = recurrent("lstm", 4, 2), recurrent("gru", 3, 1)


def gate(k, x, h, w_ih, w_hh, b_ih, b_hh):
    return k.linear(x, w_ih, b_ih), k.linear(h, w_hh, b_hh)


@row("rnn_tanh_cell", "rnn_relu_cell")
def rnn_tanh_cell(k, x, h, w_ih, w_hh, b_ih=None, b_hh=None):
    return k.unary("tanh", k.binary("add", *gate(k, x, h, w_ih, w_hh, b_ih, b_hh)))


def rnn_relu_cell(k, x, h, w_ih, w_hh, b_ih=None, b_hh=None):
    return k.unary("relu", k.binary("add", *gate(k, x, h, w_ih, w_hh, b_ih, b_hh)))


ROWS["rnn_relu_cell"] = rnn_relu_cell


@row("lstm_cell")
def lstm_cell(k, x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    h, c = hx
    i, f, g, o = chunk(k, k.binary("add", *gate(k, x, h, w_ih, w_hh, b_ih, b_hh)), 4, 1)
    kept = k.binary("mul", k.unary("sigmoid", f), c)
    c = k.binary("add", kept, k.binary("mul", k.unary("sigmoid", i), k.unary("tanh", g)))
    return k.binary("mul", k.unary("sigmoid", o), k.unary("tanh", c)), c


@row("gru_cell")
def gru_cell(k, x, h, w_ih, w_hh, b_ih=None, b_hh=None):
    of_x, of_h = (chunk(k, each, 3, 1) for each in gate(k, x, h, w_ih, w_hh, b_ih, b_hh))
    r, z = (k.unary("sigmoid", k.binary("add", of_x[i], of_h[i])) for i in (0, 1))
    n = k.unary("tanh", k.binary("add", of_x[2], k.binary("mul", r, of_h[2])))
    return k.binary("add", n, k.binary("mul", z, k.binary("sub", h, n)))


def plain_recurrent(activation):
    """nn.RNN, step by step."""

    def rows(
        k, x, hx, weights, has_biases, num_layers, dropout_p, training, bidirectional, batch_first
    ):
        if not is_number(num_layers) or isinstance(weights, Value) or x.rank != 3:
            raise Unknown("torch.nn.RNN of packed sequences or of one sample")
        if num_layers > 1:
            dropout(k, x, dropout_p, training)
        time, each_has = (1 if batch_first else 0), (4 if has_biases else 2)
        directions, last = (2 if bidirectional else 1), []
        for layer in range(num_layers):
            sides = []
            for side in range(directions):
                cell = layer * directions + side
                own = weights[each_has * cell : each_has * (cell + 1)]
                h, steps = k.select(hx, 0, cell), []
                order = range(x.shape[time])
                for t in reversed(order) if side else order:
                    h = k.unary(
                        activation,
                        k.binary(
                            "add", *gate(k, k.select(x, time, t), h, *own, *[None] * (4 - each_has))
                        ),
                    )
                    steps.append(k.unsqueeze(h, time))
                last.append(k.unsqueeze(h, 0))
                sides.append(k.cat(steps[::-1] if side else steps, time))
            x = k.cat(sides, 2)
        return x, k.cat(last, 0)

    return rows


ROWS["rnn_tanh"], ROWS["rnn_relu"] = plain_recurrent("tanh"), plain_recurrent("relu")
