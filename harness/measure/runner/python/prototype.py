"""A python3 that imports a package once, and forks the processes that are to have it.

It runs code of kbench and of the package only. Each process that it forks is locked in before it
runs the script that it was forked for, which may read what a candidate wrote (lock_in.h).

Descriptor 3 is a stream socket to kbench's Python server. A message is three 32-bit words (a kind,
the bytes and the descriptors that follow), then JSON; the kinds do not matter here.
"""

import array
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import resource
import select
import socket
import stat
import struct
import sys
import tempfile
import time
import traceback
import types

HEADER = struct.Struct("=III")
NOT_LOCKED = 97  # kNoLock of python_group.h
CHANNEL = 3
IDLE_SECONDS = 2  # after which nobody waits for what else is imported


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


libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    """Integers are passed as 64 bits: prctl() and syscall() take longs."""
    longs = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return function(*longs)


def filter_system_calls(number, program):
    """Of all threads, for good. `program`: an array of sock_filter as hexadecimal digits."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    code = bytes.fromhex(program)
    given = Program(len(code) // 8, code)
    set_mode_filter, all_threads = 1, 1
    if call(libc.syscall, number, set_mode_filter, all_threads, ctypes.byref(given)) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def drop_capabilities():
    drop_from_bounding_set, version_3 = 24, 0x20080522
    capability = 0
    while call(libc.prctl, drop_from_bounding_set, capability, 0, 0, 0) == 0:
        capability += 1
    libc.capset(struct.pack("=Ii", version_3, 0), struct.pack("=6I", *[0] * 6))


def limit(which, most):
    """A limit that is lower already stays."""
    lower = lambda value: most if value == resource.RLIM_INFINITY else min(value, most)
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (lower(soft), lower(hard)))


def restrict_files(calls, ruleset, rules):
    """Landlock's, for this thread and what it starts: all that no rule grants is denied."""
    attributes = bytes.fromhex(ruleset)
    made = call(libc.syscall, calls["create_ruleset"], attributes, len(attributes), 0)
    if made < 0:
        raise OSError(ctypes.get_errno(), "no ruleset")
    for path, of_folder, of_file in rules:
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # What does not exist needs no rule.
            continue
        rights = of_folder if stat.S_ISDIR(os.fstat(file).st_mode) else of_file
        beneath = struct.pack("=Qi", rights, file)
        call(libc.syscall, calls["add_rule"], made, 1, beneath, 0)
        os.close(file)
    if call(libc.syscall, calls["restrict_self"], made, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock is not entered")
    os.close(made)


def lock_in(lock):
    """As LockIn does for runners (lock_in.h); none of it can be undone."""
    no_new_privileges, parent_death_signal, kill = 38, 1, 9
    if call(libc.prctl, no_new_privileges, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs is not set")
    drop_capabilities()
    call(libc.prctl, parent_death_signal, kill, 0, 0, 0)
    for which, most in lock["limits"]:
        limit(which, most)
    restrict_files(lock["calls"], lock["ruleset"], lock["rules"])
    if lock["filter"]:
        filter_system_calls(lock["calls"]["seccomp"], lock["filter"])


def show_as(*arguments):
    """In lists of processes, which would show this file's text."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end of proc(5)
    text = "\0".join(arguments).encode()
    if 0 < start < end - len(text):
        ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def become(order, descriptors, between):
    """In the forked process. `descriptors` become its first ones: input, output twice, channel."""
    try:
        os.setpgid(0, 0)
        while os.getppid() == between:  # Until it is a child of the server.
            time.sleep(0.00005)
        aside = [fcntl.fcntl(each, fcntl.F_DUPFD, 64) for each in descriptors]
        for number, each in enumerate(aside):
            os.dup2(each, number)
        os.closerange(len(aside), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        show_as("python3", order["name"])
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        tempfile.tempdir = None
        lock_in(order["lock"])
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(NOT_LOCKED)
    main = types.ModuleType("__main__")
    main.Channel, main.filter_system_calls = Channel, filter_system_calls
    sys.modules["__main__"] = main
    status = 1
    try:
        exec(compile(order["script"], order["name"], "exec"), main.__dict__)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    with contextlib.suppress(BaseException):
        sys.stderr.flush()
    os._exit(status & 0xFF)


def fork_for(order, descriptors, channel):
    """Forks twice and ends the process between, so that the second is a child of the server, which
    is a subreaper. Returns its id."""
    read_end, write_end = os.pipe()
    between = os.fork()
    if between == 0:
        between = os.getpid()
        child = os.fork()
        if child == 0:
            channel.socket.detach()
            become(order, descriptors, between)
        with contextlib.suppress(OSError):  # It may have done so itself.
            os.setpgid(child, child)
        os.write(write_end, str(child).encode())
        os._exit(0)
    os.close(write_end)
    said = os.read(read_end, 32)
    os.close(read_end)
    os.waitpid(between, 0)
    return int(said or 0)


def import_torch():
    torch = importlib.import_module("torch")
    # Its module for extensions asks for a device, only to warn that there is none. A process that
    # has opened CUDA cannot be forked.
    there, torch.cuda.is_available = torch.cuda.is_available, lambda: False
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            importlib.import_module("torch.utils.cpp_extension")
    except ImportError:  # It takes setuptools, which not every machine has.
        pass
    finally:
        torch.cuda.is_available = there


def import_triton():
    """With what its first kernel loads, LLVM among it: a kernel that does nothing is compiled, for
    which no device is needed."""
    triton = importlib.import_module("triton")
    importlib.import_module("triton.backends.nvidia.driver")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        path = os.path.join(folder, "kernel.py")
        with open(path, "w") as file:
            file.write("def kernel():\n    pass\n")
        names = {}
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), names)
        source = ASTSource(fn=triton.jit(names["kernel"]), signature={}, constexprs={})
        triton.compile(source, target=GPUTarget("cuda", 90, 32))


def freeze():
    """What is there is shared with the processes that are forked."""
    gc.collect()
    gc.freeze()


def serve(package):
    channel, failure = Channel(CHANNEL), None
    try:
        if package == "torch":
            import_torch()
        elif package:
            importlib.import_module(package)
    except BaseException as error:
        failure = f"{type(error).__name__}: {error}"
    freeze()
    forks, wants_triton = 0, package == "torch"
    while True:
        # The first candidates do not wait for Triton, which they may not need.
        waits = lambda: forks < 4 and select.select([channel.socket], [], [], IDLE_SECONDS)[0]
        if wants_triton and not waits():
            wants_triton = False
            with contextlib.suppress(Exception):  # Not every machine has it, or this version.
                import_triton()
            freeze()
        forks += 1
        order, descriptors = channel.receive()
        try:
            answer = {"failed": failure} if failure else {
                "child": fork_for(order, descriptors, channel)}
        except OSError as error:
            answer = {"failed": f"no process: {error}"}
        for each in descriptors:
            os.close(each)
        channel.send(answer)


if __name__ == "__main__":
    serve(sys.argv[1])
