// What the sanitizers are told, compiled into every program of such a build: a runner's environment
// is empty, and a test may be started by hand.
#include <dlfcn.h>

#ifdef __SANITIZE_THREAD__
#include <tbb/global_control.h>
#endif

#ifndef KBENCH_FUZZ  // libFuzzer looks for leaks after every input, while drivers are loaded.
/// No search for leaks where Vulkan is loaded: drivers keep what they allocate once, and have been
/// unloaded by the time that their frames would have to be named.
extern "C" int __lsan_is_turned_off() {
  return dlopen("libvulkan.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
}
#endif

/// What drivers keep while they are loaded.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvulkan\n"
         "leak:libLLVM\n"
         "leak:libnvidia\n";
}

#ifdef __SANITIZE_THREAD__
/// Debian's oneTBB is not built with the sanitizer, which therefore sees neither that a task begins
/// after what spawned it nor that parallel_for() returns after its tasks: parallel loops run on
/// their caller's thread. What kbench's own threads do is checked.
const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
#endif

/// The threads of oneTBB, where a test starts some, and of lavapipe and LLVM are not checked.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libtbb.so\n"
         "race:libvulkan_lvp.so\n"
         "race:libLLVM\n";
}

/// The longest history: without it the other side of a race is often forgotten, and what was
/// suppressed is then reported.
extern "C" const char* __tsan_default_options() {
  return "history_size=7:ignore_noninstrumented_modules=1";
}
