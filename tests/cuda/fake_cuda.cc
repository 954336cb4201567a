// A library with the functions of CUDA's driver that kbench calls. Its kernels are functions of
// this file by name, its device memory is what it is given to import, and time passes by a
// microsecond a step. "fault", "trap" and "hang" do what they say.
#include "tests/cuda/fake_cuda.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "harness/measure/cuda/driver_calls.h"

namespace {

using kbench::testing_support::FakeCuda;
using kbench::testing_support::FakeLaunch;
using namespace kbench::cuda::driver;  // NOLINT

using Work = std::function<void()>;

FakeCuda the;
int sticky = 0;  ///< of the context
bool hangs = false;
double now_ns = 0;
std::vector<Work>* capture = nullptr;
std::map<Event, double> events;
std::map<Pointer, std::unique_ptr<char[]>> allocated;
std::set<std::string> names;

/// What every call begins with; 0 to go on.
int begin(const char* call) {
  if (the.fail_call == call) return the.fail_with;
  return sticky;
}

template <class T>
T parameter(const std::vector<char>& bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

/// y[i] = max(x[i], 0) for (x, y, n), by as many threads as there are.
void relu(const FakeLaunch& launch, const std::vector<char>& bytes) {
  const auto* x = reinterpret_cast<const float*>(parameter<uint64_t>(bytes, 0));
  auto* y = reinterpret_cast<float*>(parameter<uint64_t>(bytes, 8));
  const uint64_t n = std::min<uint64_t>(parameter<uint32_t>(bytes, 16),
                                        uint64_t{launch.grid[0]} * launch.block[0]);
  for (uint64_t i = 0; i < n; ++i) y[i] = std::max(x[i], 0.0f);
}

void run(const FakeLaunch& launch, const std::vector<char>& bytes) {
  if (sticky != 0 || hangs) return;
  the.launches.push_back(launch);
  now_ns += 1000;
  if (launch.kernel == "fault") sticky = kIllegalAddress;
  if (launch.kernel == "trap") sticky = kLaunchFailed;
  if (launch.kernel == "hang") hangs = true;
  if (launch.kernel == "relu") relu(launch, bytes);
}

int put(const char* call, Work work) {
  if (const int error = begin(call)) return error;
  if (capture) {
    capture->push_back(std::move(work));
  } else {
    the.calls.emplace_back(call);
    work();
  }
  return kSuccess;
}

}  // namespace

extern "C" {

/// As at the start of a process.
FakeCuda* fake_cuda() {
  the = FakeCuda();
  sticky = 0;
  hangs = false;
  return &the;
}

int cuInit(unsigned) { return begin("cuInit"); }
int cuGetErrorName(int result, const char** text) {
  *text = result == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
  return *text ? kSuccess : kInvalidValue;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == kIllegalAddress ? "an illegal memory access was encountered" : nullptr;
  return *text ? kSuccess : kInvalidValue;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return begin("cuDeviceGetCount");
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return kSuccess;
}
int cuDeviceGetUuid_v2(char* uuid, int device) {
  std::memset(uuid, 0xee, 16);
  if (device == 1) std::memcpy(uuid, the.uuid.data(), 16);
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  if (device != 1) return kInvalidValue;
  *value = which == kSharedOptIn ? the.shared_bytes : 9;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(Context* context, int) {
  *context = reinterpret_cast<Context>(&the);
  return begin("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(Context) { return begin("cuCtxSetCurrent"); }
int cuCtxSetLimit(int, size_t bytes) { return bytes == 0 ? kSuccess : kInvalidValue; }

int cuImportExternalMemory(ExternalMemory* memory, const ExternalMemoryHandleDesc* description) {
  if (const int error = begin("cuImportExternalMemory")) return error;
  if (description->type != kOpaqueFd) return kInvalidValue;
  void* at = mmap(nullptr, description->size, PROT_READ | PROT_WRITE, MAP_SHARED,
                  description->handle.fd, 0);
  if (at == MAP_FAILED) return kInvalidValue;
  close(description->handle.fd);
  the.closed.push_back(description->handle.fd);
  *memory = static_cast<ExternalMemory>(at);
  return kSuccess;
}
int cuExternalMemoryGetMappedBuffer(Pointer* address, ExternalMemory memory,
                                    const ExternalMemoryBufferDesc* description) {
  *address = reinterpret_cast<Pointer>(memory) + description->offset;
  return begin("cuExternalMemoryGetMappedBuffer");
}
int cuDestroyExternalMemory(ExternalMemory) { return begin("cuDestroyExternalMemory"); }
int cuMemAlloc_v2(Pointer* address, size_t bytes) {
  if (const int error = begin("cuMemAlloc_v2")) return error;
  auto memory = std::make_unique<char[]>(1);  // Nobody looks at it.
  *address = reinterpret_cast<Pointer>(memory.get());
  allocated[*address] = std::move(memory);
  return bytes > 0 ? kSuccess : kInvalidValue;
}
int cuMemFree_v2(Pointer) { return kSuccess; }

/// The handle of another process's allocation is its address and its size here.
int cuIpcOpenMemHandle_v2(Pointer* address, PeerHandle handle, unsigned flags) {
  if (const int error = begin("cuIpcOpenMemHandle_v2")) return error;
  if (flags != kPeerAccess) return kInvalidValue;
  std::memcpy(address, handle.bytes, sizeof *address);
  size_t bytes = 0;
  std::memcpy(&bytes, handle.bytes + sizeof *address, sizeof bytes);
  the.peers[*address] = bytes;
  return bytes > 0 ? kSuccess : kInvalidValue;
}
int cuIpcCloseMemHandle(Pointer address) {
  return the.peers.erase(address) == 1 ? kSuccess : kInvalidValue;
}
int cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer address) {
  if (!the.peers.contains(address)) return kInvalidValue;
  *base = address;
  *bytes = the.peers.at(address);
  return kSuccess;
}

int cuModuleLoadData(Module* module, const void* image) {
  *module = reinterpret_cast<Module>(const_cast<void*>(image));
  return begin("cuModuleLoadData");
}
int cuModuleUnload(Module) { return kSuccess; }
int cuModuleGetFunction(Function* function, Module, const char* name) {
  if (std::string_view(name) == "missing") return 500;
  *function = reinterpret_cast<Function>(const_cast<std::string*>(&*names.insert(name).first));
  return begin("cuModuleGetFunction");
}
int cuFuncGetAttribute(int* value, int which, Function) {
  *value = which == kSharedBytes ? 1024 : which == kMostDynamicShared ? the.dynamic_shared : 0;
  return kSuccess;
}
int cuFuncSetAttribute(Function, int which, int value) {
  if (which == kMostDynamicShared) the.dynamic_shared = value;
  return begin("cuFuncSetAttribute");
}

int cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   Stream, void** parameters, void** extra) {
  std::vector<char> bytes;
  if (parameters) return kInvalidValue;
  if (extra) {
    if (extra[0] != kParameterPointer || extra[2] != kParameterSize || extra[4] != kParameterEnd) {
      return kInvalidValue;
    }
    bytes.resize(*static_cast<size_t*>(extra[3]));
    std::memcpy(bytes.data(), extra[1], bytes.size());
  }
  const FakeLaunch launch{*reinterpret_cast<const std::string*>(function),
                          {grid_x, grid_y, grid_z},
                          {block_x, block_y, block_z},
                          shared_bytes};
  return put("cuLaunchKernel", [=] { run(launch, bytes); });
}
int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Stream) {
  return put("cuMemcpyDtoDAsync", [=] {
    now_ns += 1000;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
}
int cuMemcpy2DAsync_v2(const Copy2d* copy, Stream) {
  return put("cuMemcpy2DAsync", [rows = *copy] {
    now_ns += 1000;
    for (size_t row = 0; row < rows.height; ++row) {
      std::memcpy(reinterpret_cast<void*>(rows.to + row * rows.to_pitch),
                  reinterpret_cast<const void*>(rows.from + row * rows.from_pitch), rows.width);
    }
  });
}
int cuMemsetD32Async(Pointer to, unsigned word, size_t words, Stream) {
  if (allocated.contains(to)) {
    return put("lead", [] {
      the.leads += 1;
      if (the.slow_leads > 0) {
        the.slow_leads -= 1;
        usleep(2000);
      }
    });
  }
  return put("cuMemsetD32Async", [=] {
    now_ns += 1000;
    std::fill_n(reinterpret_cast<uint32_t*>(to), words, word);
  });
}

int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  if (const int error = begin("cuMemcpyHtoD_v2")) return error;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
int cuCtxSynchronize() { return begin("cuCtxSynchronize"); }
int cuDevicePrimaryCtxReset_v2(int) { return begin("cuDevicePrimaryCtxReset_v2"); }

int cuStreamCreate(Stream* stream, unsigned) {
  *stream = reinterpret_cast<Stream>(&the);
  return begin("cuStreamCreate");
}
int cuEventCreate(Event* event, unsigned) {
  static std::deque<char> made;  // kept: after a hang kbench destroys none
  *event = reinterpret_cast<Event>(&made.emplace_back());
  return begin("cuEventCreate");
}
int cuEventRecord(Event event, Stream) {
  return put("cuEventRecord", [=] { events[event] = now_ns; });
}
int cuEventQuery(Event) {
  if (hangs) return kNotReady;
  return begin("cuEventQuery");
}
int cuEventElapsedTime(float* milliseconds, Event from, Event to) {
  *milliseconds = static_cast<float>((events[to] - events[from]) * 1e-6);
  return begin("cuEventElapsedTime");
}
int cuEventDestroy_v2(Event event) {
  events.erase(event);
  return kSuccess;
}

int cuStreamBeginCapture_v2(Stream, int) {
  if (const int error = begin("cuStreamBeginCapture_v2")) return error;
  capture = new std::vector<Work>;
  return kSuccess;
}
int cuStreamEndCapture(Stream, Graph* graph) {
  *graph = reinterpret_cast<Graph>(capture);
  capture = nullptr;
  return begin("cuStreamEndCapture");
}
int cuGraphInstantiateWithFlags(GraphExec* made, Graph graph, unsigned long long) {
  if (const int error = begin("cuGraphInstantiateWithFlags")) return error;
  static std::deque<std::vector<Work>> kept;  // kept: after a hang kbench destroys none
  *made =
      reinterpret_cast<GraphExec>(&kept.emplace_back(*reinterpret_cast<std::vector<Work>*>(graph)));
  return kSuccess;
}
int cuGraphUpload(GraphExec, Stream) { return begin("cuGraphUpload"); }
int cuGraphLaunch(GraphExec graph, Stream) {
  return put("cuGraphLaunch", [graph] {
    for (const Work& work : *reinterpret_cast<std::vector<Work>*>(graph)) work();
  });
}
int cuGraphDestroy(Graph graph) {
  delete reinterpret_cast<std::vector<Work>*>(graph);
  return kSuccess;
}
int cuGraphExecDestroy(GraphExec) { return kSuccess; }

}  // extern "C"
