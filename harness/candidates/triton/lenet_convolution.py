# One half of LeNet-5's convolutional part: 5x5 convolution, ReLU and 2x2 pooling together, of x
# [BATCH, IN_C, SIZE, SIZE] into y [BATCH, OUT_C, HALF, HALF], HALF = (SIZE - 4) / 2. A program
# makes all channels of BLOCK pooled positions: four convolution outputs each, of which the largest
# stays; ReLU comes after the maximum, which gives the same. WIDTH is a power of two, at least
# OUT_C.
import triton
import triton.language as tl


@triton.jit
def convolve_and_pool(x, weight, bias, y, BATCH: tl.constexpr, IN_C: tl.constexpr,
                      SIZE: tl.constexpr, OUT_C: tl.constexpr, HALF: tl.constexpr,
                      WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    known = p < BATCH * HALF * HALF
    image = p // (HALF * HALF)
    position = p % (HALF * HALF)
    corner = image * (IN_C * SIZE * SIZE) + position // HALF * (2 * SIZE) + position % HALF * 2
    o = tl.arange(0, WIDTH)
    upper_left = tl.zeros([BLOCK, WIDTH], tl.float32)
    upper_right = tl.zeros([BLOCK, WIDTH], tl.float32)
    lower_left = tl.zeros([BLOCK, WIDTH], tl.float32)
    lower_right = tl.zeros([BLOCK, WIDTH], tl.float32)
    for c in range(IN_C):
        for i in tl.static_range(5):
            for j in tl.static_range(5):
                w = tl.load(weight + (o * IN_C + c) * 25 + i * 5 + j, mask=o < OUT_C,
                            other=0.0).to(tl.float32)[None, :]
                at = x + corner + (c * SIZE + i) * SIZE + j
                upper_left += tl.load(at, mask=known, other=0.0)[:, None] * w
                upper_right += tl.load(at + 1, mask=known, other=0.0)[:, None] * w
                lower_left += tl.load(at + SIZE, mask=known, other=0.0)[:, None] * w
                lower_right += tl.load(at + SIZE + 1, mask=known, other=0.0)[:, None] * w
    largest = tl.maximum(tl.maximum(upper_left, upper_right), tl.maximum(lower_left, lower_right))
    v = tl.maximum(largest + tl.load(bias + o, mask=o < OUT_C, other=0.0)[None, :], 0.0)
    at = (image[:, None] * OUT_C + o[None, :]) * (HALF * HALF) + position[:, None]
    tl.store(y + at, v, mask=known[:, None] & (o < OUT_C)[None, :])
