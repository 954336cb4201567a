// Device::upload and Device::download: copies through the staging buffer.
#include <algorithm>
#include <cstring>

#include "harness/measure/vulkan/device_state.h"

namespace kbench::vulkan {
namespace {

constexpr uint64_t kStagingBytes = uint64_t{64} << 20;
constexpr double kPieceTimeoutSeconds = 60;

}  // namespace

void Device::upload(const Buffer& to, uint64_t offset, std::span<const std::byte> data) {
  require_inside(to, offset, data.size(), "upload");
  prepare_staging();
  Commands& commands = *state_->staging_commands;
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(kStagingBytes, data.size() - done);
    std::memcpy(state_->staging.mapped(), data.data() + done, piece);
    commands.begin();
    commands.copy(state_->staging, 0, to, offset + done, piece);
    commands.submit_and_wait(kPieceTimeoutSeconds);
    done += piece;
  }
}

void Device::download(const Buffer& from, uint64_t offset, std::span<std::byte> data) {
  require_inside(from, offset, data.size(), "download");
  prepare_staging();
  Commands& commands = *state_->staging_commands;
  for (uint64_t done = 0; done < data.size();) {
    const uint64_t piece = std::min<uint64_t>(kStagingBytes, data.size() - done);
    commands.begin();
    commands.copy(from, offset + done, state_->staging, 0, piece);
    commands.submit_and_wait(kPieceTimeoutSeconds);
    std::memcpy(data.data() + done, state_->staging.mapped(), piece);
    done += piece;
  }
}

void Device::prepare_staging() {
  if (!state_->staging) state_->staging = allocate_host(kStagingBytes);
  if (!state_->staging_commands) state_->staging_commands = std::make_unique<Commands>(*this);
}

}  // namespace kbench::vulkan
