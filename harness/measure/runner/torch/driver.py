"""Runs a candidate's ModelNew for kbench, in a process that is locked in (docs/measurement.md).

Its process is forked from one that has imported torch (python/prototype.py). Descriptor 3 is a
stream socket to kbench's Python server. One request is answered by one message:

    start    opens the device
    check    makes the module, with zeros for the task's weights, and no more
    attach   on a CPU device imports the shared memory; on a GPU makes memory, and says where
    nothing  what a hand-over takes
    load     makes the module, with the task's weights
    profile  the kernels of one forward() and what they took; on a CPU its operators
    run      forward() on the inputs of the first calls; says where the outputs are, but where it
             replays a graph that it has said this of. With `capture` they are captured in a CUDA
             graph where that works, with `timed` it says what they took

An answer may ask for an extension to be built first; the next message says that it is.

From `load` on the candidate's code has run here, and kbench believes nothing that is answered. Of a
module of kbench's own, PyTorch as an opponent, it believes what runs took.
"""

import bisect
import contextlib
import ctypes
import faulthandler
import gc
import inspect
import json
import mmap
import os
import random
import sys
import time
import traceback
import warnings

MOST_TEXT = 4000
# Of a kernel that CUDA does not launch, as its runtime names it.
LAUNCH_ERRORS = ("invalid configuration argument", "invalid argument", "too many resources")
WHAT_IS_REFUSED = "a kernel with more threads or shared memory than it may have is not launched"


class Refusal(Exception):
    """The candidate's fault; `kind` is one of what TorchLane knows."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def said_by(error, file, when=""):
    """One line: the error, when it came, and the line of the candidate's file that it is from."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = f" (line {frame.lineno})"
    if isinstance(error, SyntaxError) and error.filename == file:
        line = f" (line {error.lineno})"
    text = error.msg if isinstance(error, SyntaxError) else str(error)  # Without the place.
    # What follows in PyTorch's text is advice on debugging.
    said = text.split("CUDA kernel errors might be asynchronously reported")[0].strip()
    if any(f"CUDA error: {each}" in said for each in LAUNCH_ERRORS):
        said += f" (perhaps of a launch before it: {WHAT_IS_REFUSED})"
    text = f"{type(error).__name__}: {said}"
    return " ".join(text[-MOST_TEXT:].split()) + when + line


def refusal(kind, error, file, when=""):
    """For an error of the candidate's code."""
    if isinstance(error, NoCuda):  # noqa: F821  load_module.py's
        return Refusal("unsupported", str(error))
    return Refusal(kind, said_by(error, file, when))


def build_elsewhere(channel):
    """An extension that was not built ahead is built in a sandbox, not on the device's clock: kbench
    is asked for it in place of the answer that it waits for, and this process goes on then."""

    def build(arguments):
        channel.send({"build": arguments, "id": channel.asked})
        request, _ = channel.receive()
        channel.asked = request.get("id")
        if request.get("error"):
            name = arguments.get("name")
            raise RuntimeError(f"Error building extension '{name}': {request['error']}")
        load_bridge()  # noqa: F821  quick_build.py's

    channel.asked = None  # The number of the question to be answered.
    BUILD_ELSEWHERE[0] = build  # noqa: F821  load_module.py's


class HostMemory:
    """On a CPU device the judge's memory is this process's, too: it holds parameters and inputs, and
    the outputs are copied into it. What may only be read is mapped privately: a module that writes
    there changes pages of its own."""

    def __init__(self, job, descriptors):
        slabs, judges = [], []
        for descriptor, slab in zip(descriptors, job["slabs"]):
            kind = mmap.MAP_PRIVATE if slab["read_only"] else mmap.MAP_SHARED
            slabs.append(self.mapped(descriptor, slab, kind, mmap.PROT_READ | mmap.PROT_WRITE))
            judges.append(self.mapped(descriptor, slab, mmap.MAP_SHARED, mmap.PROT_READ))
        view = lambda tensor: self.view(slabs, tensor)
        self.parameters = [view(each) for each in job["parameters"]]
        self.inputs = [[view(each) for each in call["inputs"]] for call in job["calls"]]
        self.outputs = [[view(each) for each in call["outputs"]] for call in job["calls"]]
        given = [("parameter", job["parameters"], self.parameters),
                 ("input", job["calls"][0]["inputs"], self.inputs[0])]  # fmt: skip
        self.given = [(f"{kind} {each['name']}", mine, self.view(judges, each))
                      for kind, tensors, own in given for each, mine in zip(tensors, own)]

    @staticmethod
    def mapped(descriptor, slab, kind, access):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The judge's may only be read, as it says.
            return torch.frombuffer(mmap.mmap(descriptor, slab["bytes"], kind, access),
                                    dtype=torch.uint8)  # fmt: skip

    @staticmethod
    def view(slabs, tensor):
        place = tensor["place"]
        part = slabs[place["slab"]][place["offset"] : place["offset"] + tensor["bytes"]]
        shaped = part.view(DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
        return shaped.data  # It has a version of its own, not all views of the slab's one.

    def where(self):
        return {}

    def plain(self, outputs, call):
        """Copies them at once: the module may write the next ones to the same memory."""
        for output, place in zip(outputs, self.outputs[call]):
            place.copy_(output)
        return []

    def publish(self, results):
        return {}

    def written(self):
        """The name of what a first run has written to. PyTorch counts what it writes itself; for
        kernels of the module's own, values are compared with the judge's."""
        bits = lambda tensor: tensor.reshape(-1).view(torch.uint8)
        for name, mine, judges in self.given:
            if mine._version > 0 or not torch.equal(bits(mine), bits(judges)):
                return name


class DeviceMemory(CudaDriver):  # noqa: F821  kernel_names.py's
    """On a GPU all tensors lie in this process's own memory. The runner, which maps it through CUDA,
    writes the parameters and inputs and reads the outputs while this process stands still."""

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_ubyte * 64)]

    def __init__(self, job, _):
        make = lambda tensor: torch.empty(tensor["shape"], dtype=DTYPES[tensor["dtype"]],
                                          device=DEVICE)  # fmt: skip
        super().__init__()
        self.types = [DTYPES[each["dtype"]] for each in job["calls"][0]["outputs"]]
        self.parameters = [make(each) for each in job["parameters"]]
        first, *more = [call["inputs"] for call in job["calls"]]
        later = [self.rows(tensors) for tensors in zip(*more)]
        # Where a task has no inputs, the later calls' lists are empty already.
        self.inputs = [[make(each) for each in first], *(map(list, zip(*later)) if first else more)]

    @staticmethod
    def rows(tensors):
        """Tensors of one type and shape at equal distances, so that one copy writes all. Each has a
        storage of its own, as if it were made alone."""
        dtype, shape, size = DTYPES[tensors[0]["dtype"]], tensors[0]["shape"], tensors[0]["bytes"]
        pitch = -(-size // 512) * 512
        block = torch.empty(len(tensors) * pitch, dtype=torch.uint8, device=DEVICE)
        parts = [block[i * pitch : i * pitch + size] for i in range(len(tensors))]
        return [torch.from_dlpack(each).view(dtype).reshape(shape).data for each in parts]

    def places(self, tensors):
        """Handles of allocations, and for each tensor the index of its own and the offset there."""
        handles, indices, places = [], {}, []
        start, end, index = 0, 0, 0  # of the last tensor's allocation
        for tensor in tensors:
            address = tensor.data_ptr()
            if address == 0:  # It has no elements.
                places.append([0, 0])
                continue
            if not start <= address < end:
                start, size = self.allocation(address)
                end = start + size
                if start not in indices:
                    indices[start] = len(handles)
                    handles.append(self.handle(start))
                index = indices[start]
            places.append([index, address - start])
        return {"handles": handles, "places": places}

    def allocation(self, address):
        base, size = ctypes.c_ulonglong(), ctypes.c_size_t()
        self.call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size),
                  ctypes.c_ulonglong(address))  # fmt: skip
        return base.value, size.value

    def handle(self, base):
        handle = self.Handle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_ulonglong(base))
        return bytes(handle.bytes).hex()

    def where(self):
        """Of the parameters, then of the inputs, call by call."""
        return self.places(self.parameters + [each for call in self.inputs for each in call])

    def plain(self, outputs, _):
        """Of the task's types, contiguous: as the judge reads them."""
        return [output.to(device=DEVICE, dtype=dtype).contiguous()
                for output, dtype in zip(outputs, self.types)]  # fmt: skip

    def publish(self, results):
        tensors = [output for result in results for output in result]
        synchronise()
        try:
            return dict(self.places(tensors), kept=tensors)
        except RuntimeError:  # Memory that cannot be shared, such as cudaMallocAsync's.
            tensors = [torch.empty_like(each).copy_(each) for each in tensors]
            return dict(self.places(tensors), kept=tensors)

    def written(self):
        return None  # The judge's runner looks at the inputs here.


class Absent:
    """For a module that is made and not called: zeros stand for weights, and inputs have a shape and
    no memory."""

    def __init__(self, job):
        make = lambda tensor, device: torch.zeros(tensor["shape"], dtype=DTYPES[tensor["dtype"]],
                                                  device=device)  # fmt: skip
        self.parameters = [make(each, DEVICE) for each in job["parameters"]]
        self.inputs = [[make(each, "meta") for each in job["calls"][0]["inputs"]]]


def alike(mine, other):
    """Within a thousandth; piece by piece, as outputs of gigabytes have no room for copies."""
    pieces = [each.reshape(-1).split(1 << 24) for each in (mine, other)]
    return all(torch.allclose(a.double(), b.double(), 1e-3, 1e-3, equal_nan=True)
               for a, b in zip(*pieces))  # fmt: skip


class Spans:
    """Parts of memory. Tensors are contiguous."""

    def __init__(self):
        self.starts, self.ends = [], []  # of separate parts, in order

    def near(self, tensor):
        """Its start and end, and the range of the parts that it overlaps."""
        start = tensor.data_ptr()
        end = start + tensor.numel() * tensor.element_size()
        return (start, end, bisect.bisect_right(self.ends, start),
                bisect.bisect_left(self.starts, end))  # fmt: skip

    def meet(self, tensor):
        start, end, first, last = self.near(tensor)
        return start < end and first < last

    def add(self, tensor):
        start, end, first, last = self.near(tensor)
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        if start < end:
            self.starts[first:last], self.ends[first:last] = [start], [end]


class Captured:
    """Calls in a CUDA graph, and where it leaves their outputs."""

    def __init__(self, graph, answer):
        self.graph, self.answer, self.told = graph, answer, False


class Model:
    """ModelNew with the task's weights, and the inputs of each call."""

    def __init__(self, job, memory):
        self.job, self.memory = job, memory
        self.file = os.path.abspath("model_new.py")  # in its scratch folder
        self.variables = {name: tuple(value) if isinstance(value, list) else value
                          for name, value in job["variables"].items()}  # fmt: skip
        self.shapes = [each["shape"] for each in job["calls"][0]["outputs"]]
        self.graphs, self.tried = {}, set()  # by the number of calls
        self.answer, self.has_run, self.at_call = None, False, 0
        self.module = self.make()
        # Said of PyTorch as the opponent, and believed of it alone: others are found out.
        self.writes_over = getattr(self.module, "writes_over_outputs", False) is True
        self.reuses_outputs = self.writes_over
        self.calls = [self.arguments(self.module, inputs) for inputs in memory.inputs]

    def make(self):
        """With the task's weights: where that can be, they are there when __init__ reads them, else
        they are written over its own."""
        try:
            names = load_module(self.job["source"], self.file)
        except BaseException as error:
            raise refusal("module", error, self.file)
        if not inspect.isclass(names.get("ModelNew")):
            raise Refusal("module", "its ModelNew is no class" if "ModelNew" in names
                          else "it defines no ModelNew")  # fmt: skip
        wanted = list(zip([each["name"] for each in self.job["parameters"]],
                          self.memory.parameters))  # fmt: skip
        first = Construction()  # noqa: F821  weights.py's, as is all that follows from it
        try:
            module = self.construct(names, first)
        except Refusal:  # Perhaps as it was watched.
            first = None
            module = self.construct(names)
        again = self.made_again(names, first, module, wanted) if first else None
        if again is not None:
            del first, module
            if DEVICE == "cuda":  # Others need what those held.
                torch.cuda.empty_cache()
            return again
        module = self.placed(module)
        self.make_lazy_parameters(module)
        self.write_weights(module, wanted, first.by_identity if first else {})
        return module

    def made_again(self, names, first, module, wanted):
        """With the task's weights from the start; None where that cannot be."""
        try:
            for attempt in range(2):
                if attempt == 1:  # What it has kept since the first time makes a difference once.
                    first = Construction()  # noqa: F821
                    module = self.construct(names, first)
                for second in first.plans(module, wanted):
                    again = self.construct(names, second)
                    if second.order != first.order:
                        break
                    if not second.keeps(again):
                        continue
                    if second.has_changes(again):
                        third = Construction()  # noqa: F821
                        if not third.repeats(first, self.construct(names, third)):
                            return None
                    again = self.placed(again)
                    second.write_again(again)
                    return again
                else:
                    return None
        except BaseException:  # The one that was made first stays.
            pass
        return None

    def construct(self, names, watched=contextlib.nullcontext()):
        try:
            arguments = eval(self.job["init_inputs"], dict(self.variables))
            torch.manual_seed(42)
            random.seed(42)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(42)
            with watched:
                return names["ModelNew"](*arguments)
        except BaseException as error:
            raise refusal("init", error, self.file)

    def placed(self, module):
        try:
            module = module.to(DEVICE)
            half = self.job["dtype"] != "f32"
            return module.to(DTYPES[self.job["dtype"]]) if half else module
        except BaseException as error:
            raise refusal("init", error, self.file)

    def make_lazy_parameters(self, module):
        """Those of LazyLinear and the like have a shape once forward() has had an input."""
        if not any(map(is_lazy, module.parameters())):  # noqa: F821
            return
        zeros = [torch.zeros(each.shape, dtype=each.dtype, device=DEVICE)
                 for each in self.memory.inputs[0]]  # fmt: skip
        try:
            with torch.inference_mode():  # In which __init__ may have made them.
                module(*self.arguments(module, zeros))
        except BaseException as error:
            raise refusal("init", error, self.file)
        left = [name for name, each in module.named_parameters() if is_lazy(each)]  # noqa: F821
        if left:
            raise Refusal("init", f"{left[0]} has no shape after a forward on zeros")

    @staticmethod
    def write_weights(module, wanted, numbers):
        own = sorted(module.named_parameters(), key=lambda each: numbers.get(id(each[1]), 0))
        indices = [(i, name, each.shape) for i, (name, each) in enumerate(own)]
        found, extra, lacking = matched(indices, wanted)  # noqa: F821
        if extra or lacking:
            raise Refusal("parameters", unmatched([each[1:] for each in extra],  # noqa: F821
                                                  [(name, each.shape) for name, each in lacking]))
        for index, value in found.items():
            write_over(own[index][1], value)  # noqa: F821

    def arguments(self, module, tensors):
        """What forward() takes: inputs in order, the task's variables by the names of its other
        parameters, then the scalars that KernelBench's forward() takes. One that has a default keeps
        it."""
        parameters = list(inspect.signature(module.forward).parameters.values())
        taken = [each for each in parameters
                 if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]  # fmt: skip
        if len(taken) <= len(tensors):
            return tensors
        left, scalars, result = list(tensors), list(self.job["scalars"]), []
        for each in taken:
            of_task = each.name in self.variables
            if left and not of_task:
                result.append(left.pop(0))
            elif each.default is not each.empty:
                result.append(each.default)
            elif of_task:
                result.append(self.variables[each.name])
            elif scalars:
                result.append(scalars.pop(0))
        return result

    def try_to_capture(self, count):
        self.tried.add(count)
        # Runs of one call are taken beside those of several: their graphs stay beside each other.
        self.graphs = {calls: graph for calls, graph in self.graphs.items() if 1 in (calls, count)}
        try:
            self.capture(count)
        except Exception:
            synchronise()
            runtime_error()  # So that its code does not find what was wrong with the capture.

    def capture(self, count):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.call(range(min(count, 3)))  # What only a first call does.
        torch.cuda.current_stream().wait_stream(stream)
        got = None
        while got is None:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                got = self.call_once(range(count))
            synchronise()
        inputs = [each for call in self.memory.inputs[:count] for each in call]
        held = inputs + list(self.module.parameters()) + list(self.module.buffers())
        held = {storage_of(each) for each in held}
        outputs = [output for result in got for output in result]
        if any(storage_of(each) in held for each in outputs):
            return  # It returns what it was given, which replays_calls() would write over.
        if self.replays_calls(graph, got):
            self.graphs[count] = Captured(graph, self.memory.publish(got))

    def replays_calls(self, graph, got):
        """Whether replaying it gives what calling gives: on other inputs than those of the capture,
        over other outputs, in 16 of its calls at least. (A kernel that is launched on CUDA's default
        stream runs when the graph is captured, and is not in it: many modules launch theirs so.)"""
        some = range(0, len(got), max(len(got) // 16, 1))
        inputs = [each for call in some for each in self.memory.inputs[call]]
        outputs = [output for call in some for output in got[call]]
        flip = lambda each: each.copy_(each.flip(tuple(range(each.dim()))))
        flipped = []
        try:
            for each in inputs:
                flip(each)
                flipped.append(each)
            right = [each for result in self.call(some) for each in result]
            for each in outputs:
                each.fill_(float("nan")) if each.is_floating_point() else each.bitwise_not_()
            synchronise()
            graph.replay()
            synchronise()
        finally:  # The inputs are as given again, even where memory does not suffice for this.
            torch.cuda.empty_cache()
            for each in flipped:
                flip(each)
        return all(alike(a, b) for a, b in zip(outputs, right))

    def run(self, count, capture, timed):
        """Where the outputs are; whether a graph was replayed; if `timed`, what it took on the
        device, nanoseconds."""
        if capture and count not in self.tried:
            self.try_to_capture(count)
        captured = self.graphs.get(count) if capture else None
        clock = start_clock() if timed else None
        if captured:
            captured.graph.replay()
        else:
            self.answer = None  # Its memory can be used again.
            if not self.has_run:
                runtime_error()  # Of its __init__.
            results = self.call_over(count) if self.writes_over else self.call(range(count))
        if timed:
            clock.stop()
        error = "" if self.has_run else runtime_error()
        if error:
            raise Refusal("launch", f"CUDA says {error}, which its code does not look at: "
                                    f"{WHAT_IS_REFUSED}")  # fmt: skip
        if not captured:
            self.answer = self.memory.publish(results)
            if count in self.graphs:
                self.graphs[count].told = False
        synchronise()
        if not self.has_run:
            self.has_run = True
            name = self.memory.written()
            if name:
                raise Refusal("given", name)
        said = dict(captured=bool(captured), ns=clock.ns() if timed else 0)
        if captured and captured.told:
            return said
        if captured:
            captured.told = True
        places = captured.answer if captured else self.answer
        return dict({key: value for key, value in places.items() if key != "kept"}, **said)

    def profile(self, profiler):
        """The names of kernels with nanoseconds, the slowest first; on a CPU of the operators that
        forward() calls, without those that they call. None where only PyTorch's profiler would tell
        on a GPU, and it is not asked for. `by`: of what, `seconds`: in which time."""
        start = time.perf_counter()
        taken = self.taken_in_graph() if DEVICE == "cuda" else None
        by = "profiler" if taken is None else "graph"
        if taken is None and (profiler or DEVICE == "cpu"):
            taken = self.profiled()
        taken = taken or {}
        names = sorted((name for name in taken if taken[name] > 0), key=lambda name: -taken[name])
        return {"names": names, "ns": [taken[name] for name in names], "by": by,
                "seconds": time.perf_counter() - start}  # fmt: skip

    def taken_in_graph(self):
        """By the nodes of a CUDA graph of one call; the profiler takes seconds to start. None where
        there is no graph that holds all that the call does."""
        timed = self.graphs
        with launches_on_current_stream():  # noqa: F821  quick_build.py's
            if 1 not in timed:
                self.try_to_capture(1)
            # What is launched on the default stream is in a graph here, and is not timed in one.
            replays, self.graphs = 1 in self.graphs, timed
            return self.taken_in_new_graph() if replays else None

    def taken_in_new_graph(self):
        try:
            graph = torch.cuda.CUDAGraph(keep_graph=True)  # from PyTorch 2.8 on
            with torch.cuda.graph(graph):
                outputs = self.memory.plain(self.checked(self.module(*self.calls[0])), 0)
            stream = torch.cuda.current_stream().cuda_stream
            taken = GraphKernels().taken(graph.raw_cuda_graph(), stream)  # noqa: F821
            del outputs  # The graph's kernels have written them.
            return taken
        except Exception:
            synchronise()
            return None

    def profiled(self):
        """By PyTorch's profiler."""
        from torch.profiler import ProfilerActivity, profile

        gpu = DEVICE == "cuda"
        activity = ProfilerActivity.CUDA if gpu else ProfilerActivity.CPU
        with profile(activities=[activity]) as seen:
            outputs = self.checked(self.module(*self.calls[0]))
            if gpu:
                self.memory.plain(outputs, 0)
            synchronise()
        taken = {}
        if gpu:
            for each in seen.key_averages():
                before_2_4 = getattr(each, "self_cuda_time_total", 0)
                taken[each.key] = 1000 * getattr(each, "self_device_time_total", before_2_4)
        else:
            for each in seen.events():
                if each.cpu_parent is None:
                    taken[each.name] = taken.get(each.name, 0) + 1000 * each.cpu_time_total
        return taken

    def call(self, calls):
        """The outputs of these calls, by their numbers; on a CPU device none."""
        results = self.call_once(calls)
        return self.call_once(calls) if results is None else results

    def call_over(self, count):
        """Of a module that writes over its outputs the last one's stand for all: copies would be
        timed with it."""
        for call in range(count):
            self.at_call = call
            result = self.memory.plain(self.checked(self.module(*self.calls[call])), call)
        return [result] * count

    def call_once(self, calls):
        """None where the module is found to return memory again that it has returned before, over
        the outputs of another call: from then on outputs are copied."""
        results, spans = [], Spans()
        copies = self.reuses_outputs and not (self.writes_over and is_capturing())
        for call in calls:
            self.at_call = call
            result = self.memory.plain(self.checked(self.module(*self.calls[call])), call)
            if copies:
                result = [output.clone() for output in result]
            elif any(spans.meet(output) for output in result):
                self.reuses_outputs, self.writes_over = True, False
                return None
            else:
                for output in result:
                    spans.add(output)
            results.append(result)
        return results

    def which_call(self, count):
        """Says which call has failed: ", in its first call"."""
        if not self.has_run and self.at_call == 0:
            return ", in its first call"
        return f", in call {self.at_call + 1} of {count}" if count > 1 else ", in a later call"

    def checked(self, result):
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(outputs) != len(self.shapes):
            raise Refusal("outputs", f"forward() returns {len(outputs)} tensors; the task has "
                                     f"{len(self.shapes)}")  # fmt: skip
        for output, shape in zip(outputs, self.shapes):
            if not isinstance(output, torch.Tensor):
                raise Refusal("outputs", f"forward() returns a {type(output).__name__} where the "
                                         "task has a tensor")  # fmt: skip
            if list(output.shape) != shape:
                raise Refusal("outputs", f"forward() returns a tensor of {list(output.shape)}; the "
                                         f"task's output has {shape}")  # fmt: skip
        return outputs


class HostClock:
    def __init__(self):
        self.start = time.perf_counter_ns()

    def stop(self):
        self.taken = time.perf_counter_ns() - self.start

    def ns(self):
        return self.taken


class DeviceClock:
    """The device's own time. It is kept busy first, so that what the host takes to launch does not
    count where it launches faster than the device works."""

    busy = None

    def __init__(self):
        if DeviceClock.busy is None:
            DeviceClock.busy = torch.empty(64 << 20, dtype=torch.uint8, device=DEVICE)
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        for i in range(20):
            DeviceClock.busy.fill_(i)
        self.events[0].record()

    def stop(self):
        self.events[1].record()

    def ns(self):
        return self.events[0].elapsed_time(self.events[1]) * 1e6


def start_clock():
    return DeviceClock() if DEVICE == "cuda" else HostClock()


def is_capturing():
    return DEVICE == "cuda" and torch.cuda.is_current_stream_capturing()


def synchronise():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


# Invalid value, configuration, function; no image for the device; too many resources.
CODES_OF_LAUNCHES = (1, 9, 98, 209, 701)


def runtime_error():
    """The last error of CUDA's runtime that nobody has asked for since, where a launch may have had
    it; empty if there is none."""
    if DEVICE != "cuda":
        return ""
    for name in (None, "libcudart.so." + (torch.version.cuda or "").split(".")[0]):
        try:  # PyTorch has loaded it.
            runtime = ctypes.CDLL(name)
            code = runtime.cudaGetLastError()
            text = runtime.cudaGetErrorString
        except (OSError, AttributeError):
            continue
        text.restype = ctypes.c_char_p
        return text(code).decode(errors="replace") if code in CODES_OF_LAUNCHES else ""
    return ""


def forget_compiled():
    """What torch.compile made of the module before holds memory of its CUDA graphs."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    sys.modules.pop("model_new", None)


def load_kernels():
    """Runs what kbench itself runs in the process of every module. CUDA and cuBLAS load each kernel
    when it is first used, which takes a fifth of a second in all, and no candidate waits for yet."""
    numbers = torch.zeros(2, 2, device=DEVICE)
    with contextlib.suppress(RuntimeError):  # What fails here fails where it is needed.
        alike(numbers @ numbers, numbers.clone())
        numbers.copy_(numbers.flip((0, 1))).fill_(float("nan"))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            numbers += 1
        graph.replay()
    synchronise()


def start(job):
    global torch, DEVICE, DTYPES
    faulthandler.enable(2, all_threads=False)  # If it dies, its last words have the line.
    import torch

    DEVICE = "cuda" if job["cuda"] else "cpu"
    DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "bool": torch.bool,
              "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "u32": torch.int32,
              "u8": torch.uint8}  # fmt: skip
    torch.set_grad_enabled(False)
    if DEVICE == "cuda":
        matmul = torch.backends.cuda.matmul
        matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        matmul.allow_fp16_reduced_precision_reduction = False
        matmul.allow_bf16_reduced_precision_reduction = False
        load_kernels()
        # Not earlier: cuInit() takes a socket.
        filter_system_calls(job["seccomp"], job["filter"])  # noqa: F821  prototype.py's
    return {"version": torch.__version__}


class Driver:
    def __init__(self):
        self.job = self.memory = self.model = None

    def answer(self, request, descriptors):
        kind = request["do"]
        if kind == "start":
            return start(request)
        if kind == "attach":
            self.model = self.memory = None
            forget_compiled()
            if DEVICE == "cuda":  # Of another task: others need its memory.
                gc.collect()
                torch.cuda.empty_cache()
            self.job = request
            self.memory = (DeviceMemory if DEVICE == "cuda" else HostMemory)(request, descriptors)
            return self.memory.where()
        if kind == "load":
            self.model = None
            self.model = Model(self.job, self.memory)
        elif kind == "check":
            Model(request, Absent(request))
        elif kind == "profile":
            return self.model.profile(request["profiler"])
        elif kind == "run":
            try:
                return self.model.run(request["calls"], request["capture"], request["timed"])
            except Refusal:
                raise
            except BaseException as error:
                when = self.model.which_call(request["calls"])
                raise refusal("forward", error, self.model.file, when)
        if kind == "nothing" and DEVICE == "cuda":
            torch.zeros(1, device=DEVICE)  # Launching after others have used the device takes longer.
        synchronise()
        return {}


def main():
    channel, driver = Channel(3), Driver()  # noqa: F821  prototype.py's
    build_elsewhere(channel)
    while True:
        request, descriptors = channel.receive()
        channel.asked = request.get("id")
        try:
            answer = driver.answer(request, descriptors)
        except Refusal as refusal:
            answer = {"refused": refusal.kind, "message": str(refusal)}
        except BaseException as error:
            answer = {"failed": said_by(error, "")}
        channel.send(dict(answer, id=channel.asked))


if __name__ == "__main__":
    main()
