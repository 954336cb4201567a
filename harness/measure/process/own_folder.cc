#include "harness/measure/process/own_folder.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"

namespace kbench::process {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyBytes = 32;
constexpr size_t kSignatureDigits = 64;

/// Whether it belongs to this user, has that type, and only this user may write to it.
bool is_own(int fd, mode_t kind) {
  struct stat status;
  return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
         status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_own_folder(const std::string& path) {
  const UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return folder.open() && is_own(folder.get(), S_IFDIR);
}

/// Not open unless it is a file of this user. Links are not followed, and a pipe does not block.
UniqueFd open_own(const std::string& path, int flags) {
  UniqueFd file(open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (file.open() && !is_own(file.get(), S_IFREG)) file.reset();
  return file;
}

std::string read_own(const std::string& path) {
  const UniqueFd file = open_own(path, O_RDONLY);
  if (!file.open()) return "";
  std::string text;
  char block[65536];
  for (ssize_t got; (got = ::read(file.get(), block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(got));
  }
  return text;
}

/// Empty without a complete key: the disk may have been full when it was made.
std::string read_key(const std::string& path) {
  const std::string key = read_own(path);
  return key.size() == kKeyBytes ? key : "";
}

/// Writes a new key's file in one step, and does not replace one that another process has made
/// meanwhile.
void make_key(const std::string& path) {
  std::string key(kKeyBytes, '\0');
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) return;
  std::string next = path + ".XXXXXX";
  const UniqueFd file(mkostemp(next.data(), O_CLOEXEC));
  if (!file.open()) return;
  const bool whole = write(file.get(), key.data(), key.size()) == static_cast<ssize_t>(key.size());
  if (whole && link(next.c_str(), path.c_str()) != 0 && read_key(path).empty()) {
    rename(next.c_str(), path.c_str());
  }
  unlink(next.c_str());
}

/// The user's key, made on first use; empty if that fails.
std::string key_in(const std::string& folder) {
  const std::string path = folder + "/key";
  if (std::string key = read_key(path); !key.empty()) return key;
  make_key(path);
  return read_key(path);
}

std::string signed_text(const std::string& name, std::string_view subject, std::string_view bytes) {
  return name + '\n' + std::string(subject) + '\n' + std::string(bytes);
}

}  // namespace

std::string cache_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (std::getenv("KBENCH_CACHE") != nullptr) return set("KBENCH_CACHE");
  if (const std::string cache = set("XDG_CACHE_HOME"); !cache.empty()) return cache + "/kbench";
  const std::string home = set("HOME");
  return home.empty() ? "" : home + "/.cache/kbench";
}

OwnFolder::OwnFolder(const std::string& path) : path_(path) {
  if (path.empty()) return;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  mkdir(path.c_str(), 0700);
  if (is_own_folder(path)) key_ = key_in(path);
}

std::string OwnFolder::signature(std::string_view text) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &bytes);
  return hex_of({digest, bytes});
}

std::string OwnFolder::read(const std::string& name) const {
  return there() ? read_own(at(name)) : "";
}

void OwnFolder::append(const std::string& name, const std::string& line) const {
  if (!there()) return;
  const UniqueFd file = open_own(at(name), O_WRONLY | O_APPEND | O_CREAT);
  if (!file.open()) return;
  [[maybe_unused]] const ssize_t written = write(file.get(), line.data(), line.size());
}

std::string OwnFolder::kept(const std::string& name, std::string_view subject) const {
  const std::string all = read(name);
  if (all.size() < kSignatureDigits) return "";
  std::string bytes = all.substr(kSignatureDigits);
  const bool right =
      signature(signed_text(name, subject, bytes)) == all.substr(0, kSignatureDigits);
  if (!right) return "";
  utimensat(AT_FDCWD, at(name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return bytes;
}

void OwnFolder::keep(const std::string& name, std::string_view subject,
                     std::string_view bytes) const {
  if (!there()) return;
  const std::string all = signature(signed_text(name, subject, bytes)) + std::string(bytes);
  std::error_code ignored;
  const bool a_file = fs::symlink_status(at(name), ignored).type() == fs::file_type::regular;
  if (!a_file) fs::remove(at(name), ignored);  // Never writes to a link or a pipe.
  try {
    replace_file(at(name), all, Sync::no);
  } catch (const Error&) {  // For instance a full disk: nothing is kept.
  }
}

void OwnFolder::keep_at_most(const std::string& prefix, uint64_t bytes) const {
  if (!there()) return;
  struct Kept {
    fs::file_time_type used;
    fs::path path;
    uint64_t bytes;
  };
  std::vector<Kept> all;
  uint64_t sum = 0;
  std::error_code error;
  // Other processes may remove files meanwhile.
  for (const auto& each : fs::directory_iterator(path_, error)) {
    if (!each.path().filename().string().starts_with(prefix)) continue;
    const auto used = each.last_write_time(error);
    const uint64_t size = error ? 0 : each.file_size(error);
    if (error) continue;
    sum += size;
    all.push_back({used, each.path(), size});
  }
  std::ranges::sort(all, {}, &Kept::used);
  for (const Kept& each : all) {
    if (sum <= bytes) return;
    fs::remove(each.path, error);
    sum -= each.bytes;
  }
}

void OwnFolder::forget_stale(const std::string& prefix, const std::string& spared) const {
  if (!there()) return;
  std::error_code ignored;
  const auto week_ago = fs::file_time_type::clock::now() - std::chrono::hours(7 * 24);
  for (const auto& each : fs::directory_iterator(path_, ignored)) {
    const std::string name = each.path().filename().string();
    if (!name.starts_with(prefix) || name.starts_with(spared)) continue;
    const auto written = each.last_write_time(ignored);
    if (!ignored && written < week_ago) fs::remove(each.path(), ignored);
  }
}

}  // namespace kbench::process
