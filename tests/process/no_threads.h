// A process in which no thread can be started, as under a limit on processes.
#pragma once

namespace kbench::testing_support {

/// During its life only so many more threads can be started. One object at a time.
class NoThreads {
 public:
  explicit NoThreads(int allowed = 0);
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
};

}  // namespace kbench::testing_support
