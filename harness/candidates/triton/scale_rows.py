# output = diag(A) B: every row of B [rows, COLS] times one number. Grid: column blocks, rows.
import triton
import triton.language as tl


@triton.jit
def scale_rows(a, b, y, COLS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = row.to(tl.int64) * COLS + col
    v = tl.load(b + at, mask=col < COLS).to(tl.float32)
    tl.store(y + at, tl.load(a + row).to(tl.float32) * v, mask=col < COLS)
