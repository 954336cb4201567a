// The tensors of a ModelNew on a GPU. They lie in its process's own memory, which this process maps
// through CUDA and reads and writes while that process stands still: it holds nothing of the
// judge's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/measure/cuda/driver.h"
#include "harness/measure/cuda/driver_list.h"
#include "harness/measure/runner/imported_memory.h"
#include "harness/measure/runner/torch/call_tensors.h"
#include "kbench/graph.h"

namespace kbench::runner {

class OpenedPeers;

class PeerTensors {
 public:
  /// Imports the judge's memory. `places` are those of the process's parameters, then of its inputs
  /// call by call (driver.py, DeviceMemory.where), said before a candidate's code ran. All outlive
  /// it. Throws Error.
  PeerTensors(cuda::Driver& driver, const ImportedMemory& memory, const Graph& graph,
              const nlohmann::json& places);
  ~PeerTensors();
  PeerTensors(const PeerTensors&) = delete;

  /// Copy the judge's parameters, and the inputs of the first calls, into the process.
  void give_parameters(double seconds);
  void give_inputs(int calls, double seconds);
  /// Copies outputs to the judge from where the process says that they are, or from where it said
  /// last of so many captured calls if it says nothing; and the first call's inputs, so that the
  /// judge sees whether they were written to. `stays`: those calls leave them there again. Throws
  /// Refused where the places are none.
  void take(const nlohmann::json& places, int calls, bool stays, double seconds);

 private:
  struct Tensor {
    uint64_t judges = 0, peers = 0, bytes = 0;  ///< two addresses; peers' 0 where it may vary
    uint64_t allocation = 0;                    ///< that of the process, by its number
  };

  /// Outputs of so many calls, where the process leaves them.
  struct Taken {
    std::unique_ptr<OpenedPeers> opened;
    std::vector<cuda::CopyStep> copies;  ///< from there
  };

  Taken open_outputs(const nlohmann::json& places, int calls);

  cuda::Driver& driver_;
  std::unique_ptr<OpenedPeers> opened_;  ///< of the parameters and inputs
  std::map<int, Taken> taken_;           ///< by the number of calls, of one and of several
  std::vector<Tensor> parameters_;
  /// By the tensor's number, then by call. Those of all calls but the first lie in one allocation
  /// of the judge's.
  std::vector<std::vector<Tensor>> inputs_, outputs_;
};

}  // namespace kbench::runner
