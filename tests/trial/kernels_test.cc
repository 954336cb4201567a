#include "harness/measure/trial/kernels.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/trial/kernels_fixture.h"

namespace kbench::trial {
namespace {

using ::testing::ElementsAre;
using vulkan::Buffer;
using vulkan::Commands;
using vulkan::whole;

TEST(SplitWork, CoversEveryQuadWithShortLoops) {
  for (const uint64_t words : {uint64_t{1}, uint64_t{4096}, uint64_t{1} << 24, uint64_t{1} << 33}) {
    const WorkSplit split = split_work(words);
    EXPECT_GE(uint64_t{split.groups} * split.iterations * 256, (words + 3) / 4) << words;
    EXPECT_LE(split.iterations, 256u);
    EXPECT_LE(split.groups, 65535u);
  }
}

TEST(SplitWork, RefusesWhatItsIndicesCannotReach) {
  EXPECT_NO_THROW(split_work(uint64_t{1} << 34));
  EXPECT_THROW(split_work((uint64_t{1} << 34) + 1), Error);
}

TEST_F(KernelsTest, FillsLookValidAndDifferForEveryKey) {
  Kernels kernels(device());
  const Buffer a = device().allocate(40000), b = device().allocate(40000);
  run([&](Commands& c) {
    kernels.fill(c, whole(a), {DType::f32, 1, 0.5f, 2});
    kernels.fill(c, whole(b), {DType::f32, 2, 0.5f, 2});
  });
  const auto x = download<float>(a), y = download<float>(b);
  size_t equal = 0;
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(std::isfinite(x[i]) && std::abs(x[i]) <= 0.5f);
    equal += x[i] == y[i];
    squares += double(x[i]) * x[i];
  }
  EXPECT_LE(equal, 1u);
  EXPECT_NEAR(std::sqrt(squares / double(x.size())), 0.5 / std::sqrt(3.0), 0.01);
}

TEST_F(KernelsTest, FillsOfEveryTypeAreFinite) {
  Kernels kernels(device());
  const Buffer buffer = device().allocate(4096);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::i64, 3, 1, 10}); });
  for (const int64_t v : download<int64_t>(buffer)) ASSERT_TRUE(v >= 0 && v < 10);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::f64, 3, 1, 10}); });
  for (const double v : download<double>(buffer))
    ASSERT_TRUE(std::abs(v) >= 0.5 && std::abs(v) < 1);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::boolean, 3, 1, 10}); });
  for (const uint8_t v : download<uint8_t>(buffer)) ASSERT_LE(v, 1);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::f16, 3, 1, 10}); });
  for (const uint16_t v : download<uint16_t>(buffer)) ASSERT_EQ(v & 0x7c00, 0x3800);
  run([&](Commands& c) { kernels.fill(c, whole(buffer), {DType::bf16, 3, 1, 10}); });
  for (const uint16_t v : download<uint16_t>(buffer)) ASSERT_EQ(v & 0x7f80, 0x3f00);
}

TEST_F(KernelsTest, FillsOfIntegersHaveEveryByte) {
  Kernels kernels(device());
  const Buffer buffer = device().allocate(1 << 16);
  for (const DType dtype : {DType::i32, DType::u32, DType::u8}) {
    run([&](Commands& c) { kernels.fill(c, whole(buffer), {dtype, 3, 1, 10}); });
    std::vector<int> seen(256, 0);
    for (const uint8_t v : download<uint8_t>(buffer)) ++seen[v];
    // 256 are expected of each, with a deviation of 16.
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 150) << name_of(dtype);
    EXPECT_LT(*std::max_element(seen.begin(), seen.end()), 370) << name_of(dtype);
  }
}

/// What a fill left in each word.
struct WordsSeen {
  bool zero = false, small = false, large = false;
  void add(uint32_t word) {
    zero |= word == 0;
    small |= word >= 1 && word <= 256;
    large |= word > 0xffff;
  }
};

TEST_F(KernelsTest, EveryWordOfATemporaryIsZeroSmallAndLargeInThreeSamples) {
  Kernels kernels(device());
  const Buffer buffer = device().allocate(4012);
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i32, DType::u32, DType::u8}) {
    std::vector<WordsSeen> seen(1003);
    for (int sample = 0; sample < 3; ++sample) {
      const Fill fill{dtype, 7 + uint64_t(sample), 0.5f, 10, temporaries_contents(sample)};
      run([&](Commands& c) { kernels.fill(c, whole(buffer), fill); });
      const auto words = download<uint32_t>(buffer);
      for (size_t i = 0; i < words.size(); ++i) seen[i].add(words[i]);
    }
    const auto misses = std::ranges::count_if(
        seen, [](const WordsSeen& word) { return !(word.zero && word.small && word.large); });
    // A random word, or a float near zero, is small by chance.
    EXPECT_LE(misses, 1) << name_of(dtype);
  }
}

TEST_F(KernelsTest, MixedContentsHaveSomeOfEachAndAreFinite) {
  Kernels kernels(device());
  const Buffer buffer = device().allocate(1 << 16);
  const auto filled = [&](DType dtype) {
    const Fill fill{dtype, 3, 0.5f, 10, temporaries_contents(100)};
    run([&](Commands& c) { kernels.fill(c, whole(buffer), fill); });
  };
  const auto expect_a_quarter = [](size_t some, size_t all) {
    EXPECT_NEAR(double(some) / double(all), 0.25, 0.02);
  };
  filled(DType::f32);
  size_t zero = 0, small = 0, plausible = 0, large = 0;
  const auto floats = download<float>(buffer);
  for (const float v : floats) {
    ASSERT_TRUE(std::isfinite(v));
    ++(v == 0 ? zero : std::abs(v) < 1e-40f ? small : std::abs(v) <= 0.5f ? plausible : large);
  }
  for (const size_t some : {zero, small, plausible, large}) expect_a_quarter(some, floats.size());
  filled(DType::i64);
  zero = small = large = 0;
  const auto integers = download<int64_t>(buffer);
  for (const int64_t v : integers) ++(v == 0 ? zero : v >= 1 && v <= 256 ? small : large);
  EXPECT_GT(zero, integers.size() / 5);
  EXPECT_GT(small, integers.size() / 4);
  expect_a_quarter(large, integers.size());
  filled(DType::f64);
  for (const double v : download<double>(buffer)) ASSERT_TRUE(std::isfinite(v));
  filled(DType::boolean);
  for (const uint8_t v : download<uint8_t>(buffer)) ASSERT_LE(v, 1);
  for (const auto& [dtype, exponent] : {std::pair{DType::f16, 0x7c00}, {DType::bf16, 0x7f80}}) {
    filled(dtype);
    for (const uint16_t v : download<uint16_t>(buffer)) ASSERT_NE(v & exponent, exponent);
  }
}

TEST(Contents, ComeAllInTheFirstFourSamplesAndOutputsStayPlausible) {
  std::vector<Contents> temporaries, outputs;
  for (int sample = 0; sample < 8; ++sample) {
    temporaries.push_back(temporaries_contents(sample));
    outputs.push_back(outputs_contents(sample));
  }
  using enum Contents;
  EXPECT_THAT(temporaries, ElementsAre(plausible, zeros, small, mixed, mixed, mixed, mixed, mixed));
  EXPECT_THAT(outputs, ElementsAre(plausible, zeros, small, plausible, plausible, plausible,
                                   plausible, plausible));
}

TEST(Zones, AreCutIntoPieces) {
  std::vector<Zone> zones;
  append_zone(zones, 1 << 20, 0);
  EXPECT_TRUE(zones.empty());
  append_zone(zones, 1 << 20, 1);
  append_zone(zones, 2 << 20, 2 * kZoneWords + 5);
  ASSERT_EQ(zones.size(), 4u);
  EXPECT_EQ(zones[0].words, 1u);
  EXPECT_EQ(zones[1].address, 2u << 20);
  EXPECT_EQ(zones[1].words, kZoneWords);
  EXPECT_EQ(zones[2].address, (2u << 20) + 4 * kZoneWords);
  EXPECT_EQ(zones[3].address, (2u << 20) + 8 * kZoneWords);
  EXPECT_EQ(zones[3].words, 5u);
}

class ZoneKernelTest : public KernelsTest {
 protected:
  struct Found {
    std::vector<ZoneFinding> pieces;
    ZoneFinding all;
  };

  /// Zones of the buffer: {first word, words} each.
  void write(const Buffer& buffer, const std::vector<std::array<uint64_t, 2>>& zones) {
    pieces_.clear();
    for (const auto& [first, words] : zones) {
      append_zone(pieces_, buffer.address() + 4 * first, words);
    }
    table_ = upload(pieces_);
    Kernels kernels(device());
    run([&](Commands& c) { kernels.write_zones(c, table_.address(), count(), 5); });
  }
  Found check(uint64_t key = 5) {
    const Buffer findings = device().allocate(count() * sizeof(ZoneFinding));
    const Buffer summary = device().allocate(sizeof(ZoneFinding));
    Kernels kernels(device());
    run([&](Commands& c) {
      kernels.check_zones(c, table_.address(), count(), key, findings.address(), summary.address());
    });
    return {download<ZoneFinding>(findings), download<ZoneFinding>(summary)[0]};
  }
  void poke(const Buffer& buffer, uint64_t word, uint32_t value) {
    device().upload(buffer, 4 * word, std::as_bytes(std::span(&value, 1)));
  }
  uint32_t count() const { return static_cast<uint32_t>(pieces_.size()); }

 private:
  std::vector<Zone> pieces_;
  Buffer table_;
};

TEST_F(ZoneKernelTest, ShowsEveryChangedWordOfZonesOfAnyLength) {
  const std::vector<uint32_t> empty(70000, 0xABABABABu);
  const Buffer buffer = upload(empty);
  // One word; odd ends; exactly a turn of a workgroup; three pieces, the last of one word.
  write(buffer, {{1, 1}, {10, 7}, {1000, 1024}, {5001, 2 * kZoneWords + 1}});
  ASSERT_EQ(count(), 6u);
  EXPECT_EQ(check().all.changed, 0u);
  EXPECT_EQ(check().all.first, 0xFFFFFFFFu);

  const auto words = download<uint32_t>(buffer);
  for (const uint64_t outside : {0u, 2u, 9u, 17u, 999u, 2024u, 5000u, 5001u + 2 * kZoneWords + 1}) {
    EXPECT_EQ(words[outside], 0xABABABABu) << outside;
    poke(buffer, outside, 1);
  }
  EXPECT_EQ(check().all.changed, 0u);

  const std::vector<std::array<uint32_t, 3>> places = {// word, piece, word of the piece
                                                       {1, 0, 0},
                                                       {10, 1, 0},
                                                       {16, 1, 6},
                                                       {2023, 2, 1023},
                                                       {5001, 3, 0},
                                                       {5001 + kZoneWords - 1, 3, kZoneWords - 1},
                                                       {5001 + kZoneWords, 4, 0},
                                                       {5001 + 2 * kZoneWords, 5, 0}};
  for (const auto& [word, piece, in_piece] : places) {
    poke(buffer, word, ~words[word]);
    const Found found = check();
    EXPECT_EQ(found.all.changed, 1u) << word;
    EXPECT_EQ(found.all.first, piece) << word;
    EXPECT_EQ(found.pieces[piece].changed, 1u) << word;
    EXPECT_EQ(found.pieces[piece].first, in_piece) << word;
    poke(buffer, word, words[word]);
  }
  EXPECT_EQ(check().all.changed, 0u);
}

TEST_F(ZoneKernelTest, CountsChangedPiecesAndNamesTheFirst) {
  const Buffer buffer = device().allocate(4 * 4000);
  std::vector<std::array<uint64_t, 2>> zones;
  for (uint64_t i = 0; i < 1000; ++i) zones.push_back({4 * i, 3});
  write(buffer, zones);
  for (const uint64_t zone : {999u, 400u, 401u}) poke(buffer, 4 * zone + 1, 0);
  poke(buffer, 4 * 401 + 2, 0);
  const Found found = check();
  EXPECT_EQ(found.all.changed, 3u);
  EXPECT_EQ(found.all.first, 400u);
  EXPECT_EQ(found.pieces[400].first, 1u);
  EXPECT_EQ(found.pieces[401].changed, 2u);
  EXPECT_EQ(found.pieces[402].changed, 0u);
}

TEST_F(ZoneKernelTest, NoTwoPlacesNorKeysShareAPattern) {
  const Buffer buffer = device().allocate(4 * 2048);
  write(buffer, {{0, 1024}, {1024, 1024}});
  auto words = download<uint32_t>(buffer);
  words.resize(2048);
  std::sort(words.begin(), words.end());
  const auto distinct = std::unique(words.begin(), words.end()) - words.begin();
  EXPECT_GE(distinct, 2046);  // Two of 2^21 pairs may be equal by chance, of 2^27 values.
  const Found other = check(6);
  EXPECT_EQ(other.all.changed, 2u);
  EXPECT_GE(other.pieces[0].changed, 1023u);
}

TEST_F(ZoneKernelTest, HoldsFloatsThatNoSumLoses) {
  const Buffer buffer = device().allocate(4 * 2048);
  write(buffer, {{0, 2048}});
  size_t negative = 0;
  for (const float value : download<float>(buffer)) {
    ASSERT_GE(std::abs(value), 0x1p16f);
    ASSERT_LT(std::abs(value), 0x1p24f);
    negative += std::signbit(value);
  }
  EXPECT_GT(negative, 900u);
  EXPECT_LT(negative, 1148u);
}

TEST_F(ZoneKernelTest, RefusesMorePiecesThanItCanCount) {
  Kernels kernels(device());
  Commands commands(device());
  commands.begin();
  EXPECT_THROW(kernels.write_zones(commands, 0, kMaxZones + 1, 5), Error);
  EXPECT_THROW(kernels.check_zones(commands, 0, kMaxZones + 1, 5, 0, 0), Error);
}

}  // namespace
}  // namespace kbench::trial
