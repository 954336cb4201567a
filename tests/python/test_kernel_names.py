"""What a CUDA graph's nodes are called and take, with a stand-in for CUDA's driver: a graph whose
nodes run in an order that its dependencies allow, each for as long as it says."""

import ctypes
import os
import types
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "harness", "measure",
                      "runner", "torch", "kernel_names.py")  # fmt: skip
RELU = b"_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_"


def names_of_script():
    names = {"__name__": "kernel_names"}
    with open(SCRIPT) as file:
        exec(compile(file.read(), "kernel_names.py", "exec"), names)
    return types.SimpleNamespace(**names)


class Driver:
    """Nodes by their addresses: kind, the ms that it takes, those that it waits for, a name."""

    KERNEL, MEMCPY, EMPTY, EVENT = 0, 1, 5, 7

    def __init__(self, *nodes):
        self.nodes = {100 + i: list(node) for i, node in enumerate(nodes)}
        self.events, self.now, self.launches, self.fails = {}, 0.0, 0, None
        self.live = set()

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*arguments):
            if name == self.fails:
                return 1
            given = (getattr(each, "_obj", each) for each in arguments)
            return getattr(self, "do_" + name)(*given) or 0

        return call

    def do_cuGraphGetNodes(self, graph, nodes, count):
        if nodes is not None:
            if len(nodes) == 0:
                return 1  # As CUDA 13 does.
            nodes[:] = list(self.nodes)
        count.value = len(self.nodes)

    def do_cuGraphNodeGetDependencies_v2(self, node, nodes, edges, count):
        before = [100 + i for i in self.nodes[node.value][2]]
        assert len(before) <= count.value == len(nodes) == len(edges)
        nodes[: len(before)] = before
        count.value = len(before)

    def do_cuGraphNodeGetType(self, node, kind):
        kind.value = self.nodes[node.value][0]

    def do_cuGraphKernelNodeGetParams_v2(self, node, has):
        has.function, has.kernel = (node.value, None) if node.value % 2 else (None, node.value)

    def do_cuFuncGetName(self, name, function):
        assert function.value % 2
        name.value = self.nodes[function.value][3]

    def do_cuKernelGetName(self, name, kernel):
        assert not kernel.value % 2
        name.value = self.nodes[kernel.value][3]

    def do_cuEventCreate(self, event, flags):
        event.value = 1000 + len(self.events)
        self.events[event.value] = None
        self.live.add(event.value)

    def do_cuEventDestroy_v2(self, event):
        self.live.remove(event.value)

    def do_cuGraphAddEventRecordNode(self, node, graph, waits, count, event):
        node.value = 100 + len(self.nodes)
        before = [each - 100 for each in waits or ()]
        assert count.value == len(before)
        self.nodes[node.value] = [self.EVENT, 0, before, event.value]

    def do_cuGraphAddDependencies(self, graph, before, after, count):
        assert count.value == 1
        self.nodes[after[0]][2] = list(self.nodes[after[0]][2]) + [before[0] - 100]

    def do_cuGraphInstantiateWithFlags(self, runs, graph, flags):
        runs.value = 7
        self.live.add("runs")

    def do_cuGraphExecDestroy(self, runs):
        self.live.remove("runs")

    def do_cuGraphLaunch(self, runs, stream):
        """The last node that can run goes first: an order that is not the nodes' own."""
        self.launches += 1
        done = set()
        while len(done) < len(self.nodes):
            node = next(each for each in reversed(self.nodes) if each not in done
                        and all(100 + i in done for i in self.nodes[each][2]))  # fmt: skip
            kind, ms, _, name = self.nodes[node]
            self.now += ms * (10 if self.launches == 1 else 1)
            if kind == self.EVENT:
                self.events[name] = self.now
            done.add(node)

    def do_cuStreamSynchronize(self, stream):
        pass

    def do_cuEventElapsedTime(self, ms, first, second):
        ms.value = self.events[second.value] - self.events[first.value]


class KernelNames(unittest.TestCase):
    def setUp(self):
        self.script = names_of_script()

    def taken(self, driver):
        kernels = self.script.GraphKernels.__new__(self.script.GraphKernels)
        kernels.driver = driver
        try:
            return kernels.taken(5, 0)
        finally:
            self.assertEqual(driver.live, set())

    def test_each_kernel_has_its_name_and_its_time(self):
        # Two branches, of which the later nodes would run first, and their sum.
        driver = Driver((0, 1, [], b"mine"), (0, 2, [0], RELU), (0, 4, [], RELU),
                        (5, 0, [1, 2], b""), (1, 8, [3], b""), (0, 16, [4], b"mine"))  # fmt: skip
        taken = self.taken(driver)
        self.assertEqual({name: round(ns / 1e6, 3) for name, ns in taken.items()}, {
            "mine": 17, "Memcpy": 8,
            "void at::native::vectorized_elementwise_kernel<4, float>(int, float)": 6})  # fmt: skip
        self.assertEqual(driver.launches, 2)  # The first takes longer.

    def test_a_graph_of_nothing_takes_nothing(self):
        self.assertEqual(self.taken(Driver()), {})

    def test_what_is_not_known_is_an_error_that_leaves_nothing_behind(self):
        with self.assertRaisesRegex(RuntimeError, "a node of kind 13"):
            self.taken(Driver((13, 1, [], b"")))
        driver = Driver((0, 1, [], b"mine"))
        for call in ("cuKernelGetName", "cuGraphAddEventRecordNode",
                     "cuGraphLaunch", "cuEventElapsedTime"):  # fmt: skip
            driver.fails = call
            with self.assertRaisesRegex(RuntimeError, call + " failed with 1"):
                self.taken(driver)

    def test_names_that_are_not_of_cpp_stay(self):
        demangled = self.script.demangled
        self.assertEqual(demangled(b"triton_poi_fused_relu_0"), "triton_poi_fused_relu_0")
        self.assertEqual(demangled(b"_Z5twiceIfEvPT_i"), "void twice<float>(float*, int)")

    def test_the_driver_reads_a_struct_of_cudas_size(self):
        self.assertEqual(ctypes.sizeof(self.script.KernelNode), 72)
        self.assertEqual(self.script.KernelNode.parameters.offset, 40)


if __name__ == "__main__":
    unittest.main()
