// TORCH_CHECK and its like, with the text that PyTorch's str() makes of values.
#pragma once

#include "kbench_tensor.h"

namespace c10::kbench {

namespace kb {
inline void append(std::string& to, const std::string& text) { to += text; }
inline void append(std::string& to, const char* text) { to += text; }
template <class T>
std::enable_if_t<std::is_integral_v<T>> append(std::string& to, T value) {
  if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
    to += static_cast<char>(value);
  } else {
    to += std::to_string(value);
  }
}
inline void append(std::string& to, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  to += text;
}
inline void append(std::string& to, ScalarType type) { to += toString(type); }
inline void append(std::string& to, const Device& device) { to += device.str(); }
inline void append(std::string& to, IntArrayRef all) {
  to += '[';
  for (size_t i = 0; i < all.size(); ++i) to += (i ? ", " : "") + std::to_string(all[i]);
  to += ']';
}
}  // namespace kb
template <class... A>
std::string str(const A&... a) {
  std::string text;
  (kb::append(text, a), ...);
  return text;
}
namespace kb {
template <class... A>
std::string message(const char* condition, const A&... a) {
  if constexpr (sizeof...(A) == 0) {
    return std::string("Expected ") + condition +
           " to be true, but got false.  (Could this error message be improved?  If so, please "
           "report an enhancement request to PyTorch.)";
  } else {
    return str(a...);
  }
}
}  // namespace kb

}  // namespace c10::kbench

#define KB_FAIL(KIND, TEXT) \
  kb_fail(__func__, __FILE__, static_cast<unsigned>(__LINE__), KIND, (TEXT).c_str())
#define KB_CHECK(KIND, CONDITION, ...) \
  if (C10_UNLIKELY(!(CONDITION))) KB_FAIL(KIND, ::c10::kb::message(#CONDITION, ##__VA_ARGS__))
#define TORCH_CHECK(CONDITION, ...) KB_CHECK('e', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(CONDITION, ...) KB_CHECK('v', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(CONDITION, ...) KB_CHECK('t', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(CONDITION, ...) KB_CHECK('i', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) KB_CHECK('n', CONDITION, ##__VA_ARGS__)
#define AT_ERROR(...) KB_FAIL('e', ::c10::str(__VA_ARGS__))
#define AT_ASSERT(CONDITION) KB_CHECK('a', CONDITION, #CONDITION)
#define TORCH_INTERNAL_ASSERT(CONDITION, ...) \
  KB_CHECK('a', CONDITION, #CONDITION "\n", ##__VA_ARGS__)
#define AT_ASSERTM(CONDITION, ...) TORCH_CHECK(CONDITION, ##__VA_ARGS__)
#define TORCH_WARN(...) kb_warn(::c10::str(__VA_ARGS__).c_str())
#define TORCH_WARN_ONCE(...)                             \
  do {                                                   \
    [[maybe_unused]] static const bool kb_warned = [&] { \
      TORCH_WARN(__VA_ARGS__);                           \
      return true;                                       \
    }();                                                 \
  } while (false)
