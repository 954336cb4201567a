#include "harness/evaluate/models/secret.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "kbench/error.h"
#include "kbench/openai_model.h"

namespace kbench {
namespace models {
namespace {

constexpr std::string_view kBefore = "Authorization: Bearer ";

}  // namespace

Secret::Secret(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  const std::string_view key = value == nullptr ? "" : value;
  if (key.empty()) {
    throw Error(ErrorCode::kNotFound, "the environment variable " + shown(variable) +
                                          ", which holds a model's key, is not set");
  }
  const auto is_plain = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::all_of(key.begin(), key.end(), is_plain)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the environment variable " + shown(variable) +
                    " holds blanks or other characters that no key has");
  }
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  bytes_ = (kBefore.size() + key.size() + 1 + page - 1) / page * page;
  void* memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error(ErrorCode::kOutOfMemory, "no memory for a key");
  ::madvise(memory, bytes_, MADV_DONTDUMP);
  ::mlock(memory, bytes_);
  header_ = static_cast<char*>(memory);
  key_bytes_ = key.size();
  std::copy(kBefore.begin(), kBefore.end(), header_);
  std::copy(key.begin(), key.end(), header_ + kBefore.size());
}

Secret::~Secret() {
  if (header_ == nullptr) return;
  ::explicit_bzero(header_, bytes_);
  ::munmap(header_, bytes_);
}

std::string_view Secret::key() const { return {header_ + kBefore.size(), key_bytes_}; }

std::string Secret::removed_from(std::string text, size_t least) const {
  if (empty() || key_bytes_ < least) return text;
  for (size_t at = 0; (at = text.find(key(), at)) != text.npos;) {
    ::explicit_bzero(text.data() + at, key_bytes_);
    text.replace(at, key_bytes_, "[key]");
  }
  return text;
}

}  // namespace models

void forbid_core_dumps() {
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);  // RLIMIT_CORE does not hold for dumps piped to a program
}

}  // namespace kbench
