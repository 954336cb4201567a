// Pipelines that several processes share: each is compiled by one of them.
#include "harness/measure/runner/kept_pipelines.h"

#include <gtest/gtest.h>
#include <utime.h>

#include <filesystem>
#include <future>
#include <string>

#include "tests/candidate/support.h"

namespace kbench::runner {
namespace {

using Use = PipelineFiles::Use;

class KeptPipelinesTest : public ::testing::Test {
 protected:
  /// As another process has it.
  PipelineFiles files() const { return PipelineFiles(folder_.path("cache/pipelines")); }
  /// Of pipelines that are being compiled.
  int marks() const {
    int marks = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder_.path("cache/pipelines"))) {
      marks += each.path().extension() == ".compiling" ? 1 : 0;
    }
    return marks;
  }

  testing_support::ScratchFolder folder_;
};

TEST_F(KeptPipelinesTest, WhatIsKeptIsFoundForItsSubject) {
  EXPECT_EQ(files().find("a", "device driver", Use::write), "");
  files().keep("a", "device driver", "compiled");
  EXPECT_EQ(files().find("a", "device driver", Use::write), "compiled");
  EXPECT_EQ(files().find("a", "device driver", Use::read), "compiled");
  EXPECT_EQ(files().find("a", "another driver", Use::read), "");
  EXPECT_EQ(files().find("b", "device driver", Use::read), "");
  EXPECT_EQ(marks(), 0);
}

TEST_F(KeptPipelinesTest, OneCompilesAndTheOthersWaitForIt) {
  EXPECT_EQ(files().find("a", "s", Use::write), "");
  EXPECT_EQ(marks(), 1);
  const auto look = [this](Use use) {
    return std::async(std::launch::async, [=, this] { return files().find("a", "s", use); });
  };
  auto writer = look(Use::write), reader = look(Use::read);
  files().keep("a", "s", "compiled");
  EXPECT_EQ(writer.get(), "compiled");
  EXPECT_EQ(reader.get(), "compiled");
  EXPECT_EQ(marks(), 0);
}

TEST_F(KeptPipelinesTest, WhereTheOneKeepsNothingTheNextCompiles) {
  EXPECT_EQ(files().find("a", "s", Use::write), "");
  auto next = std::async(std::launch::async, [this] { return files().find("a", "s", Use::write); });
  files().keep("a", "s", "");
  EXPECT_EQ(next.get(), "");
  EXPECT_EQ(marks(), 1) << "the next one's";
  files().keep("a", "s", "compiled");
  EXPECT_EQ(files().find("a", "s", Use::read), "compiled");
}

TEST_F(KeptPipelinesTest, AProcessThatEndedMeanwhileIsNotWaitedFor) {
  EXPECT_EQ(files().find("a", "s", Use::write), "");
  const utimbuf long_ago = {1, 1};
  ASSERT_EQ(utime(folder_.path("cache/pipelines/pipeline-a.compiling").c_str(), &long_ago), 0);
  EXPECT_EQ(files().find("a", "s", Use::read), "");
  EXPECT_EQ(files().find("a", "s", Use::write), "");
  files().keep("a", "s", "compiled");
  EXPECT_EQ(files().find("a", "s", Use::read), "compiled");
}

TEST_F(KeptPipelinesTest, WhereNothingIsKeptNothingIsFound) {
  const PipelineFiles none("");
  EXPECT_FALSE(none.there());
  none.keep("a", "s", "compiled");
  EXPECT_EQ(none.find("a", "s", Use::write), "");
}

}  // namespace
}  // namespace kbench::runner
