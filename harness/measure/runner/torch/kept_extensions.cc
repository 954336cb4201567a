#include "harness/measure/runner/torch/kept_extensions.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Bytes = std::vector<uint8_t>;

constexpr const char* kPrefix = "extensions-";
constexpr size_t kMostFiles = 64;
constexpr size_t kMostBytes = size_t{64} << 20;

bool is_kept(const fs::path& file) {
  return file.extension() == ".so" || file.extension() == ".made_by";
}

/// "folder/file" -> bytes; nothing if that is too much, or one is no file but a link. All processes
/// that could change the folder meanwhile have ended.
std::optional<Json> files_of(const fs::path& folder) {
  Json files = Json::object();
  size_t left = kMostBytes;
  for (const auto& extension : fs::directory_iterator(folder)) {
    if (!extension.is_directory() || extension.is_symlink()) continue;
    for (const auto& each : fs::directory_iterator(extension.path())) {
      if (!is_kept(each.path())) continue;
      const bool a_file = each.symlink_status().type() == fs::file_type::regular;
      if (!a_file || each.file_size() > left || files.size() >= kMostFiles) return std::nullopt;
      const std::string bytes = read_file(each.path().string());
      left -= bytes.size();
      const fs::path name = extension.path().filename() / each.path().filename();
      files[name.string()] = Json::binary(Bytes(bytes.begin(), bytes.end()));
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
