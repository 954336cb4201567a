// The Error that something throws.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "kbench/error.h"

namespace kbench {

/// Fails the test when `action` throws none.
template <class Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::kInternal, "nothing was thrown");
}

template <class Action>
ErrorCode code_of(Action&& action) {
  return error_of(std::forward<Action>(action)).code();
}

}  // namespace kbench
