# Softmax over the last dimension of [rows, COLS], one program a row. A row of at most BLOCK
# elements stays in registers. A longer one is read twice: first each position of the block keeps
# the largest that it has met, and its sum of exponentials relative to that, then come the
# quotients.
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, COLS: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * COLS
    i = tl.arange(0, BLOCK)
    if COLS <= BLOCK:
        v = tl.load(x + start + i, mask=i < COLS, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + start + i, e * (1.0 / tl.sum(e, axis=0)), mask=i < COLS)
    else:
        largest = tl.full([BLOCK], -float("inf"), tl.float32)
        total = tl.zeros([BLOCK], tl.float32)
        for first in range(0, COLS, BLOCK):
            v = tl.load(x + start + first + i, mask=first + i < COLS, other=-float("inf"))
            v = v.to(tl.float32)
            above = tl.maximum(largest, v)
            total = total * tl.exp(largest - above) + tl.exp(v - above)
            largest = above
        row_largest = tl.max(largest, axis=0)
        scale = 1.0 / tl.sum(total * tl.exp(largest - row_largest), axis=0)
        for first in range(0, COLS, BLOCK):
            v = tl.load(x + start + first + i, mask=first + i < COLS).to(tl.float32)
            tl.store(y + start + first + i, tl.exp(v - row_largest) * scale, mask=first + i < COLS)
