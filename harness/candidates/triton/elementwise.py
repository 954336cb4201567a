# y = activation(x). A program owns BLOCK neighbouring elements. Numbers of elements can come near
# 2^31, so positions are counted with 64 bits.
import triton
import triton.language as tl


@triton.jit
def relu(x, y, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < count).to(tl.float32)
    tl.store(y + i, tl.where(v < 0.0, 0.0, v), mask=i < count)  # NaN stays NaN


@triton.jit
def gelu(x, y, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < count).to(tl.float32)
    tl.store(y + i, 0.5 * v * (1.0 + tl.erf(v * 0.70710678)), mask=i < count)
