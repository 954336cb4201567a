# Normalisation works on planes: PLANE neighbouring floats that share their statistics (with other
# planes, for a batch norm). A plane is cut into SEGMENTS of SEGMENT floats, one a program, so that
# few large planes still fill the device. Grid: planes along x, segments along y, so that planes
# with the same weights meet them in the cache.
import triton
import triton.language as tl


# First launch: mean and sum of squared deviations of every segment, into moments [planes, SEGMENTS,
# 2]. Squares are taken around the segment's first value, which is near enough to the mean that
# nothing cancels, and one reading is enough.
@triton.jit
def segment_moments(x, moments, PLANE: tl.constexpr, SEGMENT: tl.constexpr,
                    SEGMENTS: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    segment = tl.program_id(1)
    from_ = x + plane.to(tl.int64) * PLANE
    first = segment * SEGMENT
    last = tl.minimum(first + SEGMENT, PLANE)
    shift = tl.load(from_ + first).to(tl.float32)
    sums = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for step in range(0, SEGMENT, BLOCK):
        i = first + step + tl.arange(0, BLOCK)
        v = tl.load(from_ + i, mask=i < last, other=0.0).to(tl.float32)
        d = tl.where(i < last, v - shift, 0.0)
        sums += d
        squares += d * d
    count = (last - first).to(tl.float32)
    total = tl.sum(sums, axis=0)
    at = moments + (plane * SEGMENTS + segment) * 2
    tl.store(at, shift + total / count)
    tl.store(at + 1, tl.sum(squares, axis=0) - total * total / count)


# Second launch: y = (x - mean) / sqrt(variance + eps) * weight + bias. Each program first merges
# the moments of the SHARERS planes that its own shares statistics with. With SHARERS above 1 (batch
# norm) these are a channel's planes through the batch, CHANNELS apart, and weight and bias are one
# number; else (layer norm) it is this plane alone, and every element has its own. PARTIALS is a
# power of two, at least SHARERS * SEGMENTS.
#
# Programs go from the last plane to the first: what the first launch read last, the cache may hold.
@triton.jit
def normalize(x, moments, weight, bias, y, PLANES: tl.constexpr, PLANE: tl.constexpr,
              SEGMENT: tl.constexpr, SEGMENTS: tl.constexpr, BY_CHANNEL: tl.constexpr,
              CHANNELS: tl.constexpr, SHARERS: tl.constexpr, PARTIALS: tl.constexpr,
              BLOCK: tl.constexpr):
    plane = PLANES - 1 - tl.program_id(0)
    segment = SEGMENTS - 1 - tl.program_id(1)
    p = tl.arange(0, PARTIALS)
    known = p < SHARERS * SEGMENTS
    part = p % SEGMENTS
    if BY_CHANNEL:
        sharer = plane % CHANNELS + p // SEGMENTS * CHANNELS
    else:
        sharer = plane + p // SEGMENTS
    at = moments + (sharer * SEGMENTS + part) * 2
    count = tl.where(known, tl.minimum(SEGMENT, PLANE - part * SEGMENT), 0).to(tl.float32)
    means = tl.load(at, mask=known, other=0.0)
    squares = tl.load(at + 1, mask=known, other=0.0)
    total = SHARERS * PLANE
    mean = tl.sum(means * (count / total), axis=0)
    d = means - mean
    variance = tl.sum(squares + d * d * count, axis=0) / total
    scale = 1.0 / tl.sqrt(variance + 1e-5)

    start = plane.to(tl.int64) * PLANE
    first = segment * SEGMENT
    last = tl.minimum(first + SEGMENT, PLANE)
    for step in range(0, SEGMENT, BLOCK):
        i = first + step + tl.arange(0, BLOCK)
        v = tl.load(x + start + i, mask=i < last).to(tl.float32)
        if BY_CHANNEL:
            w = tl.load(weight + plane % CHANNELS).to(tl.float32)
            b = tl.load(bias + plane % CHANNELS).to(tl.float32)
        else:
            w = tl.load(weight + i, mask=i < last).to(tl.float32)
            b = tl.load(bias + i, mask=i < last).to(tl.float32)
        tl.store(y + start + i, (v - mean) * scale * w + b, mask=i < last)
