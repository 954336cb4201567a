// A task's shape variables: KernelBench's own names, with a value for each preset.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kbench {

/// The sizes a task comes in. smoke: a few thousand elements, for tests and software devices;
/// train: v0.1's made smaller until a run takes about 0.1 ms on an H200, for many verdicts in
/// little time; v0: those of the KernelBench paper; v0_1: those of KernelBench v0.1, up to 17 GB a
/// tensor.
enum class Preset { smoke, train, v0, v0_1 };
inline constexpr Preset kAllPresets[] = {Preset::smoke, Preset::train, Preset::v0, Preset::v0_1};
std::string_view name_of(Preset preset);         ///< "smoke", "train", "v0", "v0.1"
Preset preset_from_name(std::string_view name);  ///< throws kInvalidArgument

/// Integer (also flags, 0 or 1), real, or a list of integers.
using VariableValue = std::variant<int64_t, double, std::vector<int64_t>>;
std::string to_string(const VariableValue& value);  ///< "64", "0.1", "[16, 1, 1]"

/// Values by name, sorted.
using Variables = std::map<std::string, VariableValue, std::less<>>;

/// How a list follows from other variables where it is not given itself: each extent is a number or
/// a variable's name.
using Follows = std::vector<std::variant<int64_t, std::string>>;

/// A variable as a task declares it: one value at all presets, one each, or a list that follows
/// from others, as in {"bias_shape", Follows{"out_channels", 1, 1}}.
struct VariableSpec {
  VariableSpec(std::string name, VariableValue all)
      : name(std::move(name)), smoke(all), train(all), v0(all), v0_1(all) {}
  /// `train` is v0's until it is set.
  VariableSpec(std::string name, VariableValue smoke, VariableValue v0, VariableValue v0_1)
      : name(std::move(name)),
        smoke(std::move(smoke)),
        train(v0),
        v0(std::move(v0)),
        v0_1(std::move(v0_1)) {}
  VariableSpec(std::string name, Follows follows)
      : name(std::move(name)), follows(std::move(follows)) {}

  std::string name;
  VariableValue smoke, train, v0, v0_1;
  Follows follows;  ///< empty where the values above count
  const VariableValue& at(Preset preset) const;
  bool differs() const;  ///< between presets
};

/// "NAME=VALUE" as given to --set; VALUE is 65, 0.5 or [16,1,1]. Throws kInvalidArgument.
std::pair<std::string, VariableValue> parse_assignment(std::string_view text);

}  // namespace kbench
