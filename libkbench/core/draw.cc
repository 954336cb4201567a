#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "kbench/error.h"
#include "kbench/random.h"
#include "libkbench/core/draw_math.h"

// The hot loops are compiled for AVX2 too; the build contracts nothing into fused multiply-adds, so
// both give the same bits. Not under sanitizers: the function that picks a clone runs before their
// libraries are set up.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define KBENCH_VECTOR_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define KBENCH_VECTOR_CLONES
#endif

namespace kbench {
namespace {

constexpr int kBlocks = 512;  ///< Philox blocks a batch

struct Words {
  alignas(64) uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
};

KBENCH_VECTOR_CLONES void philox_batch(Words& out, uint64_t first_block, uint32_t name,
                                       uint32_t task, uint64_t seed) {
  const auto k0 = static_cast<uint32_t>(seed);
  const auto k1 = static_cast<uint32_t>(seed >> 32);
  for (int i = 0; i < kBlocks; ++i) {
    const uint64_t block = first_block + static_cast<uint64_t>(i);
    uint32_t c0 = static_cast<uint32_t>(block), c1 = static_cast<uint32_t>(block >> 32);
    uint32_t c2 = name, c3 = task;
    philox_rounds(c0, c1, c2, c3, k0, k1);
    out.c0[i] = c0;
    out.c1[i] = c1;
    out.c2[i] = c2;
    out.c3[i] = c3;
  }
}

KBENCH_VECTOR_CLONES void uniform_batch(const Words& words, float lo, float range, float* out) {
  for (int i = 0; i < kBlocks; ++i) {
    const uint32_t w[4] = {words.c0[i], words.c1[i], words.c2[i], words.c3[i]};
    for (int j = 0; j < 4; ++j) {
      const float u = static_cast<float>(static_cast<int32_t>(w[j] >> 8)) * 0x1p-24f;
      out[4 * i + j] = lo + u * range;
    }
  }
}

[[gnu::always_inline]] inline float normal_of(uint32_t w0, uint32_t w1, double mean, double dev) {
  const double radius = std::sqrt(-2.0 * log_of_fraction((w0 >> 8) + 1));
  return static_cast<float>(mean + dev * radius * cos_of_turn(w1 >> 8));
}

KBENCH_VECTOR_CLONES void normal_batch(const Words& words, double mean, double dev, float* out) {
  for (int i = 0; i < kBlocks; ++i) {
    out[2 * i] = normal_of(words.c0[i], words.c1[i], mean, dev);
    out[2 * i + 1] = normal_of(words.c2[i], words.c3[i], mean, dev);
  }
}

template <class T>
void randint_batch(const Words& words, int64_t lo, uint64_t range, T* out) {
  for (int i = 0; i < kBlocks; ++i) {
    const uint32_t w[4] = {words.c0[i], words.c1[i], words.c2[i], words.c3[i]};
    for (int j = 0; j < 4; ++j) {
      out[4 * i + j] = static_cast<T>(lo + static_cast<int64_t>((w[j] * range) >> 32));
    }
  }
}

/// Calls batch(first_word_block, values) for the batches that cover elements [begin, begin + n) and
/// copies the part asked for into `out`.
template <class T, class Batch>
void for_batches(const Distribution& distribution, const DrawKey& key, int64_t begin,
                 std::span<T> out, Batch batch) {
  const int64_t per_batch = int64_t{kBlocks} * 4 / distribution.words();
  const int64_t end = begin + static_cast<int64_t>(out.size());
  const uint32_t name = fnv1a32(key.name);
  tbb::parallel_for(
      tbb::blocked_range<int64_t>(begin / per_batch, (end + per_batch - 1) / per_batch, 16),
      [&](const tbb::blocked_range<int64_t>& range) {
        Words words;
        alignas(64) T values[kBlocks * 4];
        for (int64_t b = range.begin(); b < range.end(); ++b) {
          philox_batch(words, static_cast<uint64_t>(b) * kBlocks, name, key.task, key.seed);
          batch(words, values);
          const int64_t from = std::max(begin, b * per_batch);
          const int64_t to = std::min(end, (b + 1) * per_batch);
          std::memcpy(out.data() + (from - begin), values + (from - b * per_batch),
                      static_cast<size_t>(to - from) * sizeof(T));
        }
      });
}

void require(bool condition, const Distribution& distribution, const TensorType& type,
             const DrawKey& key) {
  if (!condition) {
    throw Error(ErrorCode::kInvalidArgument, "tensor " + key.name + " of type " + to_string(type) +
                                                 " cannot be drawn from " +
                                                 to_string(distribution));
  }
}

struct Matrices {
  int64_t count, rows, columns;
};

Matrices matrices_of(const Shape& shape) {
  const int64_t rows = shape[shape.size() - 2], columns = shape.back(), each = rows * columns;
  return {each > 0 ? element_count(shape) / each : 0, rows, columns};
}

void zero_triangle(std::span<float> x, const Shape& shape, bool below) {
  const Matrices m = matrices_of(shape);
  for (int64_t b = 0; b < m.count; ++b) {
    for (int64_t i = 0; i < m.rows; ++i) {
      float* row = x.data() + (b * m.rows + i) * m.columns;
      if (below) {
        std::fill(row, row + std::min(i, m.columns), 0.0f);
      } else {
        std::fill(row + std::min(i + 1, m.columns), row + m.columns, 0.0f);
      }
    }
  }
}

void symmetrize(std::span<float> x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      x[i * n + j] = x[j * n + i] = (x[i * n + j] + x[j * n + i]) / 2.0f;
    }
  }
}

/// Whether e^x of every value, and a row's sum of them, are ordinary float64 numbers.
bool is_moderate(const Distribution& distribution) {
  constexpr double kMost = 600;
  constexpr double kDeviations = 6;  // Box-Muller on 24 bits gives at most 5.77.
  const double far = distribution.kind == Distribution::Kind::normal
                         ? std::abs(distribution.lo) + kDeviations * std::abs(distribution.hi)
                         : std::max(std::abs(distribution.lo), std::abs(distribution.hi));
  return far <= kMost;
}

/// No element needs its row's largest taken away: is_moderate() keeps all within range. The sum
/// is taken in the order in which a workgroup of the shader takes it.
void softmax_rows(std::span<float> x, int64_t columns) {
  constexpr int64_t kLanes = 256;
  const int64_t rows = columns ? static_cast<int64_t>(x.size()) / columns : 0;
  tbb::parallel_for(int64_t{0}, rows, [&](int64_t i) {
    float* row = x.data() + i * columns;
    std::array<double, kLanes> partial{};
    for (int64_t j = 0; j < columns; ++j) {
      partial[static_cast<size_t>(j % kLanes)] += exp_of(static_cast<double>(row[j]));
    }
    for (size_t stride = kLanes / 2; stride > 0; stride /= 2) {
      for (size_t lane = 0; lane < stride; ++lane) partial[lane] += partial[lane + stride];
    }
    for (int64_t j = 0; j < columns; ++j) {
      row[j] = static_cast<float>(exp_of(static_cast<double>(row[j])) / partial[0]);
    }
  });
}

void apply_then(const Distribution& distribution, const DrawKey& key, Tensor& tensor) {
  using Then = Distribution::Then;
  if (distribution.then == Then::nothing) return;
  const Shape& shape = tensor.shape();
  auto x = tensor.data<float>();
  const bool matrix = shape.size() >= 2;
  switch (distribution.then) {
    case Then::symmetrize:
      require(shape.size() == 2 && shape[0] == shape[1], distribution, tensor.type(), key);
      return symmetrize(x, shape[0]);
    case Then::triu:
    case Then::tril:
      require(matrix, distribution, tensor.type(), key);
      return zero_triangle(x, shape, distribution.then == Then::triu);
    case Then::softmax_last:
      require(!shape.empty() && is_moderate(distribution), distribution, tensor.type(), key);
      return softmax_rows(x, shape.back());
    case Then::plus_minus_one:
      for (float& value : x) value = 2.0f * value - 1.0f;
      return;
    case Then::offset: {
      const int64_t run = offset_run(shape);
      require(run > 0, distribution, tensor.type(), key);
      Distribution plain = distribution;
      plain.then = Then::nothing;
      std::vector<float> offsets(static_cast<size_t>(element_count(shape) / run));
      draw_range(plain, {key.seed, key.task, offsets_name(key.name)}, 0, offsets);
      tbb::parallel_for(size_t{0}, offsets.size(), [&](size_t i) {
        float* first = x.data() + static_cast<int64_t>(i) * run;
        for (int64_t j = 0; j < run; ++j) first[j] += offsets[i];
      });
      return;
    }
    case Then::nothing:
      return;
  }
}

}  // namespace

void draw_range(const Distribution& distribution, const DrawKey& key, int64_t begin,
                std::span<float> out) {
  if (out.empty()) return;
  switch (distribution.kind) {
    case Distribution::Kind::uniform: {
      const float lo = static_cast<float>(distribution.lo);
      const float range = static_cast<float>(distribution.hi) - lo;
      return for_batches(distribution, key, begin, out, [&](const Words& words, float* values) {
        uniform_batch(words, lo, range, values);
      });
    }
    case Distribution::Kind::normal:
      return for_batches(distribution, key, begin, out, [&](const Words& words, float* values) {
        normal_batch(words, distribution.lo, distribution.hi, values);
      });
    case Distribution::Kind::randint: {
      const auto lo = static_cast<int64_t>(distribution.lo);
      const auto range = static_cast<uint64_t>(distribution.hi - distribution.lo);
      return for_batches(distribution, key, begin, out, [&](const Words& words, float* values) {
        randint_batch(words, lo, range, values);
      });
    }
  }
}

Tensor draw(const Distribution& distribution, const DrawKey& key, const TensorType& type) {
  Tensor tensor(type);
  if (type.dtype == DType::i64) {
    require(distribution.kind == Distribution::Kind::randint &&
                distribution.then == Distribution::Then::nothing,
            distribution, type, key);
    const auto lo = static_cast<int64_t>(distribution.lo);
    const auto range = static_cast<uint64_t>(distribution.hi - distribution.lo);
    for_batches(
        distribution, key, 0, tensor.data<int64_t>(),
        [&](const Words& words, int64_t* values) { randint_batch(words, lo, range, values); });
    return tensor;
  }
  if (type.dtype == DType::boolean) {
    require(distribution == randint(0, 2), distribution, type, key);
    for_batches(distribution, key, 0, tensor.data<bool>(),
                [&](const Words& words, bool* values) { randint_batch(words, 0, 2, values); });
    return tensor;
  }
  if (type.dtype == DType::u8) {
    require(distribution.kind == Distribution::Kind::randint &&
                distribution.then == Distribution::Then::nothing && distribution.lo >= 0 &&
                distribution.hi <= 256,
            distribution, type, key);
    const auto lo = static_cast<int64_t>(distribution.lo);
    const auto range = static_cast<uint64_t>(distribution.hi - distribution.lo);
    for_batches(
        distribution, key, 0, tensor.data<uint8_t>(),
        [&](const Words& words, uint8_t* values) { randint_batch(words, lo, range, values); });
    return tensor;
  }
  require(type.dtype == DType::f32, distribution, type, key);
  draw_range(distribution, key, 0, tensor.data<float>());
  apply_then(distribution, key, tensor);
  return tensor;
}

}  // namespace kbench
