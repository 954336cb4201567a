// The hash of memory that a candidate may only read.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/trial/kernels_fixture.h"

namespace kbench::trial {
namespace {

using vulkan::Buffer;
using vulkan::Commands;
using vulkan::whole;

using Words = std::vector<uint32_t>;
constexpr size_t kBlock = kHashBlockWords;

/// The hash, computed in the simplest way.
std::vector<uint64_t> hashes_on_host(const Words& words, const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> hashes((words.size() + kBlock - 1) / kBlock);
  for (size_t i = 0; i < words.size(); ++i) {
    const unsigned __int128 product = static_cast<unsigned __int128>(keys[i % kBlock]) * words[i];
    uint64_t& hash = hashes[i / kBlock];
    hash = static_cast<uint64_t>((hash + product) % kHashPrime);
  }
  return hashes;
}

Words random_words(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  Words words(count);
  for (uint32_t& word : words) word = generator();
  return words;
}

class HashTest : public KernelsTest {
 protected:
  void SetUp() override {
    KernelsTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    SecretStream secret(7);
    const std::vector<uint64_t> keys = draw_hash_keys(secret);
    table_ = device().allocate(keys.size() * sizeof(uint64_t));
    device().upload(table_, 0, std::as_bytes(std::span(keys)));
  }

  std::vector<uint64_t> hashes_of(const vulkan::Region& region, const Buffer& table) {
    const uint64_t bytes = hash_bytes(region);
    const Buffer hashes = device().allocate(bytes);
    Kernels kernels(device());
    run([&](Commands& c) { kernels.hash(c, region, table.address(), hashes.address()); });
    auto all = download<uint64_t>(hashes);
    all.resize(bytes / sizeof(uint64_t));
    return all;
  }
  std::vector<uint64_t> hashes_of(const Words& words) {
    return hashes_of(whole(upload(words)), table_);
  }
  HashFinding compare(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
    const Buffer a = upload(before), b = upload(after);
    const Buffer finding = device().allocate(sizeof(HashFinding));
    Kernels kernels(device());
    run([&](Commands& c) {
      kernels.compare_hashes(c, a.address(), b.address(), before.size(), finding.address());
    });
    return download<HashFinding>(finding)[0];
  }

  Buffer table_;
};

TEST(HashKeys, AreBelowThePrimeAndDifferForEverySecret) {
  SecretStream one(1), again(1), two(2);
  const auto keys = draw_hash_keys(one);
  EXPECT_EQ(keys.size(), kBlock);
  EXPECT_EQ(keys, draw_hash_keys(again));
  EXPECT_NE(keys, draw_hash_keys(two));
  uint64_t all = 0;
  for (const uint64_t key : keys) {
    ASSERT_LT(key, kHashPrime);
    all |= key;
  }
  EXPECT_EQ(all, kHashPrime);  // Every one of the 61 bits is drawn.
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), keys.size());
}

TEST_F(HashTest, IsTheMultilinearSumModuloThePrime) {
  SecretStream secret(7);
  const auto keys = draw_hash_keys(secret);
  // Around quads, lanes, blocks and workgroups of four blocks.
  for (const size_t count : {size_t{1}, size_t{3}, size_t{4}, size_t{1021}, kBlock - 1, kBlock,
                             kBlock + 1, 4 * kBlock, 4 * kBlock + 2, 11 * kBlock + 77}) {
    const Words words = random_words(count, static_cast<uint32_t>(count));
    EXPECT_EQ(hashes_of(words), hashes_on_host(words, keys)) << count << " words";
  }
}

TEST_F(HashTest, HoldsWithTheLargestKeysAndWords) {
  const std::vector<uint64_t> keys(kBlock, kHashPrime - 1);
  const Buffer table = upload(keys);
  const Words words(5 * kBlock, 0xFFFFFFFFu);
  EXPECT_EQ(hashes_of(whole(upload(words)), table), hashes_on_host(words, keys));
}

TEST_F(HashTest, IsReducedToZero) {
  // 2^30 * 2^30 + (2^30 - 1) * 2^30 + (2^30 - 1) = p, whose residue is 0.
  std::vector<uint64_t> keys(kBlock, 1);
  keys[0] = keys[300] = uint64_t{1} << 30;
  Words words(kBlock, 0);
  words[0] = 0x40000000u;
  words[300] = 0x3FFFFFFFu;
  words[4000] = (1u << 30) - 1;
  EXPECT_EQ(hashes_of(whole(upload(words)), upload(keys)), std::vector<uint64_t>{0});
}

TEST_F(HashTest, LooksAtItsRegionAlone) {
  const Words words = random_words(3 * kBlock, 5);
  const Buffer buffer = upload(words);
  const vulkan::Region region{&buffer, 64, (kBlock + 5) * 4};
  const Words inside(words.begin() + 16, words.begin() + 16 + kBlock + 5);
  EXPECT_EQ(hashes_of(region, table_), hashes_of(inside));
  EXPECT_EQ(hash_bytes(region), 16u);
}

TEST_F(HashTest, SeesEveryChangedBit) {
  const Words words = random_words(4 * kBlock + 7, 1);
  const auto original = hashes_of(words);
  for (const size_t at : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, 4 * kBlock - 1,
                          4 * kBlock, 4 * kBlock + 6}) {
    for (const int bit : {0, 13, 31}) {
      auto changed = words;
      changed[at] ^= 1u << bit;
      const HashFinding found = compare(original, hashes_of(changed));
      EXPECT_EQ(found.changed, 1u) << at << " bit " << bit;
      EXPECT_EQ(found.first, at / kBlock) << at << " bit " << bit;
    }
  }
}

TEST_F(HashTest, SeesChangesThatOtherHashesMiss) {
  Words words = random_words(8 * kBlock, 2);
  const auto original = hashes_of(words);
  const auto complement_quad = [](uint32_t* quad) {  // (a, b, c, d) -> (~c, ~d, ~a, ~b)
    std::swap(quad[0], quad[2]);
    std::swap(quad[1], quad[3]);
    for (int i = 0; i < 4; ++i) quad[i] = ~quad[i];
  };
  const auto first_change = [&](const Words& changed) {
    return compare(original, hashes_of(changed)).first;
  };
  for (const size_t quad : {size_t{0}, size_t{255}, size_t{1024}, 2 * kBlock - 1}) {
    auto changed = words;
    complement_quad(&changed[4 * quad]);
    EXPECT_EQ(first_change(changed), 4 * quad / kBlock) << quad;
  }
  auto all = words;
  for (size_t at = 0; at < all.size(); at += 4) complement_quad(&all[at]);
  EXPECT_EQ(compare(original, hashes_of(all)).changed, 8u);

  for (const size_t apart : {1, 2, 4, 256, 1024, 2048}) {  // Within the block of word 3.
    auto changed = words;
    std::swap(changed[3], changed[3 + apart]);
    EXPECT_EQ(first_change(changed), 0u) << apart;
    changed = words;
    changed[3] ^= 0x00400000u;  // The same bits of two words.
    changed[3 + apart] ^= 0x00400000u;
    EXPECT_EQ(first_change(changed), 0u) << apart;
    changed = words;
    ++changed[3];  // The plain sum stays.
    --changed[3 + apart];
    EXPECT_EQ(first_change(changed), 0u) << apart;
  }
}

TEST_F(HashTest, SeesBlocksThatChangePlaces) {
  const Words words = random_words(8 * kBlock, 3);
  const auto original = hashes_of(words);
  auto changed = words;
  const auto block = [&](size_t i) { return changed.begin() + std::ptrdiff_t(i * kBlock); };
  std::swap_ranges(block(2), block(3), block(5));
  const HashFinding found = compare(original, hashes_of(changed));
  EXPECT_EQ(found.changed, 2u);
  EXPECT_EQ(found.first, 2u);
}

TEST_F(HashTest, ComparesLongArrays) {
  std::vector<uint64_t> before(100001);
  std::iota(before.begin(), before.end(), uint64_t{1} << 40);
  auto after = before;
  HashFinding found = compare(before, after);
  EXPECT_EQ(found.changed, 0u);
  EXPECT_EQ(found.first, 0xFFFFFFFFu);
  after[100000] += uint64_t{1} << 33;  // The upper half counts.
  found = compare(before, after);
  EXPECT_EQ(found.changed, 1u);
  EXPECT_EQ(found.first, 100000u);
  for (uint64_t& hash : after) hash ^= 1;
  found = compare(before, after);
  EXPECT_EQ(found.changed, 100001u);
  EXPECT_EQ(found.first, 0u);
}

}  // namespace
}  // namespace kbench::trial
