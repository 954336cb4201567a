# Put in front of driver.py.
#
# KernelBench's files take the weights from __init__, by its seed: some transpose, pack or fold them
# there. Here the task's values are others. So a module is made twice under one seed. The first time
# shows which parameters there are. The second time each of the task's weights is put into its
# parameter from the moment that its memory is made, and what initialises it is left out: draws and
# values that are the same both times. What is written with other arguments than the first time
# comes from the task's weights, and stays; so does arithmetic with constants, such as div_(2), on a
# parameter that is made and initialised.
import collections
import re
import sys

# Functions that write to their first argument.
WRITES = re.compile(r"[a-z]\w*[a-z0-9]_|__i\w+__|__setitem__|data.__set__")
RANDOM = {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_",
          "random_", "uniform_"}  # fmt: skip
# Of what these write nothing stays of the values before.
WHOLE = RANDOM | {"copy_", "fill_", "out=", "zero_", "data.__set__"}
# These change values only, so that they can be left out.
OF_VALUES = RANDOM | {"add_", "clamp_", "copy_", "div_", "erfinv_", "fill_", "mul_", "out=", "sub_",
                      "zero_"}  # fmt: skip


def storage_of(tensor):
    """Its address."""
    has_untyped = hasattr(tensor, "untyped_storage")  # PyTorch 2
    return (tensor.untyped_storage() if has_untyped else tensor.storage()).data_ptr()


def place_of(tensor):
    """Its storage's address; 0 if it has none."""
    try:
        return storage_of(tensor)
    except Exception:  # Sparse, of no device, without a shape yet.
        return 0


def sample(tensor):
    """The bits of some elements, at equal distances; None if it has none to be read."""
    import torch

    most = 256
    try:
        flat = tensor.detach().reshape(-1)
        some = flat[:: max(flat.numel() // most, 1)].cpu().contiguous()
        return bytes(some.view(torch.uint8).tolist())
    except Exception:
        return None


def said(argument):
    """What can be compared of an argument."""
    import torch

    if isinstance(argument, torch.Tensor):
        return tuple(argument.shape), sample(argument)
    if isinstance(argument, (list, tuple)):
        return tuple(map(said, argument))
    if argument is None or isinstance(argument, (bool, int, float, str, slice, type(...))):
        return repr(argument)
    return type(argument).__name__


def write_over(parameter, value):
    import torch

    in_inference = parameter.is_inference()  # __init__ has made it in that mode.
    with torch.inference_mode() if in_inference else torch.no_grad():
        parameter.copy_(value.reshape(parameter.shape))


def matched(own, wanted):
    """Which of the task's weights each parameter is: by name and shape; else in order of creation,
    by shape, then by the number of elements. `own` are indices, names and shapes, `wanted` names
    and tensors. Returns tensors by index, and what is left of both."""
    own, wanted, found = list(own), list(wanted), {}
    fits = (lambda a, b: a[1] == b[0] and a[2] == b[1].shape,
            lambda a, b: a[2] == b[1].shape,
            lambda a, b: a[2].numel() == b[1].numel())  # fmt: skip
    for fit in fits:
        for mine in list(own):
            index = next((i for i, each in enumerate(wanted) if fit(mine, each)), None)
            if index is not None:
                own.remove(mine)
                found[mine[0]] = wanted.pop(index)[1]
    return found, own, wanted


def listed(tensors):
    """A few of their names and shapes."""
    most = 5
    texts = [f"{name} {list(shape)}" for name, shape in tensors[:most]]
    if len(tensors) > most:
        texts.append(f"{len(tensors) - most} more")
    return " and ".join([", ".join(texts[:-1])] * (len(texts) > 1) + texts[-1:])


def unmatched(extra, lacking):
    """What is said of parameters that one side has alone: names and shapes."""
    if extra and lacking:
        return (f"unmatched parameters: the task's {listed(lacking)} has no partner of its shape "
                f"in ModelNew, nor ModelNew's {listed(extra)} in the task")  # fmt: skip
    if extra:
        return (f"unmatched parameters: ModelNew has {listed(extra)}, which the task does not "
                "have; all its parameters are to be the task's, and constants buffers or "
                "attributes")  # fmt: skip
    shapes = dict(lacking)
    stems = [name[: -len("weight")] for name, _ in lacking[:5] if name.endswith("weight")]
    of_norms = [stem + end for stem in stems for end in ("weight", "bias")
                if shapes.get(stem + "bias") == shapes[stem + "weight"]]  # fmt: skip
    text = f"unmatched parameters: ModelNew leaves out the task's {listed(lacking)}"
    if of_norms:
        text += (f"; {' and '.join(of_norms)} of a normalization are ones and zeros in "
                 "KernelBench, and are not here")  # fmt: skip
    return text + ": all weights have values drawn by kbench"


def is_lazy(parameter):
    """Whether it has no shape yet."""
    from torch.nn.parameter import UninitializedTensorMixin

    return isinstance(parameter, UninitializedTensorMixin)


# Which call of which function has made a tensor, whether it was given none, and what it has made.
Made = collections.namedtuple("Made", "call function alone shape strides")


def callers():
    """The modules of the functions by which PyTorch's function is called, the nearest first."""
    frame, found = sys._getframe(1), []
    passed = ("torch.overrides", "torch._tensor", "torch.utils._contextlib",
              "torch.autograd.grad_mode")  # fmt: skip
    while frame is not None and len(found) < 4:
        name = frame.f_globals.get("__name__", "")
        if frame.f_globals is not globals() and name not in passed:
            found.append(name)
        frame = frame.f_back
    return found


class Registered:
    """A parameter as it was registered. It is kept, so that no other has its place or identity."""

    def __init__(self, module, name, parameter):
        self.module, self.name, self.parameter = module, name, parameter
        self.shape = parameter.shape
        self.sample = sample(parameter)
        self.made = None  # by which call of a function, if it is all of what that made


class Held:
    """A parameter, or what will become one, that a weight of the task is put into."""

    def __init__(self, tensor, value):
        self.tensor, self.value, self.folded = tensor, value, False
        # Whether what is written to it in part, or on top of what is there, initialises it.
        self.in_making = True
        write_over(tensor, value)

    def holds_value(self):
        import torch

        value = self.value.reshape(self.tensor.shape).to(self.tensor)
        return torch.equal(self.tensor, value)


class Construction:
    """What a module's __init__ does, while this is entered: the parameters that it registers, and
    what it writes to tensors. `weights`, by the numbers of the parameters that `first` has
    registered, are put into them; `careful`, where some may be made of others."""

    def __init__(self, first=None, weights={}, careful=False):
        self.first, self.weights, self.careful = first, weights, careful
        self.entries, self.by_identity, self.by_place = [], {}, {}
        self.calls, self.order = 0, 0  # how many, and a hash of their names
        self.made = {}  # by place, the call that has made a tensor there
        self.written, self.states = {}, {}  # by calls: their arguments, random numbers' state after
        self.held = {}  # by the number of the parameter
        self.derived = set()  # places that were written to with other arguments than the first time
        self.at_call = {}
        if first and not careful:
            self.at_call = {first.entries[number].made: number for number in weights
                            if first.entries[number].made}  # fmt: skip
        self.idle = True  # Functions of PyTorch are called by this itself, or after all.

    def __enter__(self):
        import torch
        from torch.overrides import TorchFunctionMode

        seen = self

        class Mode(TorchFunctionMode):
            def __torch_function__(self, function, types, arguments=(), named=None):
                return seen.call(function, arguments, named or {})

        def register_parameter(module, name, parameter):
            self.plain_register(module, name, parameter)
            self.register(name, module, parameter)

        self.plain_register = torch.nn.Module.register_parameter
        self.mode = Mode()
        self.mode.__enter__()
        torch.nn.Module.register_parameter = self.own_register = register_parameter
        self.idle = False
        return self

    def __exit__(self, *error):
        import torch

        self.idle = True
        if torch.nn.Module.register_parameter is self.own_register:
            torch.nn.Module.register_parameter = self.plain_register
        # __init__ may have left another one, as of torch.set_default_device().
        if torch.overrides._get_current_function_mode() is self.mode:
            self.mode.__exit__(*error)

    # Calls of PyTorch's functions

    def call(self, function, arguments, named):
        import torch

        if self.idle:
            return function(*arguments, **named)
        self.calls += 1
        name = getattr(function, "__name__", "")
        if name == "__set__":  # Of a property, such as data.
            name = getattr(getattr(function, "__self__", None), "__name__", "") + ".__set__"
        self.order = hash((self.order, name))
        target = arguments[0] if arguments else named.get("tensor")  # that of torch.nn.init
        if isinstance(named.get("out"), torch.Tensor):
            return self.write(named["out"], function, "out=", arguments, named)
        if isinstance(target, torch.Tensor) and WRITES.fullmatch(name):
            return self.write(target, function, name, arguments, named)
        number = self.calls
        result = function(*arguments, **named)
        if isinstance(result, torch.Tensor):
            self.note_made(number, name, [*arguments, *named.values()], result)
        return result

    def note_made(self, number, name, arguments, result):
        import torch

        place = place_of(result)
        given = [each for each in arguments if isinstance(each, torch.Tensor)]
        if place == 0 or any(place_of(each) == place for each in given):
            return
        made = Made(number, name, not given, tuple(result.shape), result.stride())
        self.made[place] = made
        self.derived.discard(place)
        self.by_place.pop(place, None)
        index = self.at_call.get(made)
        if index is not None:
            self.held[index] = Held(result, self.weights[index])
            self.by_place[place] = index

    def write(self, target, function, name, arguments, named):
        of_init = getattr(function, "__module__", "") == "torch.nn.init"
        random = (of_init or name in RANDOM) and named.get("generator") is None
        rest = [each for each in named.items() if each[1] is not target]
        call = self.calls
        before = [each for each in arguments if each is not target]
        self.written[call] = (name, said(before), said(rest))
        same = self.first and self.first.written.get(call) == self.written[call]
        place = place_of(target)
        key = self.by_identity.get(id(target), self.by_place.get(place))
        held = self.held.get(key)
        if held is None:
            result = function(*arguments, **named)
            if random and not self.first:
                self.states[call] = random_state(target)
            if self.first and not same:
                self.derived.add(place)
            self.note_place(key)
            return result
        whole = (of_init or name in WHOLE) and target.numel() == held.tensor.numel()
        by = callers()
        if whole:  # By the file itself, which may go on with it, as in w.normal_().mul_(0.1).
            held.in_making = not any(each.startswith("torch.nn.") for each in by)
        of_making = held.in_making or by[0].startswith("torch.nn.")
        stays = same and (whole or (of_making and not held.folded))  # the task's weight
        if stays and (of_init or name in OF_VALUES) and (not random or call in self.first.states):
            result, write_again = target, held.folded
            if random:
                set_random_state(self.first.states[call])
        else:
            result, write_again = function(*arguments, **named), stays
            held.folded = not stays and not held.holds_value()
        if write_again:
            held.folded = False
            write_over(held.tensor, held.value)
        self.note_place(key)
        return result

    def note_place(self, key):
        """It may lie elsewhere now."""
        if key is not None and key < len(self.entries):
            self.by_place[place_of(self.entries[key].parameter)] = key

    # Parameters

    def register(self, name, module, parameter):
        import torch

        if is_lazy(parameter) or id(parameter) in self.by_identity:
            return
        if isinstance(parameter, torch.Tensor):
            self.idle, before = True, self.idle
            try:
                self.note_registered(module, name, parameter)
            finally:
                self.idle = before

    def note_registered(self, module, name, parameter):
        number, place = len(self.entries), place_of(parameter)
        entry = Registered(module, name, parameter)
        self.entries.append(entry)
        made = self.made.get(place)
        if made and (made.shape, made.strides) == (tuple(parameter.shape), parameter.stride()):
            entry.made = made
        self.by_identity[id(parameter)] = number
        if place:
            self.by_place[place] = number
        if number not in self.weights:
            return
        held = self.held.get(number)
        if held and place_of(held.tensor) == place:
            held.tensor, held.in_making = parameter, False
        elif not self.careful or not self.is_derived(entry, place, self.first.entries[number]):
            self.held[number] = Held(parameter, self.weights[number])
            self.held[number].in_making = False

    def is_derived(self, entry, place, before):
        """Whether it comes from the task's weights already: it is another value than the first
        time, and not memory that nothing was written to."""
        alone = entry.made and entry.made.alone
        return place in self.derived or (not alone and entry.sample != before.sample)

    # What comes of it

    def named(self, module):
        """The numbers, names and shapes of all parameters, and the numbers of those that it has."""
        paths = {id(each): path + "." if path else "" for path, each in module.named_modules()}
        names = {}
        for name, each in module.named_parameters():
            names[id(each)] = name
            self.register(name, None, each)  # Where it was not, as in a copy of a module.
        every, has = [], []
        for number, each in enumerate(self.entries):
            name = names.get(id(each.parameter), paths.get(id(each.module), "") + each.name)
            every.append((number, name, each.shape))
            if id(each.parameter) in names:
                has.append(number)
        return every, has

    def plans(self, module, wanted):
        """Of a first construction: what to put into which parameters when it is made again. First
        of all parameters, those of modules that it has thrown away and those that it has replaced
        among them; then of those that it has."""
        if not wanted or any(map(is_lazy, module.parameters())):
            return
        every, has = self.named(module)
        found, _, lacking = matched(every, wanted)
        if not lacking:
            yield Construction(self, found, careful=len(has) < len(every))
        if len(has) < len(every):
            found, _, lacking = matched([every[number] for number in has], wanted)
            if not lacking:
                yield Construction(self, found)

    def keeps(self, module):
        """Of a second construction: whether the module has what the first one has, and all of it
        comes from the task's weights: it has got one, or another value than the first time."""
        _, has = self.named(module)
        shapes = lambda construction: [(each.name, each.shape) for each in construction.entries]
        if shapes(self) != shapes(self.first):
            return False
        finals = [(self.entries[number], self.first.entries[number], number) for number in has]
        return len(self.held) == len(self.weights) and all(
            number in self.held or sample(mine.parameter) != sample(before.parameter)
            for mine, before, number in finals)  # fmt: skip

    def has_changes(self, module):
        """Whether it relies on what has other values than the first time."""
        return any(each.folded for each in self.held.values()) or any(
            number not in self.held for number in self.named(module)[1])  # fmt: skip

    def repeats(self, first, module):
        """Whether it is as `first`, so that changes are no accident: both without weights."""
        _, has = self.named(module)
        return self.written == first.written and all(
            sample(self.entries[number].parameter) == sample(first.entries[number].parameter)
            for number in has)  # fmt: skip

    def write_again(self, module):
        """What is not changed since, where a write has gone unseen."""
        names = {number: name for number, name, _ in self.named(module)[0]}
        has = dict(module.named_parameters())
        for number, held in self.held.items():
            parameter = has.get(names[number])
            if parameter is self.entries[number].parameter and not held.folded:
                if not held.holds_value():
                    write_over(parameter, held.value)


def random_state(target):
    """What comes after it, of the device that draws for the tensor."""
    import torch

    on_gpu = target.is_cuda
    return target.device if on_gpu else None, (
        torch.cuda.get_rng_state(target.device) if on_gpu else torch.get_rng_state())


def set_random_state(state):
    import torch

    device, numbers = state
    torch.set_rng_state(numbers) if device is None else torch.cuda.set_rng_state(numbers, device)
