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

namespace {

/// The number of the allocation in which a place lies.
uint64_t allocation_in(const nlohmann::json& place) { return place.at(0).get<uint64_t>(); }

}  // namespace

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
    const uint64_t index = allocation_in(place), offset = place.at(1).get<uint64_t>();
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

/// Puts together the copies of one tensor in all calls, call by call. The judge's tensors of all
/// calls but the first lie in one allocation. Where the process's do, too, one copy has them all.
class CallCopies {
 public:
  explicit CallCopies(std::vector<cuda::CopyStep>& copies) : copies_(copies) {}
  void add(const cuda::CopyStep& copy, uint64_t allocation) {
    const bool again = calls_++ > 1 && allocation == allocation_;
    again ? add_row(copies_, copy) : copies_.push_back(copy);
    allocation_ = allocation;
  }

 private:
  std::vector<cuda::CopyStep>& copies_;
  uint64_t allocation_ = 0;  ///< of the last call
  int calls_ = 0;
};

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
      const Json& place = places.at("places").at(next++);
      return Tensor{judges, opened_->address(place, bytes), bytes, allocation_in(place)};
    };
    for (const int id : graph.values_of(Graph::Kind::parameter)) {
      parameters_.push_back(tensor(id, given[static_cast<size_t>(id)]));
    }
    const auto inputs = graph.values_of(Graph::Kind::input);
    inputs_.resize(inputs.size());
    outputs_.resize(graph.outputs().size());
    const CallTensors tensors(graph);
    for (int call = 0; call < tensors.calls(wanted.size()); ++call) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        const uint64_t judges =
            call == 0 ? given[static_cast<size_t>(inputs[i])] : wanted[tensors.input(call, i)];
        inputs_[i].push_back(tensor(inputs[i], judges));
      }
      for (size_t i = 0; i < graph.outputs().size(); ++i) {
        const uint64_t judges = call == 0 ? first[i] : wanted[tensors.output(call, i)];
        const auto bytes = static_cast<uint64_t>(graph.stored_type(graph.outputs()[i]).bytes());
        outputs_[i].push_back({judges, 0, bytes});
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

void PeerTensors::give_parameters(double seconds) {
  std::vector<cuda::CopyStep> copies;
  for (const Tensor& each : parameters_) copies.push_back({each.judges, each.peers, each.bytes});
  copy_all(driver_, copies, seconds);
}

void PeerTensors::give_inputs(int calls, double seconds) {
  std::vector<cuda::CopyStep> copies;
  for (const std::vector<Tensor>& input : inputs_) {
    CallCopies of_calls(copies);
    for (size_t call = 0; call < static_cast<size_t>(calls); ++call) {
      const Tensor& each = input.at(call);
      of_calls.add({each.judges, each.peers, each.bytes}, each.allocation);
    }
  }
  copy_all(driver_, copies, seconds);
}

PeerTensors::Taken PeerTensors::open_outputs(const Json& places, int calls) {
  Taken taken{std::make_unique<OpenedPeers>(driver_), {}};
  try {
    parse([&] {
      taken.opened->open(places.at("handles"));
      for (size_t i = 0; i < outputs_.size(); ++i) {
        CallCopies of_calls(taken.copies);
        for (size_t call = 0; call < static_cast<size_t>(calls); ++call) {
          const Tensor& output = outputs_[i].at(call);
          const Json& place = places.at("places").at(call * outputs_.size() + i);
          of_calls.add({taken.opened->address(place, output.bytes), output.judges, output.bytes},
                       allocation_in(place));
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
  for (const std::vector<Tensor>& input : inputs_) {
    copies.push_back({input.front().peers, input.front().judges, input.front().bytes});
  }
  copy_all(driver_, copies, seconds);
  if (!stays) taken_.erase(calls);  // Memory that it frees is not free before it is closed here.
}

}  // namespace kbench::runner
