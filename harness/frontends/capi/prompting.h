// What a request says of the prompts that it wants.
#pragma once

#include <string_view>
#include <vector>

#include "harness/frontends/capi/answer.h"
#include "kbench/prompts.h"

namespace kbench::capi {

/// The members of a request that say which prompt: the task, its sizes, what the prompt has.
extern const std::vector<std::string_view> kPromptMembers;

PromptContext context_of(const CallRequest& request);
Prompts prompts_of(const CallRequest& request);

}  // namespace kbench::capi
