"""Runs a candidate's ModelNew for kbench, in a process that is locked in (docs/trust.md).

Descriptor 3 is a stream socket to kbench's runner. A message is three 32-bit words (a kind, the
bytes and the descriptors that follow), then JSON; the kinds do not matter here. One request is
answered by one message:

    start    imports torch, opens the device
    attach   imports the shared memory; says what lies where
    nothing  what a hand-over takes
    load     makes the module, with the task's weights
    run      forward() on the inputs of the first calls, their outputs copied to their places; the
             first time that there are several, they are captured in a CUDA graph where that works

From `load` on the candidate's code has run here, and kbench believes nothing that is answered.
"""

import array
import ctypes
import inspect
import json
import mmap
import os
import socket
import struct
import sys
import traceback
import warnings

HEADER = struct.Struct("=III")
MOST_TEXT = 4000


class Channel:
    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(True)

    def exactly(self, size, descriptors):
        parts = bytearray()
        while len(parts) < size:
            room = socket.CMSG_SPACE(64 * array.array("i").itemsize)
            data, ancillary, _, _ = self.socket.recvmsg(size - len(parts), room)
            if not data:
                sys.exit(0)
            for level, kind, content in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    whole = array.array("i")
                    whole.frombytes(content[: len(content) - len(content) % whole.itemsize])
                    descriptors.extend(whole)
            parts += data
        return bytes(parts)

    def receive(self):
        descriptors = []
        _, size, _ = HEADER.unpack(self.exactly(HEADER.size, descriptors))
        return json.loads(self.exactly(size, descriptors)), descriptors

    def send(self, answer):
        payload = json.dumps(answer).encode()
        self.socket.sendall(HEADER.pack(1, len(payload), 0) + payload)


class Refusal(Exception):
    """The candidate's fault; `kind` is one of what TorchLane knows."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def said_by(error, file):
    """One line: the error, and the line of the candidate's file where it came from."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = f" (line {frame.lineno})"
    if isinstance(error, SyntaxError) and error.filename == file:
        line = f" (line {error.lineno})"
    text = f"{type(error).__name__}: {error}"
    return " ".join(text[-MOST_TEXT:].split()) + line


class CudaMemory:
    """Imports what the judge shares. Keeps it for the life of the process."""

    class Descriptor(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("gap", ctypes.c_int), ("fd", ctypes.c_int),
                    ("rest", ctypes.c_int), ("unused", ctypes.c_void_p),
                    ("size", ctypes.c_ulonglong), ("flags", ctypes.c_uint),
                    ("reserved", ctypes.c_uint * 16)]  # fmt: skip

    class Buffer(ctypes.Structure):
        _fields_ = [("offset", ctypes.c_ulonglong), ("size", ctypes.c_ulonglong),
                    ("flags", ctypes.c_uint), ("reserved", ctypes.c_uint * 16)]  # fmt: skip

    class Access(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int), ("flags", ctypes.c_int)]

    class Region:
        def __init__(self, address, size):
            self.__cuda_array_interface__ = {"data": (address, False), "shape": (size,),
                                             "typestr": "|u1", "version": 3}  # fmt: skip

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} failed with {status}")

    def imported(self, descriptor, slab):
        size, address = slab["bytes"], ctypes.c_ulonglong()
        if slab["by_cuda"]:
            handle = ctypes.c_ulonglong()
            self.call("cuMemImportFromShareableHandle", ctypes.byref(handle),
                      ctypes.c_void_p(descriptor), 1)  # fmt: skip
            self.call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size),
                      ctypes.c_size_t(0), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))  # fmt: skip
            self.call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle,
                      ctypes.c_ulonglong(0))  # fmt: skip
            access = self.Access(1, 0, 3)
            self.call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access),
                      ctypes.c_size_t(1))  # fmt: skip
        else:
            memory, handle = ctypes.c_void_p(), self.Descriptor(type=1, fd=descriptor, size=size,
                                                                flags=1)  # fmt: skip
            self.call("cuImportExternalMemory", ctypes.byref(memory), ctypes.byref(handle))
            buffer = self.Buffer(offset=0, size=size)
            self.call("cuExternalMemoryGetMappedBuffer", ctypes.byref(address), memory,
                      ctypes.byref(buffer))  # fmt: skip
        return torch.as_tensor(self.Region(address.value, size), device="cuda")


class HostMemory:
    def imported(self, descriptor, slab):
        access = mmap.PROT_READ if slab["read_only"] else mmap.PROT_READ | mmap.PROT_WRITE
        mapped = mmap.mmap(descriptor, slab["bytes"], mmap.MAP_SHARED, access)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Inputs may only be read, as it says.
            return torch.frombuffer(mapped, dtype=torch.uint8)


def view(slabs, tensor):
    """The tensor at its place in the shared memory."""
    place = tensor["place"]
    part = slabs[place["slab"]][place["offset"] : place["offset"] + tensor["bytes"]]
    return part.view(DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


class Model:
    """ModelNew with the task's weights, and the memory of each call."""

    def __init__(self, job, slabs):
        self.job = job
        self.file = os.path.abspath("model_new.py")  # in its scratch folder
        self.variables = {name: tuple(value) if isinstance(value, list) else value
                          for name, value in job["variables"].items()}  # fmt: skip
        self.places = [[view(slabs, each) for each in call["outputs"]] for call in job["calls"]]
        self.graph, self.captured, self.tried = None, 0, set()
        self.module = self.make()
        self.take_weights([view(slabs, each) for each in job["parameters"]])
        self.calls = [self.arguments([view(slabs, each) for each in call["inputs"]])
                      for call in job["calls"]]  # fmt: skip

    def make(self):
        try:
            names = load_module(self.job["source"], self.file)
        except BaseException as error:
            raise Refusal("module", said_by(error, self.file))
        if not inspect.isclass(names.get("ModelNew")):
            raise Refusal("module", "it defines no class ModelNew")
        try:
            arguments = eval(self.job["init_inputs"], dict(self.variables))
            torch.manual_seed(42)
            module = names["ModelNew"](*arguments)
            return module.to(DEVICE)
        except BaseException as error:
            raise Refusal("init", said_by(error, self.file))

    def take_weights(self, weights):
        """By name and shape; else in order of creation, by shape, then by the number of elements."""
        wanted = list(zip([each["name"] for each in self.job["parameters"]], weights))
        own = list(self.module.named_parameters())
        fits = (lambda a, b: a[0] == b[0] and a[1].shape == b[1].shape,
                lambda a, b: a[1].shape == b[1].shape,
                lambda a, b: a[1].numel() == b[1].numel())  # fmt: skip
        for fit in fits:
            for mine in list(own):
                found = next((each for each in wanted if fit(mine, each)), None)
                if found is None:
                    continue
                own.remove(mine)
                wanted = [each for each in wanted if each is not found]
                mine[1].copy_(found[1].reshape(mine[1].shape))
        if not own and not wanted:
            return
        shown = lambda each: f"{each[0]} {list(each[1].shape)}"
        raise Refusal("parameters", "unmatched parameters: of ModelNew "
                      + (", ".join(map(shown, own)) or "none") + "; of the task "
                      + (", ".join(map(shown, wanted)) or "none"))  # fmt: skip

    def arguments(self, tensors):
        """What forward() takes: inputs in order, and the task's variables by the names of its other
        parameters."""
        parameters = list(inspect.signature(self.module.forward).parameters.values())
        named = [each.name for each in parameters
                 if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]  # fmt: skip
        if len(named) <= len(tensors):
            return tensors
        variables, left, result = self.variables, list(tensors), []
        for name in named:
            if name in variables:
                result.append(variables[name])
            elif left:
                result.append(left.pop(0))
        return result

    def try_to_capture(self, count):
        self.tried.add(count)
        self.graph, self.captured = None, 0
        try:
            self.capture(count)
        except Exception:
            synchronise()
            self.graph, self.captured = None, 0

    def capture(self, count):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self.call(count)
        torch.cuda.current_stream().wait_stream(stream)
        right = [place.clone() for call in self.places[:count] for place in call]
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.call(count)
        for call in self.places[:count]:
            for place in call:
                place.zero_()
        graph.replay()
        synchronise()
        got = [place for call in self.places[:count] for place in call]
        same = all(torch.allclose(a.double(), b.double(), 1e-3, 1e-3, equal_nan=True)
                   for a, b in zip(got, right))  # fmt: skip
        if same:
            self.graph, self.captured = graph, count

    def run(self, count):
        """Returns whether a graph was replayed."""
        if DEVICE == "cuda" and count > 1 and count not in self.tried:
            self.try_to_capture(count)
        if self.captured == count:
            self.graph.replay()
        else:
            self.call(count)
        return self.captured == count

    def call(self, count):
        results = []
        for arguments in self.calls[:count]:
            results.append(self.module(*arguments))
        for result, places in zip(results, self.places):
            self.publish(result, places)

    def publish(self, result, places):
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(outputs) != len(places):
            raise Refusal("outputs", f"forward() returns {len(outputs)} tensors; the task has "
                                     f"{len(places)}")  # fmt: skip
        for output, place in zip(outputs, places):
            if not isinstance(output, torch.Tensor):
                raise Refusal("outputs", f"forward() returns a {type(output).__name__} where the "
                                         "task has a tensor")  # fmt: skip
            if output.shape != place.shape:
                raise Refusal("outputs", f"forward() returns a tensor of {list(output.shape)}; the "
                                         f"task's output has {list(place.shape)}")  # fmt: skip
            place.copy_(output)


def synchronise():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def filter_system_calls(number, program):
    """Of all threads, for good. Not earlier: cuInit() takes a socket."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    code = bytes.fromhex(program)
    libc = ctypes.CDLL(None, use_errno=True)
    given = Program(len(code) // 8, code)
    set_mode_filter, all_threads = 1, 1
    if libc.syscall(ctypes.c_long(number), set_mode_filter, all_threads, ctypes.byref(given)) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def start(job):
    global torch, DEVICE, DTYPES
    import torch

    DEVICE = "cuda" if job["cuda"] else "cpu"
    DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "bool": torch.bool,
              "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "u32": torch.int32,
              "u8": torch.uint8}  # fmt: skip
    torch.set_grad_enabled(False)
    if DEVICE == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.zeros(1, device=DEVICE)
        synchronise()
        filter_system_calls(job["seccomp"], job["filter"])
    return {"version": torch.__version__}


class Driver:
    def __init__(self):
        self.job = self.slabs = self.model = None

    def answer(self, request, descriptors):
        kind = request["do"]
        if kind == "start":
            return start(request)
        if kind == "attach":
            memory = CudaMemory() if DEVICE == "cuda" else HostMemory()
            self.slabs = [memory.imported(*each) for each in zip(descriptors, request["slabs"])]
            self.job = request
        elif kind == "load":
            self.model = Model(self.job, self.slabs)
        elif kind == "run":
            try:
                captured = self.model.run(request["calls"])
                synchronise()
                return {"captured": captured}
            except Refusal:
                raise
            except BaseException as error:
                raise Refusal("forward", said_by(error, self.model.file))
        synchronise()
        return {}


def main():
    channel, driver = Channel(3), Driver()
    while True:
        request, descriptors = channel.receive()
        try:
            answer = driver.answer(request, descriptors)
        except Refusal as refusal:
            answer = {"refused": refusal.kind, "message": str(refusal)}
        except BaseException as error:
            answer = {"failed": said_by(error, "")}
        channel.send(dict(answer, id=request.get("id")))


main()
