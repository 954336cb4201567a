// Removal of the scratch folder and the processes of Triton's Python.
#include "harness/measure/runner/python_scratch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/measure/process/channel.h"
#include "harness/measure/runner/python_group.h"
#include "tests/candidate/support.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;
using testing_support::ScratchFolder;

/// Nested folders, each with a file, deeper than the longest path.
void nest(const std::string& top, int depth) {
  int folder = open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(mkdirat(folder, "a_folder_with_a_name", 0700), 0);
    const int next = openat(folder, "a_folder_with_a_name", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(openat(next, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    close(folder);
    folder = next;
  }
  close(folder);
}

TEST(PythonScratch, GoesHoweverDeepItsFoldersAre) {
  const ScratchFolder outside;
  const PythonScratch scratch;
  nest(scratch.path(), 700);
  EXPECT_EQ(remove_tree(scratch.path()), "");
  EXPECT_FALSE(std::filesystem::exists(scratch.path()));
  EXPECT_EQ(remove_tree(scratch.path()), "");
}

TEST(PythonScratch, RemovesUnreadableFoldersAndFollowsNoLinks) {
  const ScratchFolder outside;
  outside.write("kept/file", "x");
  const PythonScratch scratch;
  for (const char* mode : {"000", "500", "100"}) {
    const std::string folder = scratch.path(mode);
    std::filesystem::create_directories(folder + "/below/deeper");
    std::ofstream(folder + "/file") << "x";
    ASSERT_EQ(chmod((folder + "/below").c_str(), 0), 0);
    ASSERT_EQ(chmod(folder.c_str(), static_cast<mode_t>(std::stoi(mode, nullptr, 8))), 0);
  }
  std::filesystem::create_directory_symlink(outside.path("kept"), scratch.path("link"));
  std::filesystem::create_directories(scratch.path(".up-0/.up-1"));
  ASSERT_EQ(mkfifo(scratch.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(remove_tree(scratch.path()), "");
  EXPECT_FALSE(std::filesystem::exists(scratch.path()));
  EXPECT_TRUE(std::filesystem::exists(outside.path("kept/file")));
  EXPECT_EQ(std::filesystem::status(outside.path("kept")).permissions() &
                std::filesystem::perms::owner_all,
            std::filesystem::perms::owner_all);
}

TEST(PythonScratch, HasLimitsOnFilesBytesAndDepth) {
  const PythonScratch scratch;
  for (int i = 0; i < 20; ++i) std::ofstream(scratch.path("f" + std::to_string(i))) << "x";
  EXPECT_EQ(over_limit(scratch.path(), {}), "");
  EXPECT_THAT(over_limit(scratch.path(), {.bytes = 1 << 30, .files = 19, .depth = 9}),
              HasSubstr("19 files"));
  std::ofstream(scratch.path("large")) << std::string(100000, 'x') << std::flush;
  EXPECT_THAT(over_limit(scratch.path(), {.bytes = 50000, .files = 99, .depth = 9}),
              HasSubstr("50000 bytes"));
  nest(scratch.path(), 12);
  EXPECT_THAT(over_limit(scratch.path(), {.bytes = 1 << 30, .files = 99, .depth = 9}),
              HasSubstr("deeper than 9"));
  ASSERT_EQ(chmod(scratch.path("a_folder_with_a_name").c_str(), 0), 0);
  EXPECT_THAT(over_limit(scratch.path(), {.bytes = 1 << 30, .files = 99, .depth = 9}),
              HasSubstr("deeper than 9"));
}

TEST(PythonGroup, GoesWithItsFolderWhenItsHelperIsKilled) {
  const ScratchFolder folder;
  folder.write("scratch/file", "x");
  auto [read_end, write_end] = process::make_pipe();
  const pid_t helper = fork();
  ASSERT_GE(helper, 0);
  if (helper == 0) {
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      close(read_end.get());
      for (;;) pause();  // holds the pipe's end
    }
    setpgid(job, job);
    const GroupGuard guard(job, folder.path("scratch"));
    kill(getpid(), SIGKILL);
  }
  write_end.reset();
  int status = 0;
  ASSERT_EQ(waitpid(helper, &status, 0), helper);
  EXPECT_TRUE(WIFSIGNALED(status));
  char byte = 0;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);  // no process has it open any more
  for (int i = 0; i < 5000 && std::filesystem::exists(folder.path("scratch")); ++i) usleep(1000);
  EXPECT_FALSE(std::filesystem::exists(folder.path("scratch")));
}

}  // namespace
}  // namespace kbench::runner
