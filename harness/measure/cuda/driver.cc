#include "harness/measure/cuda/driver.h"

#include <algorithm>
#include <cstring>

#include "harness/measure/cuda/driver_state.h"
#include "libkbench/base/hash.h"

namespace kbench::cuda {
namespace {

using driver::Result;

ErrorCode code_of(Result result) {
  if (result == driver::kMemory) return ErrorCode::kOutOfMemory;
  return result == driver::kLaunchTimeout ? ErrorCode::kTimeout : ErrorCode::kInternal;
}

[[noreturn]] void unsupported(const std::string& message) {
  throw Error(ErrorCode::kUnsupported, message);
}

/// Throws kUnsupported where NVML is not there or does not know the device.
ComputeCapability ask_nvml(const std::array<uint8_t, 16>& uuid) {
  const Library library({"libnvidia-ml.so.1"});
  if (!library.there()) unsupported(library.reason());
  int (*init)() = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*capability)(void*, int*, int*) = nullptr;
  int (*shutdown)() = nullptr;
  if (!library.get("nvmlInit_v2", init) || !library.get("nvmlDeviceGetHandleByUUID", by_uuid) ||
      !library.get("nvmlDeviceGetCudaComputeCapability", capability) ||
      !library.get("nvmlShutdown", shutdown)) {
    unsupported("libnvidia-ml.so.1 lacks a function");
  }
  int result = init();
  if (result != kSuccess) unsupported("nvmlInit gave " + std::to_string(result));
  ComputeCapability found;
  void* device = nullptr;
  result = by_uuid(("GPU-" + uuid_text(uuid)).c_str(), &device);
  if (result == kSuccess) result = capability(device, &found.major, &found.minor);
  shutdown();
  if (result == kSuccess && found.known()) return found;
  unsupported("NVML gave " + std::to_string(result) + " for GPU-" + uuid_text(uuid));
}

}  // namespace

DriverError::DriverError(int result, const std::string& message)
    : Error(code_of(result), message), result_(result) {}

bool DriverError::faulted() const {
  return result_ == driver::kIllegalAddress || result_ == driver::kMisalignedAddress ||
         result_ == driver::kInvalidAddressSpace;
}

bool DriverError::crashed() const {
  return result_ == driver::kAssert || result_ == driver::kHardwareStack ||
         result_ == driver::kIllegalInstruction || result_ == driver::kInvalidPc ||
         result_ == driver::kLaunchFailed;
}

bool DriverError::too_much() const {
  return result_ == driver::kOutOfResources || result_ == driver::kInvalidClusterSize ||
         result_ == driver::kInvalidValue;
}

void Driver::State::check(Result result, const char* call) {
  if (result == driver::kSuccess) return;
  const char *name = nullptr, *text = nullptr;
  calls.error_name(result, &name);
  calls.error_string(result, &text);
  std::string message = std::string(call) + " gave " + (name ? name : "an error") + " (" +
                        std::to_string(result) + ")";
  if (text) message += std::string(": ") + text;
  const DriverError error(result, message);
  // After these a context is lost.
  if (error.faulted() || error.crashed() || result == driver::kLaunchTimeout) hung = true;
  throw error;
}

driver::Device Driver::State::find(const std::array<uint8_t, 16>& uuid) const {
  int count = 0;
  const Result counted = calls.device_count(&count);
  for (int i = 0; counted == driver::kSuccess && i < count; ++i) {
    driver::Device device = 0;
    char its[16] = {};
    if (calls.device_get(&device, i) != driver::kSuccess ||
        calls.device_uuid(its, device) != driver::kSuccess) {
      continue;
    }
    if (std::memcmp(its, uuid.data(), sizeof its) == 0) return device;
  }
  unsupported("CUDA's driver does not know the device: none of its " + std::to_string(count) +
              " has the UUID " + uuid_text(uuid));
}

void Driver::State::load() {
  if (!library.there()) unsupported("CUDA's driver cannot be opened: " + library.reason());
  if (const char* missing = calls.fill(library)) {
    unsupported("'" + library.name() + "' is no CUDA driver of version 11.4 or later: it lacks " +
                missing);
  }
  try {
    check(calls.init(0), "cuInit");
  } catch (const DriverError& error) {
    unsupported("CUDA's driver does not start: " + error.message());
  }
}

ComputeCapability device_capability(const std::array<uint8_t, 16>& uuid) {
  std::string why;
  try {
    return ask_nvml(uuid);
  } catch (const Error& error) {
    why = error.message();
  }
  try {
    ComputeCapability found;
    Driver::State state({"libcuda.so.1"});
    state.load();
    state.device = state.find(uuid);
    const auto ask = [&](int attribute, int& value) {
      state.check(state.calls.device_attribute(&value, attribute, state.device),
                  "cuDeviceGetAttribute");
    };
    ask(driver::kMajor, found.major);
    ask(driver::kMinor, found.minor);
    return found;
  } catch (const Error& error) {
    unsupported("the device's compute capability is not known: NVML: " + why +
                "; CUDA: " + error.message());
  }
}

void Driver::State::open() {
  driver::Context context = nullptr;
  check(calls.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(calls.context_set(context), "cuCtxSetCurrent");
  // As small as allowed, since none of it is used. Some devices lack some of these limits.
  for (const int limit : {driver::kPrintfFifo, driver::kMallocHeap, driver::kPersistingL2}) {
    calls.context_limit(limit, 0);
  }
  int shared = 0;
  check(calls.device_attribute(&shared, driver::kSharedOptIn, device), "cuDeviceGetAttribute");
  shared_bytes = static_cast<uint64_t>(std::max(shared, 0));
  check(calls.stream_create(&stream, driver::kNonBlockingStream), "cuStreamCreate");
  check(calls.allocate(&lead, kLeadBytes), "cuMemAlloc");
}

Driver::Driver(const std::array<uint8_t, 16>& uuid, const std::vector<std::string>& libraries)
    : state_(std::make_unique<State>(libraries)) {
  State& s = *state_;
  s.load();
  s.device = s.find(uuid);
  try {
    s.open();
  } catch (const DriverError& error) {
    if (error.code() == ErrorCode::kOutOfMemory) throw;
    unsupported("CUDA's driver does not open the device: " + error.message());
  }
}

Driver::~Driver() = default;

bool Driver::hung() const { return state_->hung; }

uint64_t Driver::import(UniqueFd descriptor, uint64_t bytes) {
  State& s = *state_;
  driver::ExternalMemoryHandleDesc handle;
  handle.handle.fd = descriptor.get();
  handle.size = bytes;
  handle.flags = driver::kDedicated;
  driver::ExternalMemory memory = nullptr;
  s.check(s.calls.import_memory(&memory, &handle), "cuImportExternalMemory");
  static_cast<void>(descriptor.release());  // the driver's once the import has succeeded
  driver::ExternalMemoryBufferDesc buffer;
  buffer.size = bytes;
  driver::Pointer address = 0;
  s.check(s.calls.map_buffer(&address, memory, &buffer), "cuExternalMemoryGetMappedBuffer");
  s.imports.push_back({address, memory});
  return address;
}

void Driver::release_imports() {
  State& s = *state_;
  for (const State::Import& each : std::exchange(s.imports, {})) {
    if (s.hung) return;
    s.check(s.calls.free(each.address), "cuMemFree");
    s.check(s.calls.destroy_memory(each.external), "cuDestroyExternalMemory");
  }
}

std::pair<uint64_t, uint64_t> Driver::open_peer(const PeerHandle& handle) {
  State& s = *state_;
  driver::PeerHandle name;
  std::ranges::copy(handle, name.bytes);
  driver::Pointer address = 0, base = 0;
  s.check(s.calls.peer_open(&address, name, driver::kPeerAccess), "cuIpcOpenMemHandle");
  size_t bytes = 0;
  s.check(s.calls.address_range(&base, &bytes, address), "cuMemGetAddressRange");
  return {address, base + bytes - address};
}

void Driver::close_peer(uint64_t address) {
  State& s = *state_;
  if (!s.hung) s.check(s.calls.peer_close(address), "cuIpcCloseMemHandle");
}

DriverKernel Driver::load(std::span<const std::byte> cubin, const std::string& entry) {
  State& s = *state_;
  driver::Module module = nullptr;
  s.check(s.calls.module_load(&module, cubin.data()), "cuModuleLoadData");
  driver::Function function = nullptr;
  s.check(s.calls.module_function(&function, module, entry.c_str()), "cuModuleGetFunction");
  return {function};
}

std::string Driver::allow(const DriverKernel& kernel, const DriverLaunch& launch) {
  State& s = *state_;
  const auto function = static_cast<driver::Function>(kernel.function);
  int own = 0;
  s.check(s.calls.function_attribute(&own, driver::kSharedBytes, function), "cuFuncGetAttribute");
  const uint64_t shared = static_cast<uint64_t>(std::max(own, 0)) + launch.shared_bytes;
  if (shared > s.shared_bytes) {
    return "takes " + std::to_string(shared) + " bytes of shared memory, the device has " +
           std::to_string(s.shared_bytes) + " for a block";
  }
  int most = 0;
  s.check(s.calls.function_attribute(&most, driver::kMostDynamicShared, function),
          "cuFuncGetAttribute");
  if (static_cast<int64_t>(launch.shared_bytes) > most) {
    s.check(s.calls.set_function_attribute(function, driver::kMostDynamicShared,
                                           static_cast<int>(launch.shared_bytes)),
            "cuFuncSetAttribute");
  }
  return "";
}

}  // namespace kbench::cuda
