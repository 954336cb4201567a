// PyTorch's load_inline, and calls of the functions that it makes of C++.
#include <memory>
#include <utility>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench::importing {

Value Evaluator::call_extension(const Object& extension, const std::string& name,
                                std::vector<Value> args, int line) {
  std::string wanted = name;
  for (const auto& source : extension.sources) {
    const auto bound = source->bound.find(name);
    if (bound != source->bound.end()) wanted = bound->second;
  }
  const NotFollowed* unread = nullptr;
  for (const auto& source : extension.sources) {
    const auto found = source->functions.find(wanted);
    if (found == source->functions.end()) {
      const auto why = source->unread.find(wanted);
      if (why != source->unread.end()) unread = &why->second;
      continue;
    }
    for (const auto& f : found->second) {
      if (args.size() > f->parameters.size() && f != found->second.back()) continue;
      NameScope scope;
      scope.extension = &extension;
      scope.source = source.get();
      const bool before = std::exchange(cpp_, true);
      struct Restore {
        bool& cpp;
        bool value;
        ~Restore() { cpp = value; }
      } restore{cpp_, before};
      for (const auto& s : source->constants) {
        try {
          run_statement(*s, scope);
        } catch (const NotFollowed&) {  // a constant that may never be used
        }
      }
      return call_function(*f, std::move(args), {}, scope, line);
    }
  }
  if (unread) throw *unread;
  stop(ImportObstacle::cpp, line, "the extension has no function " + quote(name));
}

Value Evaluator::load_inline(const std::vector<Value>& args, const Named& named, int line) {
  Value v;
  v.kind = Value::Kind::object;
  v.object = std::make_shared<Object>();
  v.object->type = "extension";
  const auto take = [&](const char* name, size_t position, bool device) {
    const Value* given = value_of(named, name);
    if (!given && args.size() > position) given = &args[position];
    if (!given) return;
    const std::vector<Value> texts =
        given->kind == Value::Kind::list ? given->items : std::vector<Value>{*given};
    for (const Value& t : texts) {
      if (t.kind == Value::Kind::poison) throw *t.why;
      if (t.kind == Value::Kind::none) continue;
      if (t.kind != Value::Kind::text) {
        stop(ImportObstacle::python, line, std::string(name) + " is no string that was followed");
      }
      v.object->sources.push_back(
          std::make_shared<CudaSource>(take_apart(t.text, t.line > 0 ? t.line : line, device)));
    }
  };
  take("cuda_sources", 2, true);
  take("cpp_sources", 1, false);
  if (v.object->sources.empty())
    stop(ImportObstacle::no_cuda, line, "load_inline without a source");
  return v;
}

}  // namespace kbench::importing
