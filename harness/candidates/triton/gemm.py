# Products of row-major matrices, C [ROWS, COLS] = A [ROWS, DEPTH] times B [DEPTH, COLS], or with
# TRANSPOSED B [COLS, DEPTH], as a linear layer's weight is stored. A program makes a BM x BN tile,
# BK of the depth at a time. tl.dot takes the factors as they are: halves on tensor cores, float32
# in float32, as input_precision="ieee" keeps it from rounding them to TF32. Sums are of float32.
# What follows the product runs on them while they are still in registers. Grid: row tiles, column
# tiles, batch. Row tiles run fastest, so programs that run together share a piece of B, the larger
# factor where it is a weight.
import triton
import triton.language as tl

RELU = tl.constexpr(1)
LEAKY_RELU = tl.constexpr(2)  # parameter: the slope
GELU = tl.constexpr(3)
SWISH = tl.constexpr(4)  # parameter: a factor on the result


@triton.jit
def activate(v, parameter, ACTIVATION: tl.constexpr):
    if ACTIVATION == RELU:
        v = tl.where(v < 0.0, 0.0, v)
    elif ACTIVATION == LEAKY_RELU:
        v = tl.where(v < 0.0, parameter * v, v)
    elif ACTIVATION == GELU:
        v = 0.5 * v * (1.0 + tl.erf(v * 0.70710678))
    elif ACTIVATION == SWISH:
        v = parameter * v / (1.0 + tl.exp(-v))
    return v


# The tile at `row` and `col` (where its first element stands). Rows and columns beyond the matrices
# are read from their beginning and not stored.
@triton.jit
def tile_product(a, b, row, col, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr,
                 TRANSPOSED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = row + tl.arange(0, BM)
    if ROWS % BM != 0:
        rows = rows % ROWS
    cols = col + tl.arange(0, BN)
    if COLS % BN != 0:
        cols = cols % COLS
    k = tl.arange(0, BK)
    a_at = a + rows[:, None].to(tl.int64) * DEPTH + k[None, :]
    if TRANSPOSED:
        b_at = b + cols[None, :].to(tl.int64) * DEPTH + k[:, None]
    else:
        b_at = b + k[:, None].to(tl.int64) * COLS + cols[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for first in range(0, DEPTH, BK):
        if DEPTH % BK == 0:
            va = tl.load(a_at)
            vb = tl.load(b_at)
        else:
            va = tl.load(a_at, mask=first + k[None, :] < DEPTH, other=0.0)
            vb = tl.load(b_at, mask=first + k[:, None] < DEPTH, other=0.0)
        acc = tl.dot(va, vb, acc, input_precision="ieee")
        a_at += BK
        if TRANSPOSED:
            b_at += BK
        else:
            b_at += BK * COLS
    return acc


@triton.jit
def store_tile(c, v, row, col, ROWS: tl.constexpr, COLS: tl.constexpr, BM: tl.constexpr,
               BN: tl.constexpr):
    rows = row + tl.arange(0, BM)[:, None]
    cols = col + tl.arange(0, BN)[None, :]
    tl.store(c + rows.to(tl.int64) * COLS + cols, v, mask=(rows < ROWS) & (cols < COLS))


# C = A B for a batch, or with BY_ROOT A B / sqrt(DEPTH), as attention takes its scores.
@triton.jit
def product(a, b, c, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr,
            TRANSPOSED: tl.constexpr, BY_ROOT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    batch = tl.program_id(2).to(tl.int64)
    acc = tile_product(a + batch * (ROWS * DEPTH), b + batch * (DEPTH * COLS), row, col, ROWS, COLS,
                       DEPTH, TRANSPOSED, BM, BN, BK)
    if BY_ROOT:
        acc *= tl.rsqrt(tl.full([1, 1], DEPTH, tl.float32))
    store_tile(c + batch * (ROWS * COLS), acc, row, col, ROWS, COLS, BM, BN)


# y = activation(scale * (x weight^T + bias))
@triton.jit
def linear(x, weight, bias, y, scale, parameter, ROWS: tl.constexpr, COLS: tl.constexpr,
           DEPTH: tl.constexpr, ACTIVATION: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tile_product(x, weight, row, col, ROWS, COLS, DEPTH, True, BM, BN, BK)
    cols = col + tl.arange(0, BN)
    add = tl.load(bias + cols, mask=cols < COLS, other=0.0)
    v = activate(scale * (acc + add[None, :]), parameter, ACTIVATION)
    store_tile(y, v, row, col, ROWS, COLS, BM, BN)
