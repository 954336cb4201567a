// PYBIND11_MODULE and m.def() of functions of plain types, without pybind11.
#pragma once

#include <Python.h>

#include <functional>

#include "kbench_torch.h"

namespace c10 {
inline namespace kbench {
namespace py {

/// A reference that is owned.
class Held {
 public:
  explicit Held(PyObject* object) : object_(object) {}
  Held(const Held&) = delete;
  ~Held() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_;
};
struct PythonError {};  // Python's error is set.

/// from() takes a value of a Python object, as pybind11 does: first without conversion, so that
/// another overload may fit better. to() makes one.
template <class T, class = void>
struct Cast;
template <>
struct Cast<Tensor> {
  static std::string name() { return "torch.Tensor"; }
  static bool from(PyObject* object, Tensor& value, bool) { return kb_unwrap(object, &value); }
  static PyObject* to(const Tensor& value) { return kb_wrap(&value); }
};
template <>
struct Cast<bool> {
  static std::string name() { return "bool"; }
  static bool from(PyObject* object, bool& value, bool convert) {
    if (object == Py_True || object == Py_False) return value = object == Py_True, true;
    const bool numpy = std::strncmp(Py_TYPE(object)->tp_name, "numpy.bool", 10) == 0;
    if (!convert && !numpy) return false;
    const auto* number = Py_TYPE(object)->tp_as_number;
    const int truth = object == Py_None                      ? 0
                      : number != nullptr && number->nb_bool ? number->nb_bool(object)
                                                             : -1;
    if (truth < 0) PyErr_Clear();
    return value = truth == 1, truth >= 0;
  }
  static PyObject* to(bool value) { return PyBool_FromLong(value); }
};
template <class T>
struct Cast<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                !std::is_same_v<T, char>>> {
  static std::string name() { return "int"; }
  static bool from(PyObject* object, T& value, bool convert) {
    if (PyFloat_Check(object)) return false;
    if (!convert && !PyLong_Check(object) && !PyIndex_Check(object)) return false;
    PyObject* index = PyNumber_Index(object);
    if (index == nullptr) {
      PyErr_Clear();
      if (!convert || !PyNumber_Check(object)) return false;
      index = PyNumber_Long(object);
    }
    const Held number(index);
    if (number.get() == nullptr) return PyErr_Clear(), false;
    if constexpr (std::is_signed_v<T>) {
      const long long got = PyLong_AsLongLong(number.get());
      value = static_cast<T>(got);
      if (!PyErr_Occurred()) return value == got;
    } else {
      const unsigned long long got = PyLong_AsUnsignedLongLong(number.get());
      value = static_cast<T>(got);
      if (!PyErr_Occurred()) return value == got;
    }
    PyErr_Clear();
    return false;
  }
  static PyObject* to(T value) {
    if constexpr (std::is_signed_v<T>) return PyLong_FromLongLong(value);
    return PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(value));
  }
};
template <class T>
struct Cast<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static std::string name() { return "float"; }
  static bool from(PyObject* object, T& value, bool convert) {
    if (!convert && !PyFloat_Check(object)) return false;
    double got = PyFloat_AsDouble(object);
    if (got == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      if (!convert || !PyNumber_Check(object)) return false;
      const Held number(PyNumber_Float(object));
      if (number.get() == nullptr) return PyErr_Clear(), false;
      got = PyFloat_AsDouble(number.get());
    }
    value = static_cast<T>(got);
    return true;
  }
  static PyObject* to(T value) { return PyFloat_FromDouble(static_cast<double>(value)); }
};
template <>
struct Cast<std::string> {
  static std::string name() { return "str"; }
  static bool from(PyObject* object, std::string& value, bool) {
    Py_ssize_t size = 0;
    if (PyBytes_Check(object)) {
      value.assign(PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)));
      return true;
    }
    const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
    if (text == nullptr) return PyErr_Clear(), false;
    value.assign(text, static_cast<size_t>(size));
    return true;
  }
  static PyObject* to(const std::string& value) {
    return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr);
  }
};
template <>
struct Cast<const char*> {  // Of a default or a result.
  static PyObject* to(const char* value) { return Cast<std::string>::to(value); }
};
template <>
struct Cast<ScalarType> {
  static std::string name() { return "torch.dtype"; }
  static bool from(PyObject* object, ScalarType& value, bool) {
    int64_t got = 0;
    if (!kb_unwrap_other(object, 'y', &got)) return false;
    return value = static_cast<ScalarType>(got), true;
  }
  static PyObject* to(ScalarType value) { return kb_wrap_dtype(static_cast<int8_t>(value)); }
};
template <class T>
struct Cast<optional<T>> {
  static std::string name() { return "Optional[" + Cast<T>::name() + "]"; }
  static bool from(PyObject* object, optional<T>& value, bool convert) {
    if (object == Py_None) return value = nullopt, true;
    T inner{};
    if (!Cast<T>::from(object, inner, convert)) return false;
    return value = std::move(inner), true;
  }
  static PyObject* to(const optional<T>& value) {
    return value ? Cast<T>::to(*value) : Py_NewRef(Py_None);
  }
};
struct none {};
template <>
struct Cast<none> {
  static PyObject* to(none) { return Py_NewRef(Py_None); }
};
template <>
struct Cast<nullopt_t> {
  static PyObject* to(nullopt_t) { return Py_NewRef(Py_None); }
};
template <class T>
struct Cast<std::vector<T>> {
  static std::string name() { return "List[" + Cast<T>::name() + "]"; }
  static bool from(PyObject* object, std::vector<T>& value, bool convert) {
    if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) return false;
    const Py_ssize_t size = PySequence_Size(object);
    if (size < 0) return PyErr_Clear(), false;
    value.clear();
    for (Py_ssize_t i = 0; i < size; ++i) {
      const Held item(PySequence_GetItem(object, i));
      T each{};
      if (item.get() == nullptr) return PyErr_Clear(), false;
      if (!Cast<T>::from(item.get(), each, convert)) return false;
      value.push_back(std::move(each));
    }
    return true;
  }
  static PyObject* to(const std::vector<T>& value) {
    Held list(PyList_New(static_cast<Py_ssize_t>(value.size())));
    for (size_t i = 0; list.get() != nullptr && i < value.size(); ++i) {
      PyObject* item = Cast<T>::to(value[i]);
      if (item == nullptr) return nullptr;
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
    }
    return list.release();
  }
};
template <>
struct Cast<IntArrayRef> {
  static std::string name() { return "List[int]"; }
};
template <class... T>
struct Cast<std::tuple<T...>> {
  static std::string name() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + Cast<T>::name()), ...);
    return "Tuple[" + all + "]";
  }
  template <size_t... i>
  static bool parts(PyObject* object, std::tuple<T...>& value, bool convert,
                    std::index_sequence<i...>) {
    const auto one = [&](size_t at, auto& part) {
      const Held item(PySequence_GetItem(object, static_cast<Py_ssize_t>(at)));
      return item.get() != nullptr &&
             Cast<std::decay_t<decltype(part)>>::from(item.get(), part, convert);
    };
    return (one(i, std::get<i>(value)) && ...);
  }
  static bool from(PyObject* object, std::tuple<T...>& value, bool convert) {
    if (!PySequence_Check(object) || PySequence_Size(object) != sizeof...(T)) {
      return PyErr_Clear(), false;
    }
    return parts(object, value, convert, std::index_sequence_for<T...>());
  }
  static PyObject* to(const std::tuple<T...>& value) {
    Held tuple(PyTuple_New(sizeof...(T)));
    Py_ssize_t at = 0;
    bool whole = true;
    const auto put = [&](PyObject* item) {
      whole = whole && item != nullptr;
      if (item != nullptr) PyTuple_SET_ITEM(tuple.get(), at++, item);
    };
    std::apply([&](const T&... each) { (put(Cast<T>::to(each)), ...); }, value);
    return whole ? tuple.release() : nullptr;
  }
};
template <class A, class B>
struct Cast<std::pair<A, B>> {
  static std::string name() { return Cast<std::tuple<A, B>>::name(); }
  static bool from(PyObject* object, std::pair<A, B>& value, bool convert) {
    std::tuple<A, B> both;
    if (!Cast<std::tuple<A, B>>::from(object, both, convert)) return false;
    return value = {std::get<0>(both), std::get<1>(both)}, true;
  }
  static PyObject* to(const std::pair<A, B>& v) {
    return Cast<std::tuple<A, B>>::to({v.first, v.second});
  }
};

/// py::arg("x"), py::arg("y") = 1
struct Argument {
  std::string name;
  std::shared_ptr<Held> value = nullptr;
  std::string shown = "";
};
struct arg {
  std::string name;
  explicit arg(const char* text) : name(text) {}
  template <class T>
  Argument operator=(const T& value) const {
    auto held = std::make_shared<Held>(Cast<std::decay_t<T>>::to(value));
    if (held->get() == nullptr) throw PythonError();
    const Held text(PyObject_Repr(held->get()));
    const char* shown = text.get() != nullptr ? PyUnicode_AsUTF8(text.get()) : nullptr;
    return {name, std::move(held), shown != nullptr ? shown : "..."};
  }
  arg& noconvert() { return *this; }
};
namespace literals {
inline arg operator""_a(const char* text, size_t) { return arg(text); }
}  // namespace literals
struct gil_scoped_release {
  PyThreadState* state = PyEval_SaveThread();
  gil_scoped_release() = default;
  gil_scoped_release(const gil_scoped_release&) = delete;
  ~gil_scoped_release() { PyEval_RestoreThread(state); }
};
struct gil_scoped_acquire {
  PyGILState_STATE state = PyGILState_Ensure();
  gil_scoped_acquire() = default;
  gil_scoped_acquire(const gil_scoped_acquire&) = delete;
  ~gil_scoped_acquire() { PyGILState_Release(state); }
};
/// One function: null without an error set where the arguments are not of its types.
struct Overload {
  std::vector<Argument> arguments;
  std::string signature;
  std::function<PyObject*(PyObject* const*, bool)> call;
};
struct Function {
  std::string name, doc;
  PyMethodDef method{};
  std::vector<Overload> overloads;

  PyObject* call(PyObject* positional, PyObject* named) const {
    for (const bool convert : {false, true}) {
      for (const Overload& each : overloads) {
        std::vector<PyObject*> given;
        if (!place(each, positional, named, given)) continue;
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
    const Held shown(PyObject_Repr(positional));
    const char* invoked = shown.get() != nullptr ? PyUnicode_AsUTF8(shown.get()) : nullptr;
    PyErr_Clear();
    text += "\n\nInvoked with: " + std::string(invoked != nullptr ? invoked : "...");
    PyErr_SetString(PyExc_TypeError, text.c_str());
    return nullptr;
  }

 private:
  static bool place(const Overload& overload, PyObject* positional, PyObject* named,
                    std::vector<PyObject*>& given) {
    const auto count = static_cast<size_t>(PyTuple_GET_SIZE(positional));
    size_t used = 0;
    if (count > overload.arguments.size()) return false;
    for (size_t i = 0; i < overload.arguments.size(); ++i) {
      const Argument& argument = overload.arguments[i];
      PyObject* by_name = named != nullptr && !argument.name.empty()
                              ? PyDict_GetItemString(named, argument.name.c_str())
                              : nullptr;
      PyObject* value =
          i < count ? PyTuple_GET_ITEM(positional, static_cast<Py_ssize_t>(i)) : by_name;
      if (by_name != nullptr) {
        if (i < count) return false;
        ++used;
      }
      if (value == nullptr && argument.value) value = argument.value->get();
      if (value == nullptr) return false;
      given.push_back(value);
    }
    return named == nullptr || static_cast<size_t>(PyDict_Size(named)) == used;
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
  const auto set = [](PyObject* type, const std::exception& error) {
    PyErr_SetString(type, error.what());
    return nullptr;
  };
  try {
    throw;
  } catch (const std::bad_alloc& error) {
    return set(PyExc_MemoryError, error);
  } catch (const std::domain_error& error) {
    return set(PyExc_ValueError, error);
  } catch (const std::invalid_argument& error) {
    return set(PyExc_ValueError, error);
  } catch (const std::length_error& error) {
    return set(PyExc_ValueError, error);
  } catch (const std::out_of_range& error) {
    return set(PyExc_IndexError, error);
  } catch (const std::range_error& error) {
    return set(PyExc_ValueError, error);
  } catch (const std::overflow_error& error) {
    return set(PyExc_OverflowError, error);
  } catch (...) {
    return kb_python_error();
  }
}

template <class T>
struct Parameter {
  using type = std::decay_t<T>;
};
template <>
struct Parameter<IntArrayRef> {
  using type = std::vector<int64_t>;
};
template <>
struct Parameter<TensorList> {
  using type = std::vector<Tensor>;
};

template <class F, class R, class... A, size_t... i>
Overload overload_of(F function, R (*)(A...), std::index_sequence<i...>) {
  Overload overload;
  overload.arguments.resize(sizeof...(A));
  overload.call = [function](PyObject* const* given, bool convert) -> PyObject* {
    std::tuple<typename Parameter<A>::type...> values;
    static_cast<void>(given), static_cast<void>(convert);
    if (!(Cast<typename Parameter<A>::type>::from(given[i], std::get<i>(values), convert) && ...)) {
      return nullptr;
    }
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
  return overload;
}
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using type = R (*)(A...);
  static std::vector<std::string> names() { return {Cast<typename Parameter<A>::type>::name()...}; }
  static std::string result() {
    if constexpr (std::is_void_v<R>) {
      return "None";
    } else {
      return Cast<std::decay_t<R>>::name();
    }
  }
  template <class F>
  static Overload overload(F function) {
    return overload_of(function, type(), std::index_sequence_for<A...>());
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
    Overload overload = S::overload(function);
    Function& to = function_of(name);
    size_t at = 0;
    (take(extra, overload, at, to), ...);
    overload.signature = name + std::string("(");
    const auto types = S::names();
    for (size_t i = 0; i < types.size(); ++i) {
      Argument& each = overload.arguments[i];
      overload.signature += (i ? ", " : "") +
                            (each.name.empty() ? "arg" + std::to_string(i) : each.name) + ": " +
                            types[i] + (each.value ? " = " + each.shown : "");
    }
    overload.signature += ") -> " + S::result();
    to.overloads.push_back(std::move(overload));
    to.method.ml_doc = to.doc.c_str();
    return *this;
  }
  template <class T>
  module_& add(const char* name, const T& value) {
    PyModule_AddObject(self_, name, Cast<std::decay_t<T>>::to(value));
    return *this;
  }
  std::string& doc() { return doc_; }

 private:
  static void take(const char* doc, Overload&, size_t&, Function& to) { to.doc += doc; }
  static void take(const arg& given, Overload& overload, size_t& at, Function&) {
    overload.arguments.at(at++).name = given.name;
  }
  static void take(const Argument& given, Overload& overload, size_t& at, Function&) {
    overload.arguments.at(at++) = given;
  }

  /// Each lives as long as its module's library, which Python never unloads.
  Function& function_of(const char* name) {
    for (Function* each : functions_) {
      if (each->name == name) return *each;
    }
    auto* made = new Function{name, "", {}, {}};
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
    if (object == nullptr || PyModule_AddObject(self_, name, object) != 0) throw PythonError();
    return *made;
  }

  PyObject* self_;
  std::string doc_;
  std::vector<Function*> functions_;
};
using module = module_;

inline PyObject* make_module(PyModuleDef& definition, const char* name, void (*fill)(module_&)) {
  definition = {
      PyModuleDef_HEAD_INIT, name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  Held made(PyModule_Create(&definition));
  if (made.get() == nullptr) return nullptr;
  try {
    module_ module(made.get());
    fill(module);
  } catch (const PythonError&) {
    return nullptr;
  } catch (...) {
    return kb_python_error();
  }
  return made.release();
}
}  // namespace py
}  // namespace kbench
}  // namespace c10

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
    static PyModuleDef definition;                                              \
    return ::c10::py::make_module(definition, #NAME, kb_fill_##NAME);           \
  }                                                                             \
  static void kb_fill_##NAME([[maybe_unused]] ::c10::py::module_& MODULE)
