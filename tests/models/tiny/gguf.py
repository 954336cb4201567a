"""Writes GGUF, version 3 (github.com/ggml-org/ggml, docs/gguf.md): little-endian; a header,
key-value pairs, the tensors' names and places, and their data, each at a multiple of 32 bytes."""

import struct

import numpy

F32, Q8_0 = 0, 8
ALIGNMENT = 32


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def typed(value):
    """A value's type, and its bytes: u32, f32, bool, string, or an array of i32, f32 or strings."""
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return 8, text(value)
    items = [typed(item) for item in value]
    kind = 5 if items[0][0] == 4 else items[0][0]
    return 9, struct.pack("<IQ", kind, len(items)) + b"".join(data for _, data in items)


def quantized(array):
    """Blocks of 32 numbers: the scale as a float16, then 32 signed bytes."""
    blocks = array.reshape(-1, 32).astype(numpy.float32)
    scale = numpy.abs(blocks).max(axis=1, keepdims=True) / 127
    whole = numpy.round(blocks / numpy.where(scale == 0, 1, scale)).astype(numpy.int8)
    return numpy.concatenate(
        [scale.astype("<f2").view(numpy.uint8), whole.view(numpy.uint8)], axis=1).tobytes()


def write(path, values, tensors):
    """values: key to value. tensors: name to array; matrices become q8_0, vectors stay float32."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, value in values.items():
        kind, data = typed(value)
        header += text(key) + struct.pack("<I", kind) + data
    body = b""
    for name, array in tensors.items():
        kind = Q8_0 if array.ndim == 2 else F32
        # Extents stand with the one that runs fastest first.
        header += text(name) + struct.pack("<I", array.ndim)
        header += struct.pack("<%dQ" % array.ndim, *reversed(array.shape))
        header += struct.pack("<IQ", kind, len(body))
        body += quantized(array) if kind == Q8_0 else array.astype("<f4").tobytes()
        body += bytes(-len(body) % ALIGNMENT)
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % ALIGNMENT) + body)
