#include "harness/measure/runner/torch/peer_tensors.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "harness/measure/runner/driver_lane.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {

/// Allocations of another process, opened for as long as this lives.
class OpenedPeers {
 public:
  explicit OpenedPeers(cuda::Driver& driver) : driver_(driver) {}
  ~OpenedPeers() {
    try {
      for (const auto& [address, bytes] : opened_) driver_.close_peer(address);
    } catch (const Error&) {  // The context is lost, and says so when it is used next.
    }
  }
  OpenedPeers(const OpenedPeers&) = delete;

  void open(const nlohmann::json& handles) {
    for (const nlohmann::json& each : handles) {
      const std::optional<std::vector<uint8_t>> bytes = bytes_of_hex(each.get<std::string>());
      cuda::PeerHandle handle{};
      if (!bytes || bytes->size() != handle.size()) {
        throw Error(ErrorCode::kParse, "a handle is not " + std::to_string(handle.size()) +
                                           " bytes as hexadecimal digits");
      }
      std::ranges::copy(*bytes, handle.begin());
      opened_.push_back(driver_.open_peer(handle));
    }
  }
  /// The address of a place: the index of its handle, and bytes from that allocation's start.
  uint64_t address(const nlohmann::json& place, uint64_t bytes) const {
    const auto index = place.at(0).get<uint64_t>(), offset = place.at(1).get<uint64_t>();
    if (bytes == 0) return 0;
    if (index >= opened_.size()) throw Error(ErrorCode::kParse, "a place in no allocation");
    const auto& [base, size] = opened_[index];
    if (offset > size || bytes > size - offset) {
      throw Error(ErrorCode::kParse, "a place outside of its allocation");
    }
    return base + offset;
  }

 private:
  cuda::Driver& driver_;
  std::vector<std::pair<uint64_t, uint64_t>> opened_;  ///< addresses and sizes
};

namespace {

using Json = nlohmann::json;

/// Runs what reads JSON of the process; what is wrong with it is kParse.
template <class Read>
void parse(Read read_it) {
  try {
    read_it();
  } catch (const Json::exception&) {
    throw Error(ErrorCode::kParse, "an answer that cannot be read");
  }
}

}  // namespace

PeerTensors::PeerTensors(cuda::Driver& driver, const ImportedMemory& memory, const Graph& graph,
                         const Json& places)
    : driver_(driver) {
  std::vector<vulkan::Region> regions = memory.given();
  regions.insert(regions.end(), memory.outputs().begin(), memory.outputs().end());
  regions.insert(regions.end(), memory.wanted().begin(), memory.wanted().end());
  const std::vector<uint64_t> addresses = import_regions(driver, memory, regions);
  const std::span given = std::span(addresses).first(memory.given().size());
  const std::span first = std::span(addresses).subspan(given.size(), memory.outputs().size());
  const std::span wanted = std::span(addresses).subspan(given.size() + first.size());
  opened_ = std::make_unique<OpenedPeers>(driver);
  parse([&] {
    opened_->open(places.at("handles"));
    size_t next = 0;
    const auto tensor = [&](int id, uint64_t judges) {
      const auto bytes = static_cast<uint64_t>(graph.stored_type(id).bytes());
      return Tensor{judges, opened_->address(places.at("places").at(next++), bytes), bytes};
    };
    for (const int id : graph.values_of(Graph::Kind::parameter)) {
      parameters_.push_back(tensor(id, given[static_cast<size_t>(id)]));
    }
    const auto inputs = graph.values_of(Graph::Kind::input);
    const CallTensors tensors(graph);
    for (int call = 0; call < tensors.calls(wanted.size()); ++call) {
      inputs_.emplace_back();
      for (size_t i = 0; i < inputs.size(); ++i) {
        const uint64_t judges =
            call == 0 ? given[static_cast<size_t>(inputs[i])] : wanted[tensors.input(call, i)];
        inputs_.back().push_back(tensor(inputs[i], judges));
      }
      outputs_.emplace_back();
      for (size_t i = 0; i < graph.outputs().size(); ++i) {
        const uint64_t judges = call == 0 ? first[i] : wanted[tensors.output(call, i)];
        const auto bytes = static_cast<uint64_t>(graph.stored_type(graph.outputs()[i]).bytes());
        outputs_.back().push_back({judges, 0, bytes});
      }
    }
  });
}

PeerTensors::~PeerTensors() {
  opened_.reset();
  taken_.clear();
  try {
    driver_.release_imports();
  } catch (const Error&) {  // The context is lost, and says so when it is used next.
  }
}

/// From the judge to the process.
void PeerTensors::add(const std::vector<Tensor>& tensors, std::vector<cuda::CopyStep>& copies) {
  for (const Tensor& each : tensors) copies.push_back({each.judges, each.peers, each.bytes});
}

void PeerTensors::give_parameters(double seconds) {
  std::vector<cuda::CopyStep> copies;
  add(parameters_, copies);
  copy_all(driver_, copies, seconds);
}

void PeerTensors::give_inputs(int calls, double seconds) {
  std::vector<cuda::CopyStep> copies;
  for (int call = 0; call < calls; ++call) add(inputs_.at(static_cast<size_t>(call)), copies);
  copy_all(driver_, copies, seconds);
}

PeerTensors::Taken PeerTensors::open_outputs(const Json& places, int calls) {
  Taken taken{std::make_unique<OpenedPeers>(driver_), {}};
  try {
    parse([&] {
      taken.opened->open(places.at("handles"));
      size_t next = 0;
      for (int call = 0; call < calls; ++call) {
        for (const Tensor& each : outputs_.at(static_cast<size_t>(call))) {
          const uint64_t from = taken.opened->address(places.at("places").at(next++), each.bytes);
          taken.copies.push_back({from, each.judges, each.bytes});
        }
      }
    });
  } catch (const Error& error) {
    if (driver_.hung()) throw;
    throw Refused{Verdict::crashed, "its outputs cannot be read: " + error.message(), {}};
  }
  return taken;
}

void PeerTensors::take(const Json& places, int calls, bool stays, double seconds) {
  // As the process keeps its graphs: of one call and of one other number.
  std::erase_if(taken_, [&](const auto& each) {
    return calls != 1 && each.first != 1 && each.first != calls;
  });
  if (places.contains("handles") || !taken_.contains(calls)) {
    taken_.erase(calls);
    taken_[calls] = open_outputs(places, calls);
  }
  std::vector<cuda::CopyStep> copies = taken_[calls].copies;
  // Not of later calls: an opponent reads those next, and must not get what this one made of them.
  for (const Tensor& each : inputs_.front()) {
    copies.push_back({each.peers, each.judges, each.bytes});
  }
  copy_all(driver_, copies, seconds);
  if (!stays) taken_.erase(calls);  // Memory that it frees is not free before it is closed here.
}

}  // namespace kbench::runner
