// SHA-256.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kbench {

/// Hashes a sequence of texts; each is framed by its length, so that moving a byte from one to the
/// next changes the hash.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256& add(std::string_view text);
  /// The digest in hex; ends the use of the object.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench
