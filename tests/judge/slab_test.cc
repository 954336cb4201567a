// Shared memory and its redzones: every word is a tensor's or a zone's, and a finding is named.
#include "harness/measure/judge/slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tests/vulkan/device_fixture.h"

namespace kbench::judge {
namespace {

class SlabTest : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    vulkan::DeviceTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) store_.emplace(device());
  }
  Slab slab(trial::SlabLayout layout, SlabUse use = SlabUse::outputs) {
    return Slab(*store_, std::move(layout), use);
  }

  std::optional<SlabStore> store_;
};

trial::SlabLayout layout_of(const std::vector<uint64_t>& sizes) {
  trial::SlabLayout layout;
  for (size_t i = 0; i < sizes.size(); ++i) layout.add("t" + std::to_string(i), sizes[i]);
  return layout;
}

TEST_F(SlabTest, EveryWordIsATensorsOrAZones) {
  // The last needs many pieces.
  const Slab first = slab(layout_of({4, 6, 256, 100001})), empty,
             second = slab(layout_of({300000}), SlabUse::given);
  const Redzones zones({&first, &empty, &second});
  uint64_t found = 0, expected = 0;
  for (const Slab* slab : {&first, &second}) {
    const uint64_t base = slab->buffer().address();
    std::vector<int> owners(slab->buffer().size() / 4);
    expected += owners.size();
    for (size_t i = 0; i < slab->layout().items().size(); ++i) {
      const vulkan::Region tensor = slab->tensor(i);
      EXPECT_EQ(tensor.buffer, &slab->buffer());
      const uint64_t begin = tensor.offset / 4;
      for (uint64_t w = 0; w < trial::words_of(tensor); ++w) ++owners.at(begin + w);
    }
    for (const trial::Zone& zone : zones.pieces()) {
      EXPECT_LE(zone.words, trial::kZoneWords);
      if (zone.address < base || zone.address >= base + slab->buffer().size()) continue;
      const uint64_t begin = (zone.address - base) / 4;
      for (uint64_t w = 0; w < zone.words; ++w) ++owners.at(begin + w);
    }
    EXPECT_TRUE(std::ranges::all_of(owners, [](int n) { return n == 1; }));
    found += static_cast<uint64_t>(std::ranges::count(owners, 1));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(SlabTest, AFindingNamesTensorSideAndDistance) {
  const Slab slab = this->slab(layout_of({4096, 4096}));
  const Redzones zones({&slab});
  const uint64_t base = slab.buffer().address();
  /// What is said of one changed word at this byte of the slab.
  const auto said = [&](uint64_t byte) -> std::string {
    for (size_t i = 0; i < zones.pieces().size(); ++i) {
      const trial::Zone& zone = zones.pieces()[i];
      if (base + byte < zone.address || base + byte >= zone.address + 4 * zone.words) continue;
      const auto word = static_cast<uint32_t>((base + byte - zone.address) / 4);
      return zones.describe(static_cast<uint32_t>(i), {1, word});
    }
    return "in no zone";
  };
  const trial::SlabLayout::Item &a = slab.layout().items()[0], &b = slab.layout().items()[1];
  EXPECT_EQ(said(0), "wrote 1 words outside t0, the first " + std::to_string(a.offset) +
                         " bytes before its start");
  EXPECT_EQ(said(a.offset - 4), "wrote 1 words outside t0, the first 4 bytes before its start");
  EXPECT_EQ(said(a.offset), "in no zone");
  EXPECT_EQ(said(a.end()), "wrote 1 words outside t0, the first 0 bytes past its end");
  EXPECT_EQ(said(a.end() + 400), "wrote 1 words outside t0, the first 400 bytes past its end");
  EXPECT_EQ(said(b.offset - 8), "wrote 1 words outside t1, the first 8 bytes before its start");
  EXPECT_EQ(said(b.end()), "wrote 1 words outside t1, the first 0 bytes past its end");
  const uint64_t last = slab.buffer().size() - 4;
  EXPECT_EQ(said(last), "wrote 1 words outside t1, the first " + std::to_string(last - b.end()) +
                            " bytes past its end");
}

TEST_F(SlabTest, TwoLayoutsOfOneUseShareMemoryThatFits) {
  constexpr uint64_t kSize = 8 << 20;
  const Slab first = slab(layout_of({kSize}));
  const Slab second = slab(layout_of({kSize / 2, kSize / 2 - 65536}));
  EXPECT_EQ(second.memory(), first.memory());
  // Its redzones reach to the end of the memory.
  const Redzones zones({&second});
  const trial::Zone& last = zones.pieces().back();
  EXPECT_EQ(last.address + 4 * last.words, first.buffer().address() + first.buffer().size());

  EXPECT_NE(slab(layout_of({2 * kSize})).memory(), first.memory());
  EXPECT_NE(slab(layout_of({kSize}), SlabUse::given).memory(), first.memory());
  if (device().snapshot().software()) {  // Too much of it would be redzone.
    EXPECT_NE(slab(layout_of({kSize / 2})).memory(), first.memory());
  }
  const Slab truth = slab(layout_of({kSize}), SlabUse::truth);
  EXPECT_EQ(slab(layout_of({4}), SlabUse::truth).memory(), truth.memory());
}

TEST_F(SlabTest, MemoryThatNoSlabUsesStaysUntilItIsDropped) {
  uint64_t memory = 0;
  {
    const Slab slab = this->slab(layout_of({1 << 20}));
    memory = slab.memory();
    store_->drop_unused();
    EXPECT_TRUE(store_->holds(memory));
    EXPECT_EQ(store_->unused_bytes(), 0u);
    EXPECT_EQ(store_->bytes(), slab.buffer().size());
  }
  EXPECT_TRUE(store_->holds(memory));
  EXPECT_EQ(store_->unused_bytes(), store_->bytes());
  EXPECT_EQ(slab(layout_of({1 << 20})).memory(), memory);
  const uint64_t before = device().allocated_bytes();
  store_->drop_unused();
  EXPECT_FALSE(store_->holds(memory));
  EXPECT_EQ(store_->bytes(), 0u);
  EXPECT_LT(device().allocated_bytes(), before);
}

TEST_F(SlabTest, TheLargestIsDroppedFirstAndNoMoreThanIsAsked) {
  constexpr uint64_t kSmall = 1 << 20, kLarge = 4 << 20;
  uint64_t small = 0, large = 0;
  {
    const Slab one = slab(layout_of({kSmall}), SlabUse::given), other = slab(layout_of({kLarge}));
    small = one.memory();
    large = other.memory();
  }
  store_->drop_unused(kSmall);
  EXPECT_FALSE(store_->holds(large));
  EXPECT_TRUE(store_->holds(small));
}

TEST_F(SlabTest, WhatARunnerHasImportedIsNotSentAgain) {
  const Slab first = slab(layout_of({4096})), second = slab(layout_of({4096}), SlabUse::given);
  Attachment before;
  EXPECT_EQ(before.add(first, true), 0);
  EXPECT_EQ(before.add(second, false), 1);
  EXPECT_EQ(before.add(second, false), 1);
  EXPECT_EQ(before.descriptors.size(), 2u);

  constexpr uint64_t kGone = ~uint64_t{0};
  Attachment after({kGone, second.memory()}, *store_);
  EXPECT_EQ(after.message.kept, std::vector{1});
  EXPECT_EQ(after.add(first, true), 1);
  EXPECT_EQ(after.add(second, false), 0);
  ASSERT_EQ(after.descriptors.size(), 1u);
  EXPECT_TRUE(after.message.slabs.at(0).read_only);
  EXPECT_EQ(after.memories(), (std::vector<uint64_t>{second.memory(), first.memory()}));

  Attachment last = Attachment::second_part(after.memories());
  EXPECT_TRUE(last.message.kept.empty());
  EXPECT_EQ(last.add(first, true), 1);
  EXPECT_TRUE(last.descriptors.empty());
}

}  // namespace
}  // namespace kbench::judge
