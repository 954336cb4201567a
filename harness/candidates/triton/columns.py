# Reductions of x [batch, LENGTH, COLS] over LENGTH. A program takes WIDTH neighbouring columns of
# one batch entry, HEIGHT rows at a time; what each place of that tile has met is brought together
# at the end. Grid: column blocks, batch entries.
import triton
import triton.language as tl


@triton.jit
def sum_dim1(x, y, LENGTH: tl.constexpr, COLS: tl.constexpr, WIDTH: tl.constexpr,
             HEIGHT: tl.constexpr):
    entry = tl.program_id(1).to(tl.int64)
    col = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    row = tl.arange(0, HEIGHT)
    at = x + entry * (LENGTH * COLS) + row[:, None] * COLS + col[None, :]
    total = tl.zeros([HEIGHT, WIDTH], tl.float32)
    for first in range(0, LENGTH, HEIGHT):
        inside = (first + row[:, None] < LENGTH) & (col[None, :] < COLS)
        total += tl.load(at, mask=inside, other=0.0).to(tl.float32)
        at += HEIGHT * COLS
    tl.store(y + entry * COLS + col, tl.sum(total, axis=0), mask=col < COLS)


# Where the maximum stands, the first of equals: a place keeps the first of its own, and of those
# that hold the column's maximum the smallest row wins.
@triton.jit
def argmax_dim1(x, y, LENGTH: tl.constexpr, COLS: tl.constexpr, WIDTH: tl.constexpr,
                HEIGHT: tl.constexpr):
    entry = tl.program_id(1).to(tl.int64)
    col = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    row = tl.arange(0, HEIGHT)
    at = x + entry * (LENGTH * COLS) + row[:, None] * COLS + col[None, :]
    best = tl.full([HEIGHT, WIDTH], -float("inf"), tl.float32)
    best_row = tl.zeros([HEIGHT, WIDTH], tl.int32) + row[:, None]
    for first in range(0, LENGTH, HEIGHT):
        inside = (first + row[:, None] < LENGTH) & (col[None, :] < COLS)
        v = tl.load(at, mask=inside, other=-float("inf")).to(tl.float32)
        better = v > best
        best = tl.where(better, v, best)
        best_row = tl.where(better, first + row[:, None], best_row)
        at += HEIGHT * COLS
    largest = tl.max(best, axis=0)
    rows = tl.where(best == largest[None, :], best_row, LENGTH)
    tl.store(y + entry * COLS + col, tl.min(rows, axis=0).to(tl.int64), mask=col < COLS)
