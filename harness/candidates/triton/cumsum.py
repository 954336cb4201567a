# Running sums along the rows of x [rows, COLS], each read once and written once, one program a row:
# a scan of BLOCK elements at a time, and what came before carried along.
import triton
import triton.language as tl


@triton.jit
def cumsum(x, y, COLS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * COLS
    i = tl.arange(0, BLOCK)
    carry = 0.0
    for first in range(0, COLS, BLOCK):
        v = tl.load(x + start + first + i, mask=first + i < COLS, other=0.0).to(tl.float32)
        tl.store(y + start + first + i, tl.cumsum(v, axis=0) + carry, mask=first + i < COLS)
        carry += tl.sum(v, axis=0)
