# Max pooling of x [planes, IN_H, IN_W]. A program makes STRIP rows of BLOCK neighbouring outputs.
# Padding never wins: only positions inside the plane are compared. Grid: column blocks, strips,
# planes.
import triton
import triton.language as tl


# The largest of the KERNEL inputs of row ih that each output column compares.
@triton.jit
def row_max(plane, ih, first_iw, IN_H: tl.constexpr, IN_W: tl.constexpr, KERNEL: tl.constexpr,
            DILATION: tl.constexpr, BLOCK: tl.constexpr):
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    for kw in tl.static_range(KERNEL):
        iw = first_iw + kw * DILATION
        inside = (ih >= 0) & (ih < IN_H) & (iw >= 0) & (iw < IN_W)
        v = tl.load(plane + ih * IN_W + iw, mask=inside, other=-float("inf"))
        largest = tl.maximum(largest, v.to(tl.float32))
    return largest


@triton.jit
def max_pool2d(x, y, IN_H: tl.constexpr, IN_W: tl.constexpr, OUT_H: tl.constexpr,
               OUT_W: tl.constexpr, KERNEL: tl.constexpr, STRIDE: tl.constexpr,
               PADDING: tl.constexpr, DILATION: tl.constexpr, STRIP: tl.constexpr,
               BLOCK: tl.constexpr):
    plane = tl.program_id(2).to(tl.int64)
    from_ = x + plane * (IN_H * IN_W)
    to = y + plane * (OUT_H * OUT_W)
    ow = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first_oh = tl.program_id(1) * STRIP
    first_iw = ow * STRIDE - PADDING
    first_ih = first_oh * STRIDE - PADDING
    if KERNEL == 4 and STRIDE == 1 and DILATION == 1:
        # Neighbouring rows share three of their four input rows: these are kept.
        a = row_max(from_, first_ih, first_iw, IN_H, IN_W, KERNEL, DILATION, BLOCK)
        b = row_max(from_, first_ih + 1, first_iw, IN_H, IN_W, KERNEL, DILATION, BLOCK)
        c = row_max(from_, first_ih + 2, first_iw, IN_H, IN_W, KERNEL, DILATION, BLOCK)
        for s in tl.static_range(STRIP):
            d = row_max(from_, first_ih + 3 + s, first_iw, IN_H, IN_W, KERNEL, DILATION, BLOCK)
            largest = tl.maximum(tl.maximum(a, b), tl.maximum(c, d))
            oh = first_oh + s
            tl.store(to + oh * OUT_W + ow, largest, mask=(oh < OUT_H) & (ow < OUT_W))
            a = b
            b = c
            c = d
    else:
        for s in tl.static_range(STRIP):
            largest = tl.full([BLOCK], -float("inf"), tl.float32)
            for kh in tl.static_range(KERNEL):
                ih = first_ih + s * STRIDE + kh * DILATION
                largest = tl.maximum(
                    largest, row_max(from_, ih, first_iw, IN_H, IN_W, KERNEL, DILATION, BLOCK))
            oh = first_oh + s
            tl.store(to + oh * OUT_W + ow, largest, mask=(oh < OUT_H) & (ow < OUT_W))
