#include "tests/process/no_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace kbench::testing_support {
namespace {

constexpr int kAny = std::numeric_limits<int>::max();
std::atomic<int> threads_left = kAny;

}  // namespace

NoThreads::NoThreads(int allowed) { threads_left = allowed; }
NoThreads::~NoThreads() { threads_left = kAny; }

}  // namespace kbench::testing_support

/// Replaces the system's function, which std::thread calls.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  using kbench::testing_support::threads_left;
  if (threads_left != kbench::testing_support::kAny && threads_left-- <= 0) return EAGAIN;
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}
