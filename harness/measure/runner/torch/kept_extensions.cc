#include "harness/measure/runner/torch/kept_extensions.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<uint8_t>;

constexpr const char* kPrefix = "extensions-";
constexpr size_t kMostFiles = 64;
constexpr size_t kMostBytes = size_t{64} << 20;      ///< of one source
constexpr uint64_t kMostKept = uint64_t{512} << 20;  ///< of all sources
constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// A library, and the notes beside it (load_module.py): which call has made it, or why one fails.
bool is_kept(std::string_view file) {
  return file.ends_with(".so") || file.ends_with(".made_by") || file.ends_with(".failed");
}

/// The names in a folder, without "." and "..".
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int own = openat(folder, ".", kOpenFolder);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(own < 0 ? nullptr : fdopendir(own), closedir);
  if (!list) {
    if (own >= 0) close(own);
    return names;
  }
  while (const dirent* entry = readdir(list.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

/// The bytes of a file in the folder: nothing if they are more than `most`, or the name is that of
/// something else, such as a link.
std::optional<Bytes> read_file_in(int folder, const std::string& name, size_t most) {
  const UniqueFd file(
      openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file.open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_nlink != 1 || static_cast<uint64_t>(status.st_size) > most) {
    return std::nullopt;
  }
  Bytes bytes(static_cast<size_t>(status.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const auto got =
        TEMP_FAILURE_RETRY(read(file.get(), bytes.data() + filled, bytes.size() - filled));
    if (got <= 0) return std::nullopt;
    filled += static_cast<size_t>(got);
  }
  return bytes;
}

/// "folder/file" -> bytes; nothing if that is too much, or one is no file but a link. The candidate
/// made all of it: every name is opened in the folder that it was found in, and no link followed.
std::optional<Json> files_of(int folder) {
  Json files = Json::object();
  size_t left = kMostBytes;
  for (const std::string& name : names_in(folder)) {
    const UniqueFd extension(openat(folder, name.c_str(), kOpenFolder));
    if (!extension.open()) continue;
    for (const std::string& file : names_in(extension.get())) {
      if (!is_kept(file)) continue;
      auto bytes = read_file_in(extension.get(), file, left);
      if (!bytes || files.size() >= kMostFiles) return std::nullopt;
      left -= bytes->size();
      files[name + "/" + file] = Json::binary(*std::move(bytes));
    }
  }
  return files;
}

constexpr const char* kSaid = "said";  ///< no path of a file, which has a '/'

}  // namespace

bool write_file_in(int folder, const std::string& name, std::string_view bytes) {
  const UniqueFd file(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  while (file.open() && !bytes.empty()) {
    const auto put = TEMP_FAILURE_RETRY(write(file.get(), bytes.data(), bytes.size()));
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return file.open();
}

KeptExtensions::KeptExtensions(const std::string& folder, std::string subject)
    : folder_(folder),
      subject_(std::move(subject)),
      name_(kPrefix + Sha256().add(subject_).hex()) {}

std::string KeptExtensions::put_into(int folder) const {
  const std::string kept = folder_.kept(name_, subject_);
  if (kept.empty()) return "";
  const Json files = Json::from_cbor(kept, /*strict=*/true, /*allow_exceptions=*/false);
  if (!files.is_object()) return "";
  for (const auto& [path, bytes] : files.items()) {
    if (path == kSaid) continue;
    const size_t slash = path.find('/');
    const std::string name = path.substr(0, slash);
    if (slash == std::string::npos || !bytes.is_binary()) return "";
    if (mkdirat(folder, name.c_str(), 0700) != 0 && errno != EEXIST) return "";
    const UniqueFd extension(openat(folder, name.c_str(), kOpenFolder));
    // On a full disk they are compiled, or fail to be, as ever.
    if (!extension.open()) return "";
    const Bytes& content = bytes.get_binary();
    if (!write_file_in(extension.get(), path.substr(slash + 1),
                       {reinterpret_cast<const char*>(content.data()), content.size()})) {
      return "";
    }
  }
  return files.value(kSaid, "");
}

void KeptExtensions::keep(int folder, const std::string& said) const {
  if (!folder_.there()) return;
  auto files = files_of(folder);
  if (!files) return;
  (*files)[kSaid] = said;
  const std::vector<uint8_t> bytes = Json::to_cbor(*files);
  folder_.keep(name_, subject_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  folder_.keep_at_most(kPrefix, kMostKept);
}

}  // namespace kbench::runner
