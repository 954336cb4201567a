// Which lanes have passed their self-test on this machine.
#include <sys/stat.h>

#include <map>
#include <mutex>

#include "harness/evaluate/self_test/self_test.h"
#include "harness/measure/process/own_folder.h"
#include "harness/measure/runner/python_interpreter.h"
#include "kbench/version.h"
#include "libkbench/base/hash.h"

namespace kbench::self_test {
namespace {

constexpr char kPassed[] = "passed";
constexpr char kPrefix[] = "self-test-";

/// What a pass holds for: the program by its file's size and time of change, the device with its
/// driver, and for modules the Python that runs them.
std::string subject_of(std::string_view lane, const vulkan::DeviceSnapshot& device,
                       const std::string& program) {
  std::string subject = std::string(lane) + "\n" + version() + "\n" + device.name + "\n" +
                        device.driver + "\n" + vulkan::to_string(device.device_uuid) + "\n";
  struct stat file = {};
  if (stat(program.c_str(), &file) == 0) {
    subject += program + " " + std::to_string(file.st_size) + " " +
               std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec);
  }
  if (lane == "torch") {
    if (const auto python = runner::find_python("torch").found) {
      subject += "\n" + python->program + " " + python->version;
    }
  }
  return subject;
}

std::string name_of(const std::string& subject) {
  return kPrefix + Sha256().add(subject).hex().substr(0, 16);
}

}  // namespace

void keep_pass(std::string_view lane, const vulkan::DeviceSnapshot& device,
               const std::string& program) {
  const std::string subject = subject_of(lane, device, program);
  process::OwnFolder(process::cache_folder()).keep(name_of(subject), subject, kPassed);
}

std::string fault_of_lane(std::string_view lane, const vulkan::DeviceSnapshot& device,
                          const std::string& program, const Judge& judge) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;  // subject -> fault
  const std::lock_guard lock(mutex);
  const std::string subject = subject_of(lane, device, program);
  if (const auto found = known.find(subject); found != known.end()) return found->second;
  const process::OwnFolder folder(process::cache_folder());
  const std::string name = name_of(subject);
  std::string fault;
  if (folder.kept(name, subject) != kPassed) {
    fault = test(lane, plants(lane), device, judge).fault();
    if (fault.empty()) folder.keep(name, subject, kPassed);
    folder.forget_stale(kPrefix, name);
  }
  return known[subject] = fault;
}

}  // namespace kbench::self_test
