// PYBIND11_MODULE and m.def() of functions of plain types, without pybind11.
#pragma once

#include "kbench_torch.h"

#if !defined(__CUDACC__) || defined(KBENCH_BIND)  // nvcc needs none of it where another file binds.
#include <functional>

#include "kbench_cast.h"

namespace c10::kbench::py {

/// py::arg("x"), py::arg("y") = 1
struct Argument {
  std::string name;
  std::shared_ptr<PyObject> value = nullptr;
};
struct arg : Argument {
  explicit arg(const char* text) : Argument{text} {}
  template <class T>
  Argument operator=(const T& given) const {
    return {name, Held(Cast<std::decay_t<T>>::to(given))};
  }
};
/// One function: null without an error set where the arguments are not of its types.
struct Overload {
  std::vector<Argument> arguments;
  std::function<PyObject*(PyObject* const*, bool)> call;
  std::string signature = "";

  /// Finds for each argument its object. False if they do not fit.
  bool place(PyObject* positional, PyObject* named, std::vector<PyObject*>& given) const {
    const auto count = static_cast<size_t>(PyTuple_GET_SIZE(positional));
    Py_ssize_t used = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Argument& argument = arguments[i];
      PyObject* value = named != nullptr && !argument.name.empty()
                            ? PyDict_GetItemString(named, argument.name.c_str())
                            : nullptr;
      if (value != nullptr) {
        if (i < count) return false;
        ++used;
      } else if (i < count) {
        value = PyTuple_GET_ITEM(positional, static_cast<Py_ssize_t>(i));
      } else if (argument.value) {
        value = argument.value.get();
      } else {
        return false;
      }
      given.push_back(value);
    }
    return count <= arguments.size() && (named == nullptr || PyDict_Size(named) == used);
  }
};
struct Function {
  std::string name;
  PyMethodDef method{};
  std::vector<Overload> overloads{};

  PyObject* call(PyObject* positional, PyObject* named) const {
    for (const bool convert : {false, true}) {
      for (const Overload& each : overloads) {
        std::vector<PyObject*> given;
        if (!each.place(positional, named, given)) continue;
        PyObject* result = each.call(given.data(), convert);
        if (result != nullptr || PyErr_Occurred()) return result;
      }
    }
    std::string text = name +
                       "(): incompatible function arguments. The following argument types "
                       "are supported:";
    int number = 0;
    for (const Overload& each : overloads) {
      text += "\n    " + std::to_string(++number) + ". " + each.signature;
    }
    PyErr_Format(PyExc_TypeError, "%s\n\nInvoked with: %R", text.c_str(), positional);
    return nullptr;
  }
};

/// Of torch::wrap_pybind_function(): its errors are PyTorch's.
template <class R, class... A>
struct Wrapped {
  R (*function)(A...);
  R operator()(A... a) const { return function(std::forward<A>(a)...); }
};
template <class F>
constexpr bool is_wrapped = false;
template <class R, class... A>
constexpr bool is_wrapped<Wrapped<R, A...>> = true;

/// Python's error for the exception that is being handled. Of functions that are not wrapped,
/// pybind11 translates those of the standard library.
inline PyObject* error_of(bool wrapped) {
  if (wrapped) return kb_python_error();
#define KB_TRANSLATED(THROWN, OF_PYTHON)                              \
  catch (const std::THROWN& error) {                                  \
    return PyErr_SetString(PyExc_##OF_PYTHON, error.what()), nullptr; \
  }
  try {
    throw;
  }
  KB_TRANSLATED(bad_alloc, MemoryError)
  KB_TRANSLATED(domain_error, ValueError)
  KB_TRANSLATED(invalid_argument, ValueError)
  KB_TRANSLATED(length_error, ValueError)
  KB_TRANSLATED(out_of_range, IndexError)
  KB_TRANSLATED(range_error, ValueError)
  KB_TRANSLATED(overflow_error, OverflowError)
  catch (...) {
    return kb_python_error();
  }
}

/// What a parameter's value is held as.
template <class T>
struct Parameter {
  using type = T;
};
template <class T>
struct Parameter<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <class T>
using Value = typename Parameter<std::decay_t<T>>::type;

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  static constexpr auto indices = std::index_sequence_for<A...>();
  static std::vector<std::string> types() { return {Cast<Value<A>>::name()...}; }
  template <class F, size_t... i>
  static Overload overload(F function, std::index_sequence<i...>) {
    const auto call = [function](PyObject* const* given, bool convert) -> PyObject* {
      std::tuple<Value<A>...> values;
      static_cast<void>(given), static_cast<void>(convert);
      if (!(Cast<Value<A>>::from(given[i], std::get<i>(values), convert) && ...)) return nullptr;
      try {
        if constexpr (std::is_void_v<R>) {
          function(static_cast<A>(std::get<i>(values))...);
          return Py_NewRef(Py_None);
        } else {
          return Cast<std::decay_t<R>>::to(function(static_cast<A>(std::get<i>(values))...));
        }
      } catch (...) {
        return error_of(is_wrapped<F>);
      }
    };
    return {std::vector<Argument>(sizeof...(A)), call};
  }
};
template <class F, class R, class... A>
struct Signature<R (F::*)(A...) const> : Signature<R (*)(A...)> {};

class module_ {
 public:
  explicit module_(PyObject* module) : self_(module) {}
  template <class F, class... Extra>
  module_& def(const char* name, F function, const Extra&... extra) {
    using S = Signature<std::decay_t<F>>;
    Overload overload = S::overload(function, S::indices);
    [[maybe_unused]] size_t count = 0;
    (take(extra, overload, count), ...);
    overload.signature = name + std::string("(");
    size_t i = 0;
    for (const std::string& type : S::types()) {
      const Argument& each = overload.arguments[i];
      overload.signature += (i ? ", " : "") +
                            (each.name.empty() ? "arg" + std::to_string(i) : each.name) + ": " +
                            type + (each.value ? " = ..." : "");
      ++i;
    }
    overload.signature += ")";
    function_of(name).overloads.push_back(std::move(overload));
    return *this;
  }
  std::string& doc() { return doc_; }

 private:
  static void take(const char*, Overload&, size_t&) {}  // What it says is of no use here.
  static void take(const Argument& given, Overload& overload, size_t& count) {
    overload.arguments.at(count++) = given;
  }

  /// Each lives as long as its module's library, which Python never unloads.
  Function& function_of(const char* name) {
    for (Function* each : functions_) {
      if (each->name == name) return *each;
    }
    auto* made = new Function{name};
    functions_.push_back(made);
    const auto call = [](PyObject* self, PyObject* positional, PyObject* named) -> PyObject* {
      const auto* of = static_cast<Function*>(PyCapsule_GetPointer(self, nullptr));
      return of != nullptr ? of->call(positional, named) : nullptr;
    };
    made->method = {made->name.c_str(),
                    reinterpret_cast<PyCFunction>(
                        reinterpret_cast<void (*)()>(static_cast<PyCFunctionWithKeywords>(call))),
                    METH_VARARGS | METH_KEYWORDS, nullptr};
    const Held self(PyCapsule_New(made, nullptr, nullptr));
    PyObject* object = self.get() != nullptr ? PyCFunction_New(&made->method, self.get()) : nullptr;
    PyModule_AddObject(self_, name, object);  // Null or not: its error is then Python's.
    return *made;
  }

  PyObject* self_;
  std::string doc_;
  std::vector<Function*> functions_;
};
using module = module_;

template <void (*fill)(module_&)>
PyObject* make_module(const char* name) {
  static PyModuleDef definition{
      PyModuleDef_HEAD_INIT, name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  Held made(PyModule_Create(&definition));
  if (made == nullptr) return nullptr;
  try {
    module_ module(made.get());
    fill(module);
  } catch (...) {
    return kb_python_error();
  }
  return PyErr_Occurred() ? nullptr : made.release();
}
}  // namespace c10::kbench::py

namespace pybind11 = c10::py;
namespace py = c10::py;
namespace torch {
namespace py = c10::py;
template <class R, class... A>
c10::py::Wrapped<R, A...> wrap_pybind_function(R (*function)(A...)) {
  return {function};
}
}  // namespace torch

#define PYBIND11_MODULE(NAME, MODULE) KB_MODULE(NAME, MODULE)
#define KB_MODULE(NAME, MODULE)                                                 \
  static void kb_fill_##NAME(::c10::py::module_& MODULE);                       \
  extern "C" __attribute__((visibility("default"))) PyObject* PyInit_##NAME() { \
    return ::c10::py::make_module<kb_fill_##NAME>(#NAME);                       \
  }                                                                             \
  static void kb_fill_##NAME([[maybe_unused]] ::c10::py::module_& MODULE)
#endif
