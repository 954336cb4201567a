# 2-D convolution with bias and what follows it, as a matrix product that never builds its second
# factor: BM output channels x BN pixels, BK of the depth (input channel, then tap) at a time.
# Pixels are counted through the whole batch, so that no tile is cut at an image's end. Products are
# as in gemm.py. Grid: pixel tiles, channel tiles.
import triton
import triton.language as tl


@triton.jit
def tile_sums(x, weight, pixel, channel, PIXELS: tl.constexpr, IN_C: tl.constexpr,
              IN_H: tl.constexpr, IN_W: tl.constexpr, OUT_C: tl.constexpr, OUT_H: tl.constexpr,
              OUT_W: tl.constexpr, KERNEL: tl.constexpr, STRIDE: tl.constexpr,
              PADDING: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    TAPS: tl.constexpr = KERNEL * KERNEL
    DEPTH: tl.constexpr = IN_C * TAPS
    image = pixel // (OUT_H * OUT_W)
    row = pixel % (OUT_H * OUT_W) // OUT_W * STRIDE - PADDING
    col = pixel % OUT_W * STRIDE - PADDING
    corner = (image * IN_C * IN_H + row) * IN_W + col
    acc = tl.zeros([BM, BN], tl.float32)
    for first in range(0, DEPTH, BK):
        k = first + tl.arange(0, BK)
        w = tl.load(weight + channel[:, None] * DEPTH + k[None, :],
                    mask=(channel[:, None] < OUT_C) & (k[None, :] < DEPTH), other=0.0)
        dy = k % TAPS // KERNEL
        dx = k % KERNEL
        tap = (k // TAPS * IN_H + dy) * IN_W + dx
        inside = (k[:, None] < DEPTH) & (pixel[None, :] < PIXELS)
        if PADDING != 0:
            at_row = row[None, :] + dy[:, None]
            at_col = col[None, :] + dx[:, None]
            inside = inside & (at_row >= 0) & (at_row < IN_H) & (at_col >= 0) & (at_col < IN_W)
        v = tl.load(x + (corner[None, :] + tap[:, None]), mask=inside, other=0.0)
        acc = tl.dot(w, v, acc, input_precision="ieee")
    return acc


# y = conv(x) + bias, where `added` is not read, or with ADD_AFTER_RELU:
# relu(conv(x) + bias) + added.
@triton.jit
def conv2d(x, weight, bias, added, y, BATCH: tl.constexpr, IN_C: tl.constexpr, IN_H: tl.constexpr,
           IN_W: tl.constexpr, OUT_C: tl.constexpr, OUT_H: tl.constexpr, OUT_W: tl.constexpr,
           KERNEL: tl.constexpr, STRIDE: tl.constexpr, PADDING: tl.constexpr,
           ADD_AFTER_RELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    PLANE: tl.constexpr = OUT_H * OUT_W
    PIXELS: tl.constexpr = BATCH * PLANE
    pixel = tl.program_id(0) * BN + tl.arange(0, BN)
    channel = tl.program_id(1) * BM + tl.arange(0, BM)
    v = tile_sums(x, weight, pixel, channel, PIXELS, IN_C, IN_H, IN_W, OUT_C, OUT_H, OUT_W, KERNEL,
                  STRIDE, PADDING, BM, BN, BK)
    v += tl.load(bias + channel, mask=channel < OUT_C, other=0.0)[:, None]
    if ADD_AFTER_RELU:
        v = tl.maximum(v, 0.0)
        v += tl.load(added + channel, mask=channel < OUT_C, other=0.0)[:, None]
    plane = (pixel // PLANE * OUT_C)[None, :] + channel[:, None]
    at = plane.to(tl.int64) * PLANE + (pixel % PLANE)[None, :]
    tl.store(y + at, v, mask=(channel[:, None] < OUT_C) & (pixel[None, :] < PIXELS))
