#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kbench/error.h"
#include "kbench/random.h"
#include "libkbench/core/draw_math.h"

namespace kbench {
namespace {

const DrawKey kKey{24301, 65537, "x"};  // task level1/1

TEST(Philox, MatchesPublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0, 0, fnv1a32("x"), 65537}, {0, 0}),
            (std::array<uint32_t, 4>{0x681d057b, 0x43bd3768, 0x939f7ef1, 0x20b6fa71}));
}

TEST(Draw, MatchesTheGoldenVectors) {
  const std::vector<float> uniforms = {-0.42922199f, 0.79900134f, 0.49265444f, 0.08903313f};
  const std::vector<float> normals = {1.27823639f, -0.73524266f, 0.43488151f, -0.27608868f};
  const Tensor u = draw(uniform(-1, 1), kKey, {DType::f32, {4}});
  const Tensor n = draw(normal(), kKey, {DType::f32, {4}});
  for (int i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(u.data<float>()[i], uniforms[i]);
    EXPECT_FLOAT_EQ(n.data<float>()[i], normals[i]);
  }
  const Tensor r = draw(randint(0, 1000), kKey, {DType::i64, {4}});
  EXPECT_EQ(std::vector<int64_t>(r.data<int64_t>().begin(), r.data<int64_t>().end()),
            (std::vector<int64_t>{285, 899, 746, 544}));
}

TEST(Draw, RangesAreSlicesOfTheWhole) {
  for (const Distribution& d : {uniform(-3, 5), normal(2, 0.5), randint(0, 7)}) {
    std::vector<float> whole(10007);
    draw_range(d, kKey, 0, whole);
    for (int64_t begin : {1, 511, 2047, 4096, 9973}) {
      std::vector<float> part(std::min<int64_t>(3001, 10007 - begin));
      draw_range(d, kKey, begin, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin)) << to_string(d);
    }
  }
}

TEST(Draw, MathAgreesWithTheStandardLibraryToTwoUlp) {
  for (uint32_t m = 1; m < (1u << 24); m += 97) {
    const double u = m * 0x1p-24;
    EXPECT_NEAR(log_of_fraction(m), std::log(u), 4e-16 * std::abs(std::log(u)) + 1e-17) << m;
    const auto c = static_cast<double>(std::cos(6.283185307179586476925286766559L * u));
    ASSERT_NEAR(cos_of_turn(m), c, 3e-16) << m;
  }
  for (double x = -700; x <= 700; x += 0.00917) {
    ASSERT_NEAR(exp_of(x) / std::exp(x), 1, 4.5e-16) << x;
  }
  EXPECT_EQ(exp_of(0), 1.0);
  EXPECT_EQ(log_of_fraction(1u << 24), 0.0);
  EXPECT_EQ(cos_of_turn(0), 1.0);
  EXPECT_EQ(cos_of_turn(1u << 23), -1.0);
}

TEST(Draw, NormalHasTheRightMoments) {
  std::vector<float> x(1 << 20);
  draw_range(normal(), kKey, 0, x);
  double mean = 0, square = 0, fourth = 0;
  for (double v : x) {
    mean += v;
    square += v * v;
    fourth += v * v * v * v;
  }
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(mean / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
}

TEST(Draw, StepsAfterDrawingDoWhatTheySay) {
  using Then = Distribution::Then;
  const Tensor plain = draw(normal(), kKey, {DType::f32, {5, 5}});
  auto with = [&](Then then) {
    Distribution d = normal();
    d.then = then;
    return draw(d, kKey, {DType::f32, {5, 5}});
  };
  const Tensor s = with(Then::symmetrize), u = with(Then::triu), l = with(Then::tril);
  const Tensor p = with(Then::softmax_last);
  for (int i = 0; i < 5; ++i) {
    double total = 0;
    for (int j = 0; j < 5; ++j) {
      const int64_t at = i * 5 + j;
      EXPECT_EQ(s.at(at),
                (static_cast<float>(plain.at(at)) + static_cast<float>(plain.at(j * 5 + i))) / 2);
      EXPECT_EQ(u.at(at), j >= i ? plain.at(at) : 0);
      EXPECT_EQ(l.at(at), j <= i ? plain.at(at) : 0);
      total += p.at(at);
    }
    EXPECT_NEAR(total, 1, 1e-6);
  }
  EXPECT_NEAR(p.at(7) / p.at(8), std::exp(plain.at(7) - plain.at(8)), 1e-6);
  Distribution wide = uniform(-700, 700);  // e^x would overflow
  wide.then = Then::softmax_last;
  EXPECT_THROW(draw(wide, kKey, {DType::f32, {5, 5}}), Error);
  Distribution signs = randint(0, 2);
  signs.then = Then::plus_minus_one;
  const Tensor drawn = draw(signs, kKey, {DType::f32, {64}});
  for (float v : drawn.data<float>()) EXPECT_EQ(std::abs(v), 1.0f);
}

TEST(Draw, OffsetsAreDrawnOnceForEachIndexOfTheFirstTwoDimensions) {
  const TensorType images{DType::f32, {3, 2, 5, 7}};
  const Tensor plain = draw(uniform(-1, 1), kKey, images);
  const Tensor moved = draw(offset(uniform(-1, 1)), kKey, images);
  const Tensor offsets =
      draw(uniform(-1, 1), {kKey.seed, kKey.task, offsets_name(kKey.name)}, {DType::f32, {3, 2}});
  for (int64_t i = 0; i < 3 * 2 * 5 * 7; ++i) {
    EXPECT_EQ(static_cast<float>(moved.at(i)),
              static_cast<float>(plain.at(i)) + static_cast<float>(offsets.at(i / 35)));
  }
  EXPECT_EQ(offset_run({3, 2, 5, 7}), 35);
  EXPECT_EQ(offset_run({6, 9}), 9) << "of two dimensions only the first has offsets";
  EXPECT_EQ(to_string(offset(normal(0, 2))), "normal(0, 2), offset");
}

TEST(Draw, BytesAreTheIntegersOfTheirRange) {
  const Tensor wide = draw(randint(3, 256), kKey, {DType::i64, {4099}});
  const Tensor bytes = draw(randint(3, 256), kKey, {DType::u8, {4099}});
  ASSERT_EQ(bytes.bytes(), 4099);
  for (int64_t i = 0; i < 4099; ++i) ASSERT_EQ(bytes.at(i), wide.at(i)) << i;
  const Tensor all = draw(randint(0, 256), kKey, {DType::u8, {1 << 16}});
  std::vector<int> counts(256);
  for (const uint8_t byte : all.data<uint8_t>()) ++counts[byte];
  for (const int count : counts) EXPECT_NEAR(count, 256, 6 * 16);
  EXPECT_THROW(draw(randint(0, 257), kKey, {DType::u8, {4}}), Error);
  EXPECT_THROW(draw(randint(-1, 4), kKey, {DType::u8, {4}}), Error);
  EXPECT_THROW(draw(uniform(0, 4), kKey, {DType::u8, {4}}), Error);
}

TEST(Draw, RefusesWhatDoesNotGoTogether) {
  EXPECT_THROW(draw(offset(normal()), kKey, {DType::f32, {4}}), Error);
  EXPECT_THROW(draw(normal(), kKey, {DType::i64, {4}}), Error);
  Distribution symmetric = normal();
  symmetric.then = Distribution::Then::symmetrize;
  EXPECT_THROW(draw(symmetric, kKey, {DType::f32, {3, 4}}), Error);
}

}  // namespace
}  // namespace kbench
