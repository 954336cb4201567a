// The choice of the python3 that translates Triton kernels, and the files that it may read.
#include "harness/measure/runner/python_interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python_helper.h"
#include "kbench/error.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

namespace kbench::runner {
namespace {

using cuda::kPythonFolders;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::ScratchFolder;

constexpr const char* kSystemPython = "/usr/bin/python3";

/// Sets an environment variable during a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value.empty()) {
      unsetenv(name);
    } else {
      setenv(name, value.c_str(), 1);
    }
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class PythonInterpreterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kSystemPython)) GTEST_SKIP() << "no " << kSystemPython;
  }
  void program(const std::string& name, const std::string& text) const {
    folder_.write(name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(folder_.path(name), std::filesystem::perms::owner_all);
  }
  /// A virtual environment with a package in it.
  void environment(const std::string& name) const {
    const std::string made = std::string(kSystemPython) + " -m venv --without-pip '" +
                             folder_.path(name) + "' 2>/dev/null";
    if (std::system(made.c_str()) != 0) GTEST_SKIP() << "no module venv";
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path(name + "/lib"))) {
      const std::string version = entry.path().filename();
      folder_.write(name + "/lib/" + version + "/site-packages/kbench_package/__init__.py",
                    "word = 'imported'\n");
    }
  }
  /// What the script answers, by a helper that has the package; nothing where it is not locked in.
  static std::optional<std::string> run_locked_in(const std::string& script) {
    PythonHelper helper;
    try {
      return helper.run({.package = "kbench_package", .script = script, .files = {}, .input = ""});
    } catch (const Error& e) {
      if (e.message().find("Landlock") == std::string::npos) throw;
      return std::nullopt;
    }
  }

  const ScratchFolder folder_;
  const Variable named_{"KBENCH_PYTHON", ""}, venv_{"VIRTUAL_ENV", ""},
      folders_{kPythonFolders, ""};
};

TEST_F(PythonInterpreterTest, IsTheFirstOnPathThatHasThePackage) {
  program("broken/python3", "exit 1");
  environment("venv");
  if (IsSkipped()) return;
  const Variable path("PATH", "relative:" + folder_.path("nowhere") + ":" + folder_.path("broken") +
                                  ":/usr/bin:" + folder_.path("venv/bin"));
  const PythonSearch search = find_python("kbench_package");
  ASSERT_TRUE(search.found) << search.tried;
  EXPECT_EQ(search.found->program, folder_.path("venv/bin/python3"));
  EXPECT_EQ(search.tried, "'/usr/bin/python3' has no package 'kbench_package'");  // no broken one
  EXPECT_THAT(search.found->readable, Contains(folder_.path("venv/pyvenv.cfg")));
  EXPECT_THAT(search.found->readable, Contains(folder_.path("venv/lib")));
  EXPECT_THAT(search.found->readable, Not(Contains(folder_.path("venv"))));
  EXPECT_THAT(search.found->readable, Not(Contains(folder_.path())));
}

/// It is not imported: that takes seconds.
TEST_F(PythonInterpreterTest, SaysWhatPytorchWasBuiltFor) {
  for (const auto& [version_file, cuda] : std::map<std::string, std::string>{
           {"from typing import Optional\n\n__all__ = ['__version__', 'cuda']\n"
            "__version__ = '2.9'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n",
            "12.8"},
           {"cuda = '11.7'\n", "11.7"},
           {"cuda: Optional[str] = None\n", ""},
           {"__version__ = '1'\n", ""},
           {"(", ""}}) {
    folder_.write("modules/kbench_package/__init__.py", "raise SystemExit('imported')\n");
    folder_.write("modules/kbench_package/version.py", version_file);
    folder_.write("modules/kbench_package-2.9+cu128.dist-info/METADATA",
                  "Metadata-Version: 2.1\nName: kbench-package\nVersion: 2.9+cu128\n");
    program("python3", "shift\nPYTHONPATH='" + folder_.path("modules") + "' exec " + kSystemPython +
                           " \"$@\"");
    const Variable named("KBENCH_PYTHON", folder_.path("python3"));
    const PythonSearch search = find_python("kbench_package");
    ASSERT_TRUE(search.found) << search.tried;
    EXPECT_EQ(search.found->version, "2.9+cu128");
    EXPECT_EQ(search.found->cuda, cuda) << version_file;
  }
}

TEST_F(PythonInterpreterTest, OfAVirtualEnvironmentRunsLockedIn) {
  environment("venv");
  if (IsSkipped()) return;
  const Variable path("PATH", folder_.path("venv/bin"));
  const auto said =
      run_locked_in("import os, kbench_package\nos.write(3, kbench_package.word.encode())\n");
  if (!said) GTEST_SKIP() << "no Landlock";
  EXPECT_EQ(*said, "imported");
}

TEST_F(PythonInterpreterTest, NamedByTheUserIsTheOnlyOneThatIsTried) {
  const Variable named("KBENCH_PYTHON", "/nowhere/python3");
  EXPECT_THAT(python_programs(), ElementsAre("/nowhere/python3"));
  const PythonSearch search = find_python("");
  EXPECT_FALSE(search.found);
  EXPECT_EQ(search.tried, "'/nowhere/python3' cannot be run");
}

TEST_F(PythonInterpreterTest, MissingIsReportedWithAllThatWereTried) {
  const Variable path("PATH", "/usr/bin");
  PythonHelper helper;
  const Error e = error_of(
      [&] { helper.run({.package = "kbench_no_such", .script = "", .files = {}, .input = ""}); });
  EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(e.message(), HasSubstr("'/usr/bin/python3' has no package 'kbench_no_such'"));
  EXPECT_THAT(e.message(), HasSubstr("KBENCH_PYTHON"));
}

/// A wrapper in ~/bin makes itself and what it starts readable, and nothing else of the home.
TEST_F(PythonInterpreterTest, InAHomeGivesAwayNothingOfTheHome) {
  folder_.write("secret", "s");
  folder_.write("bin/modules/kbench_package/__init__.py", "word = 'imported'\n");
  program("bin/python3", "shift\nPYTHONPATH='" + folder_.path("bin/modules") + "' exec " +
                             kSystemPython + " \"$@\"");
  const Variable home("HOME", folder_.path());
  const Variable named("KBENCH_PYTHON", folder_.path("bin/python3"));
  const PythonSearch search = find_python("kbench_package");
  ASSERT_TRUE(search.found) << search.tried;
  EXPECT_EQ(search.found->program, folder_.path("bin/python3"));
  for (const std::string& path : search.found->readable) {
    EXPECT_FALSE(folder_.path("secret").starts_with(path + "/")) << path;
  }
  const auto said =
      run_locked_in("import os, kbench_package\ntry:\n  open('" + folder_.path("secret") +
                    "')\n  os.write(3, b'read')\nexcept OSError:\n  os.write(3, b'refused')\n");
  if (!said) GTEST_SKIP() << "no Landlock";
  EXPECT_EQ(*said, "refused");
}

TEST_F(PythonInterpreterTest, ReachesRunnersWithoutPath) {
  program("one/python3", "exit 1");
  const Variable path("PATH", folder_.path("none") + ":" + folder_.path("one") + ":relative");
  EXPECT_THAT(sanitized_environment(),
              Contains(kPythonFolders + std::string("=") + folder_.path("one")));
  const Variable folders(kPythonFolders, folder_.path("one"));
  const Variable other("PATH", "/usr/bin");
  EXPECT_EQ(python_programs().front(), folder_.path("one/python3"));
}

/// A version manager's script needs its own variables; runners get what it starts.
TEST_F(PythonInterpreterTest, BehindAScriptReachesRunners) {
  environment("venv");
  if (IsSkipped()) return;
  program("shims/python3", "[ -n \"$KBENCH_TEST_MANAGER\" ] || exit 1\nexec '" +
                               folder_.path("venv/bin/python3") + "' \"$@\"");
  const Variable path("PATH", folder_.path("shims"));
  const Variable manager("KBENCH_TEST_MANAGER", "here");
  EXPECT_THAT(sanitized_environment(),
              Contains(kPythonFolders + std::string("=") + folder_.path("venv/bin") + ":" +
                       folder_.path("shims")));
  // In the runner:
  const Variable unset("KBENCH_TEST_MANAGER", "");
  const Variable folders(kPythonFolders, folder_.path("venv/bin") + ":" + folder_.path("shims"));
  const PythonSearch search = find_python("kbench_package");
  ASSERT_TRUE(search.found) << search.tried;
  EXPECT_EQ(search.found->program, folder_.path("venv/bin/python3"));
  EXPECT_EQ(find_python("kbench_no_such").tried.find("shims"), std::string::npos);
}

/// NVRTC and nvJitLink come with PyTorch, in the environment whose python3 is on PATH.
TEST_F(PythonInterpreterTest, OnPathHasCompilersAmongItsPackages) {
  program("venv/bin/python3", "exit 1");
  const std::string site = "venv/lib/python3.11/site-packages";
  folder_.write(site + "/nvidia/nvjitlink/lib/libnvJitLink.so.12", "");
  const Variable path("PATH", folder_.path("venv/bin"));
  EXPECT_THAT(cuda::toolkit_places().site, Contains(folder_.path(site)));
  const Variable other("PATH", "/usr/bin");
  EXPECT_THAT(cuda::toolkit_places().site, Not(Contains(folder_.path(site))));
  const Variable named("KBENCH_PYTHON", folder_.path("venv/bin/python3"));
  EXPECT_THAT(cuda::toolkit_places().site, Contains(folder_.path(site)));
}

}  // namespace
}  // namespace kbench::runner
