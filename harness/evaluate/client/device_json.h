// Devices as programs in other languages are told of them.
#pragma once

#include <nlohmann/json.hpp>

#include "kbench/evaluate.h"
#include "libkbench/scoring/json_field.h"

namespace kbench::client {

nlohmann::json to_value(const DeviceSummary& device);
/// Of an object of that form; throws kParse.
DeviceSummary device_from_json(const JsonField& field);

}  // namespace kbench::client
