// A candidate against a task's sizes: names, expressions, shapes.
#include <algorithm>
#include <cstring>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/defines.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

std::string_view name_of(BufferSlot::Kind kind) {
  constexpr std::string_view kNames[] = {"an input",  "a parameter", "a constant",
                                         "an output", "a temporary", "data"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

CandidateResolver::CandidateResolver(const Candidate& candidate, const Graph& graph,
                                     const DeviceNumbers& device)
    : candidate_(candidate), graph_(graph), scope_(graph.variables(), device, graph.dtype()) {}

ResolvedCandidate CandidateResolver::resolve() {
  require_dtype(candidate_, graph_.dtype());
  requirements_broken(candidate_.requirements, graph_.variables());
  result_.candidate = &candidate_;
  result_.real = graph_.dtype();
  // Each part is resolved only where those that it refers to are right.
  for (const auto& [name, expression] : candidate_.constants) {
    errors_.keep([&] { scope_.define(name, expression); });
  }
  errors_.throw_all();
  add_task_buffers();
  add_temporaries();
  errors_.keep([&] { add_data(); });
  errors_.keep([&] { resolve_kernels(); });
  errors_.throw_all();
  result_.setup = resolve_steps(candidate_.setup, Phase::setup);
  result_.dispatch = resolve_steps(candidate_.dispatch, Phase::dispatch);
  errors_.throw_all();
  check_complete();
  errors_.throw_all();
  return std::move(result_);
}

void CandidateResolver::add_buffer(BufferSlot slot, const Location& at) {
  const auto [known, added] = names_.emplace(slot.name, static_cast<int>(result_.buffers.size()));
  if (!added) {
    const auto kind = result_.buffers[static_cast<size_t>(known->second)].kind;
    const bool own = kind == BufferSlot::Kind::temporary;
    fail_parse(at, std::string(slot.kind == BufferSlot::Kind::data ? "data" : "temporary") + " '" +
                       slot.name + "' has the name of " + std::string(name_of(kind)) +
                       (own ? "" : " of the task") + "; use another");
  }
  result_.buffers.push_back(std::move(slot));
}

void CandidateResolver::add_task_buffers() {
  const std::pair<Graph::Kind, BufferSlot::Kind> kinds[] = {
      {Graph::Kind::input, BufferSlot::Kind::input},
      {Graph::Kind::parameter, BufferSlot::Kind::parameter},
      {Graph::Kind::constant, BufferSlot::Kind::constant}};
  for (const auto& [from, to] : kinds) {
    for (int id : graph_.values_of(from)) {
      const auto& value = graph_.value(id);
      add_buffer({to, value.name, graph_.stored(value.type), id}, {});
    }
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const int id = graph_.outputs()[i];
    add_buffer({BufferSlot::Kind::output, graph_.output_name(i), graph_.stored_type(id), id}, {});
  }
}

void CandidateResolver::add_temporaries() {
  int64_t total = 0;
  for (const Temporary& temporary : candidate_.temporaries) {
    errors_.keep([&] { add_temporary(temporary, total); });
  }
}

/// `total`: bytes of the temporaries so far.
void CandidateResolver::add_temporary(const Temporary& temporary, int64_t& total) {
  TensorType type{temporary.dtype.value_or(graph_.dtype()), {}};
  int64_t bytes = static_cast<int64_t>(size_of(type.dtype));
  for (const Sourced& extent : temporary.shape) {
    for (const int64_t one : scope_.integers(extent, 1, kMaxExact, "an extent")) {
      type.shape.push_back(one);
      if (__builtin_mul_overflow(bytes, one, &bytes)) {
        fail_parse(temporary.at, "temporary '" + temporary.name + "' of shape " +
                                     to_string(type.shape) + " is larger than any memory");
      }
    }
  }
  check_count(temporary.at, "extents", type.shape.size(), limits::kRank);
  if (__builtin_add_overflow(total, bytes, &total) || total > limits::kTemporaryBytes) {
    fail_parse(temporary.at, "with temporary '" + temporary.name +
                                 "' the temporaries together are larger than any memory");
  }
  add_buffer({BufferSlot::Kind::temporary, temporary.name, std::move(type)}, temporary.at);
}

void CandidateResolver::resolve_kernels() {
  size_t macros = 0, macro_bytes = 0;
  for (const Kernel& kernel : candidate_.kernels) {
    SymbolTable scope = scope_;
    for (const auto& [name, expression] : kernel.constants) scope.define(name, expression);
    ResolvedKernel resolved;
    resolved.kernel = &kernel;
    if (kernel.language == Kernel::Language::triton) resolve_triton(scope, resolved);
    resolved.real_names = real_names(kernel, candidate_, graph_.dtype());
    resolved.macros = scope.macros();
    macro_bytes += add_defines(candidate_, kernel, resolved);
    macros += resolved.macros.size();
    if (macro_bytes > limits::kMacroBytes) {
      fail_parse(kernel.at, "up to kernel '" + kernel.name + "' the defines take " +
                                std::to_string(macro_bytes) +
                                " bytes; those of a candidate's kernels can take " +
                                std::to_string(limits::kMacroBytes) + " together");
    }
    if (macros > limits::kMacros) {
      fail_parse(kernel.at, "up to kernel '" + kernel.name + "' there are " +
                                std::to_string(macros) +
                                " macros; a candidate's kernels can have " +
                                std::to_string(limits::kMacros) + " together");
    }
    for (const auto& [id, expression] : kernel.specialization) {
      const std::string what = "specialization constant " + std::to_string(id);
      const ResolvedNumber value = number(expression, scope);
      if (value.integer) scope.integer(expression, kMinI32, kMaxU32, what);
      resolved.specialization.emplace_back(id, value);
    }
    kernel_indices_.emplace(kernel.name, static_cast<int>(result_.kernels.size()));
    result_.kernels.push_back(std::move(resolved));
    kernel_scopes_.push_back(std::move(scope));
  }
}

int CandidateResolver::buffer(const Sourced& name, Phase phase) const {
  const auto found = names_.find(name.text);
  if (found == names_.end()) {
    std::vector<std::string> known;
    for (const BufferSlot& slot : result_.buffers) known.push_back(slot.name);
    fail_parse(name.at, "there is no buffer " + quoted(name.text) +
                            suggestion(name.text.substr(0, 60), known) +
                            " (buffers: " + joined(known) + ")");
  }
  const auto kind = result_.buffers[static_cast<size_t>(found->second)].kind;
  if (phase == Phase::setup &&
      (kind == BufferSlot::Kind::input || kind == BufferSlot::Kind::output)) {
    fail_parse(name.at, "setup sees parameters, constants and temporaries only; '" + name.text +
                            "' is " + std::string(name_of(kind)));
  }
  return found->second;
}

void CandidateResolver::touch(int buffer, Phase phase) {
  touched_.insert(buffer);
  auto& slot = result_.buffers[static_cast<size_t>(buffer)];
  if (phase == Phase::dispatch) {
    dispatch_touched_.insert(buffer);
  } else if (slot.kind == BufferSlot::Kind::temporary) {
    slot.setup = true;
  }
}

ResolvedStep CandidateResolver::kernel_step(const Step& step, Phase phase) {
  ResolvedStep resolved;
  resolved.at = step.at;
  const auto kernel = kernel_indices_.find(step.kernel);
  if (kernel == kernel_indices_.end()) {
    fail_parse(step.at, "there is no kernel " + quoted(step.kernel));
  }
  resolved.kernel = kernel->second;
  used_kernels_.insert(resolved.kernel);
  SymbolTable& scope = kernel_scopes_[static_cast<size_t>(resolved.kernel)];
  scope.set_running(running_);
  if (is_cuda(result_.kernels[static_cast<size_t>(resolved.kernel)].kernel->language)) {
    resolve_cuda(step, scope, phase, resolved);
    return resolved;
  }
  FileErrors errors;
  for (const Sourced& name : step.bind) {
    errors.keep([&] {
      resolved.bind.push_back(buffer(name, phase));
      touch(resolved.bind.back(), phase);
    });
  }
  errors.keep([&] { resolved.uniforms = uniforms(step, scope); });
  for (const PushItem& item : step.push) {
    errors.keep([&] { pack_push(item, scope, phase, resolved); });
  }
  for (size_t i = 0; i < step.groups.size(); ++i) {
    errors.keep([&] {
      resolved.groups[i] = static_cast<uint32_t>(
          scope.integer(step.groups[i], 1, kMaxU32, "a number of workgroups"));
    });
  }
  errors.throw_all();
  return resolved;
}

void CandidateResolver::pack_push(const PushItem& item, const SymbolTable& scope, Phase phase,
                                  ResolvedStep& resolved) {
  const bool address = item.kind == PushItem::Kind::address;
  auto [bits, size] = address ? NumberBits{0, 8} : number_bits(item, scope);
  const size_t offset = (resolved.push.size() + size - 1) / size * size;
  if (offset + size > limits::kPushBytes) {
    fail_parse(item.value.at, "the push constants take more than " +
                                  std::to_string(limits::kPushBytes) +
                                  " bytes; use KB_ macros or a specialization constant");
  }
  int target = -1;
  if (address) {
    target = buffer(item.value, phase);
    resolved.addresses.emplace_back(offset, target);
    touch(target, phase);
  }
  resolved.push.resize(offset + size);
  std::memcpy(resolved.push.data() + offset, &bits, size);
  resolved.arguments.push_back({item.kind, offset, size, target});
}

void CandidateResolver::touch_all(const Step& step, Phase phase) {
  const auto touch_named = [&](const Sourced& name) {
    if (const auto found = names_.find(name.text); found != names_.end()) {
      touch(found->second, phase);
    }
  };
  for (const Sourced& name : step.bind) touch_named(name);
  for (const Operand& operand : step.out) touch_named(operand.name);
}

void CandidateResolver::check_complete() {
  const auto wrong = [&](const Location& at, const std::string& message) {
    errors_.keep([&] { fail_parse(at, message); });
  };
  for (size_t i = 0; i < result_.buffers.size(); ++i) {
    const BufferSlot& slot = result_.buffers[i];
    if (slot.kind == BufferSlot::Kind::output && !dispatch_touched_.contains(static_cast<int>(i))) {
      wrong(candidate_.dispatch_at, "no step of dispatch binds the output '" + slot.name + "'");
    }
  }
  for (size_t i = 0; i < candidate_.kernels.size(); ++i) {
    if (used_kernels_.contains(static_cast<int>(i))) continue;
    wrong(candidate_.kernels[i].at,
          "no step uses the kernel '" + candidate_.kernels[i].name + "'; remove it or dispatch it");
  }
  const auto require_use = [&](const auto& buffer, const char* what, const char* them) {
    if (touched_.contains(names_.at(buffer.name))) return;
    wrong(buffer.at, std::string("no step uses the ") + what + " '" + buffer.name + "'; remove " +
                         them + " or bind " + them);
  };
  for (const Temporary& temporary : candidate_.temporaries) {
    require_use(temporary, "temporary", "it");
  }
  for (const DataBuffer& data : candidate_.data) require_use(data, "data", "them");
}

int requirements_broken(const std::vector<Sourced>& requirements, const Variables& variables) {
  const std::map<std::string, double> names = expression_names(variables);
  return static_cast<int>(std::ranges::count_if(requirements, [&](const Sourced& requirement) {
    return evaluate_integer(requirement, names) == 0;
  }));
}

bool is_for(const Candidate& candidate, DType dtype) {
  return candidate.dtypes.empty() || std::ranges::count(candidate.dtypes, dtype) > 0;
}

void require_dtype(const Candidate& candidate, DType dtype) {
  if (is_for(candidate, dtype)) return;
  std::vector<std::string> names;
  for (const DType each : candidate.dtypes) names.emplace_back(name_of(each));
  throw Error(ErrorCode::kUnsupported, candidate.dtype_at,
              "the candidate is written for " + joined(names) + ", the task is in " +
                  std::string(name_of(dtype)) + "; --dtype " + names.front() + " asks for another");
}

ResolvedCandidate resolve(const Candidate& candidate, const Graph& graph,
                          const DeviceNumbers& device) {
  return CandidateResolver(candidate, graph, device).resolve();
}

}  // namespace kbench
