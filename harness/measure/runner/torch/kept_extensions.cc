#include "harness/measure/runner/torch/kept_extensions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Bytes = std::vector<uint8_t>;

constexpr const char* kPrefix = "extensions-";
constexpr size_t kMostFiles = 64;
constexpr size_t kMostBytes = size_t{64} << 20;

/// Nothing for what is no file or has more than `most` bytes. Links are not followed: a candidate
/// made the folder.
std::optional<Bytes> read_file(const fs::path& path, size_t most) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<size_t>(status.st_size) > most) {
    return std::nullopt;
  }
  Bytes bytes(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) return std::nullopt;
    done += static_cast<size_t>(got);
  }
  return bytes;
}

bool is_kept(const fs::path& file) {
  return file.extension() == ".so" || file.extension() == ".made_by";
}

/// "folder/file" -> bytes; nothing if that is too much.
std::optional<Json> files_of(const fs::path& folder) {
  Json files = Json::object();
  size_t left = kMostBytes;
  for (const auto& extension : fs::directory_iterator(folder)) {
    if (!extension.is_directory() || extension.is_symlink()) continue;
    for (const auto& each : fs::directory_iterator(extension.path())) {
      if (!is_kept(each.path())) continue;
      auto bytes = read_file(each.path(), left);
      if (!bytes || files.size() >= kMostFiles) return std::nullopt;
      left -= bytes->size();
      const fs::path name = extension.path().filename() / each.path().filename();
      files[name.string()] = Json::binary(std::move(*bytes));
    }
  }
  return files;
}

}  // namespace

KeptExtensions::KeptExtensions(const std::string& folder, std::string subject)
    : folder_(folder),
      subject_(std::move(subject)),
      name_(kPrefix + Sha256().add(subject_).hex()) {}

bool KeptExtensions::put_into(const std::string& to) const {
  const std::string kept = folder_.kept(name_, subject_);
  if (kept.empty()) return false;
  try {
    const Json files = Json::from_cbor(kept);
    for (const auto& [name, bytes] : files.items()) {
      const fs::path path = fs::path(to) / name;
      fs::create_directories(path.parent_path());
      const Bytes& whole = bytes.get_binary();
      replace_file(path.string(), std::string(whole.begin(), whole.end()), Sync::no);
    }
    return true;
  } catch (const std::exception&) {  // A full disk: they are compiled, or fail to be, as ever.
    return false;
  }
}

void KeptExtensions::keep(const std::string& from) const {
  if (!folder_.there()) return;
  try {
    const auto files = files_of(from);
    if (!files) return;
    const std::vector<uint8_t> bytes = Json::to_cbor(*files);
    folder_.keep(name_, subject_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    folder_.forget_stale(kPrefix, name_);
  } catch (const std::exception&) {
  }
}

}  // namespace kbench::runner
