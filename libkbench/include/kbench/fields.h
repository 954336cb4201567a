// A struct's fields, listed once for all that reads, writes or compares it:
//
//     struct Interval { double low = 0, point = 0, high = 0; };
//     KBENCH_FIELDS(Interval, low, point, high)
//
// each_field(visitor, interval) then calls visitor("low", interval.low), ... in the order of the
// list. A member that the list lacks is an error of the compiler. The list stands in the namespace
// of the struct, which must be an aggregate; members that are arrays must be std::array.
//
// Where users set the fields, the list says how, too:
//
//     KBENCH_ASKED_FIELDS(Limits, (device_seconds, "--device-seconds S", "One run of its list"))
//
// each_field() is as above, and each_asked_field(visitor, limits) calls
// visitor("device_seconds", limits.device_seconds, FieldWords{"--device-seconds S", ...}).
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kbench {

/// Stands for a value of any type where the members of an aggregate are counted.
struct AnyMember {
  size_t index = 0;
  template <class T>
  operator T() const;
};

template <class T, size_t... kIndex>
constexpr bool takes_members(std::index_sequence<kIndex...>) {
  return requires { T{AnyMember{kIndex}...}; };
}

/// Whether the aggregate T has exactly `kCount` members, a base class counting as one.
template <class T, size_t kCount>
inline constexpr bool kHasMembers = takes_members<T>(std::make_index_sequence<kCount>()) &&
                                    !takes_members<T>(std::make_index_sequence<kCount + 1>());

/// A struct whose fields are listed.
template <class T>
concept HasFields = std::is_class_v<T> && requires {
  field_count(static_cast<T*>(nullptr));
};

/// What is said of a field to those who set it.
struct FieldWords {
  std::string_view flag = {};   ///< of the command line, with its type: "--precision P"; "": none
  std::string_view help = {};   ///< a sentence without a full stop
  std::string_view group = {};  ///< heading on the help page
  double low = std::numeric_limits<double>::lowest();  ///< of a number, both ends included
  double high = std::numeric_limits<double>::max();
  double unit = 1;  ///< of the flag's number, in the field's
};

/// KBENCH_OPTIONAL_FIELDS says otherwise of some.
constexpr bool is_optional_field(const void*, std::string_view) { return false; }

}  // namespace kbench

// KBENCH_EACH(macro, a, b, c) is macro(a) macro(b) macro(c), for up to 256 arguments: the
// preprocessor expands KBENCH_EACH once in each scan, and KBENCH_SCAN scans often enough.
#define KBENCH_SCAN(...) KBENCH_SCAN_64(KBENCH_SCAN_64(KBENCH_SCAN_64(KBENCH_SCAN_64(__VA_ARGS__))))
#define KBENCH_SCAN_64(...) \
  KBENCH_SCAN_16(KBENCH_SCAN_16(KBENCH_SCAN_16(KBENCH_SCAN_16(__VA_ARGS__))))
#define KBENCH_SCAN_16(...) KBENCH_SCAN_4(KBENCH_SCAN_4(KBENCH_SCAN_4(KBENCH_SCAN_4(__VA_ARGS__))))
#define KBENCH_SCAN_4(...) KBENCH_SCAN_1(KBENCH_SCAN_1(KBENCH_SCAN_1(KBENCH_SCAN_1(__VA_ARGS__))))
#define KBENCH_SCAN_1(...) __VA_ARGS__
#define KBENCH_PARENTHESES ()
#define KBENCH_NEXT(macro, first, ...) \
  macro(first) __VA_OPT__(KBENCH_NEXT_AGAIN KBENCH_PARENTHESES(macro, __VA_ARGS__))
#define KBENCH_NEXT_AGAIN() KBENCH_NEXT
#define KBENCH_EACH(macro, ...) __VA_OPT__(KBENCH_SCAN(KBENCH_NEXT(macro, __VA_ARGS__)))

#define KBENCH_VISIT_FIELD(name) visitor(#name, object.name);
#define KBENCH_COUNT_FIELD(name) +1
#define KBENCH_IS_FIELD(name) || (sizeof(type->name) > 0 && field == #name)

#define KBENCH_FIELDS_BESIDE(T, inherited, ...)                                                 \
  constexpr size_t field_count(const T*) {                                                      \
    return 0 KBENCH_EACH(KBENCH_COUNT_FIELD, __VA_ARGS__);                                      \
  }                                                                                             \
  template <class Visitor, class Object>                                                        \
  requires std::same_as<std::remove_const_t<Object>, T>                                         \
  void each_field([[maybe_unused]] Visitor&& visitor, [[maybe_unused]] Object& object) {        \
    KBENCH_EACH(KBENCH_VISIT_FIELD, __VA_ARGS__)                                                \
  }                                                                                             \
  static_assert(                                                                                \
      ::kbench::kHasMembers<T, (0 KBENCH_EACH(KBENCH_COUNT_FIELD, __VA_ARGS__)) - (inherited)>, \
      "the list of fields does not have all members of " #T);

#define KBENCH_VISIT_ASKED(field) KBENCH_VISIT_FIELD_OF field
#define KBENCH_VISIT_FIELD_OF(name, ...) visitor(#name, object.name);
#define KBENCH_VISIT_WORDS(field) KBENCH_VISIT_WORDS_OF field
#define KBENCH_VISIT_WORDS_OF(name, ...) \
  visitor(#name, object.name, ::kbench::FieldWords{__VA_ARGS__});

/// The fields of a struct without base classes, each with its FieldWords.
#define KBENCH_ASKED_FIELDS(T, ...)                                                         \
  constexpr size_t field_count(const T*) {                                                  \
    return 0 KBENCH_EACH(KBENCH_COUNT_FIELD, __VA_ARGS__);                                  \
  }                                                                                         \
  template <class Visitor, class Object>                                                    \
  requires std::same_as<std::remove_const_t<Object>, T>                                     \
  void each_field(Visitor&& visitor, Object& object) {                                      \
    KBENCH_EACH(KBENCH_VISIT_ASKED, __VA_ARGS__)                                            \
  }                                                                                         \
  template <class Visitor, class Object>                                                    \
  requires std::same_as<std::remove_const_t<Object>, T>                                     \
  void each_asked_field(Visitor&& visitor, Object& object) {                                \
    KBENCH_EACH(KBENCH_VISIT_WORDS, __VA_ARGS__)                                            \
  }                                                                                         \
  static_assert(::kbench::kHasMembers<T, (0 KBENCH_EACH(KBENCH_COUNT_FIELD, __VA_ARGS__))>, \
                "the list of fields does not have all members of " #T);

/// The fields of a struct without base classes.
#define KBENCH_FIELDS(T, ...) KBENCH_FIELDS_BESIDE(T, 0 __VA_OPT__(, ) __VA_ARGS__)
/// All fields of a struct, those of its only base, which has a list itself, among them.
#define KBENCH_FIELDS_OF_DERIVED(T, Base, ...) \
  KBENCH_FIELDS_BESIDE(T, field_count(static_cast<const Base*>(nullptr)) - 1, __VA_ARGS__)
/// Fields that may be absent where a struct is read; they then keep the value they have.
#define KBENCH_OPTIONAL_FIELDS(T, ...)                                                       \
  constexpr bool is_optional_field([[maybe_unused]] const T* type, std::string_view field) { \
    return false KBENCH_EACH(KBENCH_IS_FIELD, __VA_ARGS__);                                  \
  }
