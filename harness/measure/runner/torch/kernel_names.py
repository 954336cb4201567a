# Put in front of driver.py: which kernels a CUDA graph holds, and what each of them takes.
import ctypes
import graphlib


class CudaDriver:
    """CUDA's own driver, which PyTorch has loaded."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status == 2:
            raise RuntimeError(f"{name}: CUDA is out of memory")
        if status != 0:
            raise RuntimeError(f"{name} failed with {status}")


class KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [("function", ctypes.c_void_p)]
    _fields_ += [(name, ctypes.c_uint) for name in ("grid_x", "grid_y", "grid_z", "block_x",
                                                    "block_y", "block_z", "shared_bytes")]
    _fields_ += [(name, ctypes.c_void_p) for name in ("parameters", "extra", "kernel", "context")]


class GraphKernels(CudaDriver):
    """Of a graph that was captured and not instantiated. It is changed: an event is recorded behind
    each kernel, which they wait for, so that one runs after another. They are run as a whole: a
    kernel that is launched again by itself may wait for what others set."""

    KERNEL, COPIES = 0, {1: "Memcpy", 2: "Memset"}
    # A call on the host, nothing, a wait for an event, recording one, memory taken and given back.
    NO_KERNELS = (3, 5, 6, 7, 10, 11)
    MOST = 4096

    def taken(self, graph, stream):
        """The names of its kernels, as PyTorch's profiler shows them, with nanoseconds. `graph` and
        `stream`: addresses."""
        graph, stream = ctypes.c_void_p(graph), ctypes.c_void_p(stream)
        named = [(node, name) for node in self.ordered(graph) for name in self.names(node)]
        if len(named) > self.MOST:
            raise RuntimeError(f"{len(named)} kernels")
        events = [ctypes.c_void_p() for _ in range(len(named) + 1)]
        try:
            for event in events:
                self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
            last = self.record(graph, events[0], None)
            for (node, _), event in zip(named, events[1:]):
                self.call("cuGraphAddDependencies", graph, self.list_of(last), self.list_of(node),
                          ctypes.c_size_t(1))  # fmt: skip
                last = self.record(graph, event, node)
            self.launch(graph, stream)
            taken = {}
            for (_, name), first, second in zip(named, events, events[1:]):
                ms = ctypes.c_float()
                self.call("cuEventElapsedTime", ctypes.byref(ms), first, second)
                taken[name] = taken.get(name, 0) + 1e6 * ms.value
            return taken
        finally:
            for event in events:
                if event:
                    self.driver.cuEventDestroy_v2(event)

    def ordered(self, graph):
        """Its nodes, each after those that it waits for."""
        count = ctypes.c_size_t()
        self.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        if count.value == 0:
            return []
        nodes = (ctypes.c_void_p * count.value)()
        self.call("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
        before = {node: self.waits_for(node, count.value) for node in nodes}
        return list(graphlib.TopologicalSorter(before).static_order())

    def waits_for(self, node, most):
        """What an edge is like is asked for, too: without, one of two launches that overlap
        (programmatic dependent launch) is an error."""
        count, nodes = ctypes.c_size_t(most), (ctypes.c_void_p * most)()
        edges = (ctypes.c_uint64 * most)()  # CUgraphEdgeData
        self.call("cuGraphNodeGetDependencies_v2", ctypes.c_void_p(node), nodes, edges,
                  ctypes.byref(count))  # fmt: skip
        return nodes[: count.value]

    def names(self, node):
        """That of the kernel; of other nodes none."""
        node, kind = ctypes.c_void_p(node), ctypes.c_int()
        self.call("cuGraphNodeGetType", node, ctypes.byref(kind))
        if kind.value in self.COPIES:
            return [self.COPIES[kind.value]]
        if kind.value in self.NO_KERNELS:
            return []
        if kind.value != self.KERNEL:
            raise RuntimeError(f"a node of kind {kind.value}")
        has, name = KernelNode(), ctypes.c_char_p()
        self.call("cuGraphKernelNodeGetParams_v2", node, ctypes.byref(has))
        if has.function:
            self.call("cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(has.function))
        else:
            self.call("cuKernelGetName", ctypes.byref(name), ctypes.c_void_p(has.kernel))
        return [demangled(name.value)]

    @staticmethod
    def list_of(node):
        return (ctypes.c_void_p * 1)(node)

    def record(self, graph, event, after):
        """Adds a node that records an event after another node, or at the start."""
        node = ctypes.c_void_p()
        waits = None if after is None else self.list_of(after)
        self.call("cuGraphAddEventRecordNode", ctypes.byref(node), graph, waits,
                  ctypes.c_size_t(0 if after is None else 1), event)  # fmt: skip
        return node.value

    def launch(self, graph, stream):
        """Twice, as the first launch uploads it."""
        runs = ctypes.c_void_p()
        self.call("cuGraphInstantiateWithFlags", ctypes.byref(runs), graph, ctypes.c_ulonglong(0))
        try:
            for _ in range(2):
                self.call("cuGraphLaunch", runs, stream)
                self.call("cuStreamSynchronize", stream)
        finally:
            self.driver.cuGraphExecDestroy(runs)


def demangled(name):
    """A name of C++'s as a person writes it; any other as it is."""
    library, status = ctypes.CDLL("libstdc++.so.6"), ctypes.c_int()
    demangle = getattr(library, "__cxa_demangle")
    demangle.restype = ctypes.c_void_p
    address = demangle(ctypes.c_char_p(name), None, None, ctypes.byref(status))
    if status.value != 0 or not address:
        return name.decode(errors="replace")
    try:
        return ctypes.string_at(address).decode(errors="replace")
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(address))


