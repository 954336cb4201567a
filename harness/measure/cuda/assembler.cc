#include "harness/measure/cuda/assembler.h"

#include <algorithm>
#include <utility>

#include "harness/measure/cuda/library.h"
#include "harness/measure/cuda/messages.h"
#include "harness/measure/cuda/ptx_print.h"
#include "kbench/error.h"

namespace kbench::cuda {

// Declarations of nvJitLink.h, which is not there where kbench is built.
using Link = struct NvJitLink*;
constexpr int kInputPtx = 2;

struct LinkCalls {
  int (*create)(Link*, uint32_t, const char**) = nullptr;
  int (*destroy)(Link*) = nullptr;
  int (*add)(Link, int, const void*, size_t, const char*) = nullptr;
  int (*complete)(Link) = nullptr;
  int (*cubin_size)(Link, size_t*) = nullptr;
  int (*cubin)(Link, void*) = nullptr;
  int (*log_size)(Link, size_t*) = nullptr;
  int (*log)(Link, char*) = nullptr;

  bool fill(const Library& from) {
    return from.get("nvJitLinkCreate", create) && from.get("nvJitLinkDestroy", destroy) &&
           from.get("nvJitLinkAddData", add) && from.get("nvJitLinkComplete", complete) &&
           from.get("nvJitLinkGetLinkedCubinSize", cubin_size) &&
           from.get("nvJitLinkGetLinkedCubin", cubin) &&
           from.get("nvJitLinkGetErrorLogSize", log_size) && from.get("nvJitLinkGetErrorLog", log);
  }
};

struct Assembler::State {
  Library library;
  LinkCalls calls;

  explicit State(const std::vector<std::string>& names) : library(names) {}
};

Assembler::Assembler(const Toolkit& toolkit, const ToolkitPlaces& places)
    : state_(std::make_unique<State>(toolkit.nvjitlink.empty() ? nvjitlink_names()
                                                               : std::vector{toolkit.nvjitlink})) {
  if (!state_->library.there()) {
    throw Error(
        ErrorCode::kUnsupported,
        "CUDA kernels take NVIDIA's nvJitLink (libnvJitLink.so) of version 12 or later, which "
        "is not on this machine "
        "(looked beside NVRTC in: " +
            searched(places) + "; " + state_->library.reason() + ")");
  }
  if (!state_->calls.fill(state_->library)) {
    throw Error(ErrorCode::kUnsupported,
                "'" + state_->library.name() + "' is no nvJitLink of version 12 or later");
  }
}

Assembler::~Assembler() = default;

AssembleOutcome Assembler::assemble(const std::string& ptx, const ComputeCapability& device,
                                    const std::string& file, int first_line) const {
  const LinkCalls& calls = state_->calls;
  const std::string architecture = "-arch=" + device.architecture();
  const char* options[] = {architecture.c_str(), "-O3"};
  Link made = nullptr;
  if (calls.create(&made, std::size(options), options) != kSuccess) {
    throw Error(ErrorCode::kUnsupported, "nvJitLink ('" + state_->library.name() +
                                             "') does not assemble for " + device.architecture());
  }
  const auto destroy = [&calls](Link link) { calls.destroy(&link); };
  const std::unique_ptr<NvJitLink, decltype(destroy)> link(made, destroy);
  // The size counts the zero at the end.
  int result = calls.add(link.get(), kInputPtx, ptx.c_str(), ptx.size() + 1, "kernel.ptx");
  if (result == kSuccess) result = calls.complete(link.get());

  AssembleOutcome outcome;
  size_t size = 0;
  std::string log;
  if (calls.log_size(link.get(), &size) == kSuccess && size > 0) {
    log.resize(size);
    if (calls.log(link.get(), log.data()) != kSuccess) log.clear();
    log.resize(std::min(log.find('\0'), log.size()));
  }
  outcome.diagnostics = parse_ptxas_log(with_own_names(std::move(log)), file, first_line);
  if (first_line == 0) {
    for (Diagnostic& each : outcome.diagnostics) each.line = 0;
  }
  if (result == kSuccess && calls.cubin_size(link.get(), &size) == kSuccess && size > 0) {
    outcome.cubin.resize(size);
    if (calls.cubin(link.get(), outcome.cubin.data()) != kSuccess) outcome.cubin.clear();
  }
  if (!outcome.ok() && outcome.diagnostics.empty()) {
    outcome.diagnostics.push_back(
        {.severity = "error", .file = file, .message = "nvJitLink failed without a message"});
  }
  return outcome;
}

}  // namespace kbench::cuda
