// Judges on another machine, behind `kbench serve --http` there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/evaluate/queue/queue.h"
#include "harness/measure/vulkan/snapshot.h"

namespace kbench::http {

/// A server of kbench, as clients know it.
struct RemoteServer {
  std::string url;    ///< "http://host:8000", "https://host/kbench"
  std::string token;  ///< empty: none
};

/// The devices that it serves. Throws kInvalidArgument for a URL that is none, or a token that the
/// server does not take; kIo where the server cannot be reached.
std::vector<vulkan::DeviceSnapshot> devices_of(const RemoteServer& server);

/// A judge that sends each experiment to the server and waits for its outcome. It tries again while
/// the server has no room or cannot be reached, for up to two minutes; the server then is lost.
/// `device`: which of the server's, as --device takes it; "auto": any.
std::unique_ptr<queue::QueueJudge> remote_judge(const RemoteServer& server,
                                                const std::string& device,
                                                const vulkan::DeviceSnapshot& snapshot);

}  // namespace kbench::http
