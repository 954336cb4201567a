#include "libkbench/base/hash.h"

#include <openssl/evp.h>
#include <sys/random.h>

#include <array>

#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench {
namespace {

void require(int ok) {
  if (ok != 1) throw Error(ErrorCode::kInternal, "OpenSSL could not compute a SHA-256 hash");
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  require(state_->context != nullptr);
  require(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

Sha256& Sha256::add(std::string_view text) {
  unsigned char size[8];
  for (int i = 0; i < 8; ++i) {
    size[i] = static_cast<unsigned char>(static_cast<uint64_t>(text.size()) >> (8 * i));
  }
  require(EVP_DigestUpdate(state_->context.get(), size, sizeof size));
  require(EVP_DigestUpdate(state_->context.get(), text.data(), text.size()));
  return *this;
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  require(EVP_DigestFinal_ex(state_->context.get(), digest, &length));
  return hex_of({digest, length});
}

std::string random_id() {
  std::array<uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()}) {
    throw_io("draw", "a random number");
  }
  return hex_of(bytes);
}

}  // namespace kbench
