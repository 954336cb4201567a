// Values of Python from and to those of C++, for functions that are bound without pybind11.
#pragma once

#include <Python.h>

#include "kbench_torch.h"

namespace c10::kbench::py {

/// A reference that is owned.
struct Release {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Held = std::unique_ptr<PyObject, Release>;

/// False for a value that a Python object does not have.
inline bool has_not() { return PyErr_Clear(), false; }

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
/// A number is taken by way of the widest type of its kind, of which bridge.cc asks pybind11.
template <class T>
struct Cast<T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, char>>> {
  static constexpr bool truth = std::is_same_v<T, bool>, real = std::is_floating_point_v<T>;
  static constexpr char kind = truth ? 'b' : real ? 'd' : std::is_signed_v<T> ? 'i' : 'u';
  using Integer = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Wide = std::conditional_t<truth, bool, std::conditional_t<real, double, Integer>>;
  static std::string name() { return truth ? "bool" : real ? "float" : "int"; }
  static bool from(PyObject* object, T& value, bool convert) {
    Wide wide{};
    if (!kb_unwrap_number(object, kind, convert, &wide)) return false;
    value = static_cast<T>(wide);
    return real || static_cast<Wide>(value) == wide;
  }
  static PyObject* to(T value) {
    if constexpr (truth) return PyBool_FromLong(value);
    if constexpr (real) return PyFloat_FromDouble(static_cast<double>(value));
    if constexpr (kind == 'i') return PyLong_FromLongLong(value);
    return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(value));
  }
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
    if (text == nullptr) return has_not();
    value.assign(text, static_cast<size_t>(size));
    return true;
  }
  static PyObject* to(const std::string& value) {
    return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr);
  }
};
template <>
struct Cast<const char*> : Cast<std::string> {};  // Of a default or a result.
template <class T>
struct Cast<optional<T>> {
  static std::string name() { return "Optional[" + Cast<T>::name() + "]"; }
  static bool from(PyObject* object, optional<T>& value, bool convert) {
    if (object == Py_None) return value = nullopt, true;
    return Cast<T>::from(object, value.emplace(), convert);
  }
  static PyObject* to(const optional<T>& value) {
    return value ? Cast<T>::to(*value) : Py_NewRef(Py_None);
  }
};
using none = std::nullptr_t;
template <class T>
struct Cast<T, std::enable_if_t<std::is_same_v<T, none> || std::is_same_v<T, nullopt_t>>> {
  static PyObject* to(T) { return Py_NewRef(Py_None); }
};
template <class T>
struct Cast<std::vector<T>> {
  static std::string name() { return "List[" + Cast<T>::name() + "]"; }
  static bool from(PyObject* object, std::vector<T>& value, bool convert) {
    if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) return false;
    const Py_ssize_t size = PySequence_Size(object);
    value.clear();
    for (Py_ssize_t i = 0; i < size; ++i) {
      const Held item(PySequence_GetItem(object, i));
      T each{};
      if (item.get() == nullptr) return has_not();
      if (!Cast<T>::from(item.get(), each, convert)) return false;
      value.push_back(std::move(each));
    }
    return size >= 0 || has_not();
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
template <class... T>
struct Cast<std::tuple<T...>> {  // Of a result.
  static PyObject* to(const std::tuple<T...>& value) {
    Held tuple(PyTuple_New(sizeof...(T)));
    Py_ssize_t at = 0;
    const auto put = [&](PyObject* item) {
      return item != nullptr && PyTuple_SetItem(tuple.get(), at++, item) == 0;
    };
    const auto put_all = [&](const T&... each) { return (put(Cast<T>::to(each)) && ...); };
    return tuple.get() != nullptr && std::apply(put_all, value) ? tuple.release() : nullptr;
  }
};

}  // namespace c10::kbench::py
