# Cross entropy in two launches: the loss of each row of x [rows, COLS], which is
# ln(sum(exp(x))) - x[target], one program a row, and the mean of COUNT losses, by one program.
import triton
import triton.language as tl


@triton.jit
def row_losses(x, target, loss, COLS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    from_ = x + row.to(tl.int64) * COLS
    i = tl.arange(0, BLOCK)
    v = tl.load(from_ + i, mask=i < COLS, other=-float("inf")).to(tl.float32)
    largest = tl.max(v, axis=0)
    total = tl.sum(tl.exp(v - largest), axis=0)
    wanted = tl.load(from_ + tl.load(target + row)).to(tl.float32)
    tl.store(loss + row, tl.log(total) + largest - wanted)


@triton.jit
def mean(x, y, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for first in range(0, COUNT, BLOCK):
        total += tl.load(x + first + i, mask=first + i < COUNT, other=0.0)
    tl.store(y, tl.sum(total, axis=0) / COUNT)
