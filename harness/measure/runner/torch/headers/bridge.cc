// The library that stands between extensions compiled with kbench's headers and PyTorch: compiled
// once against PyTorch's own headers, of which it alone knows.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/version.h>
#ifdef KBENCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kbench_abi.h"

namespace {

const at::Tensor& tensor_at(const void* tensor) { return *static_cast<const at::Tensor*>(tensor); }

at::IntArrayRef numbers(const KbValue& value) {
  return {static_cast<const int64_t*>(value.data), static_cast<size_t>(value.count)};
}

at::Scalar scalar_of(const KbValue& value) {
  if (value.kind == 'd') return value.d;
  if (value.kind == 'b') return value.i != 0;
  return value.i;
}

at::TensorOptions options_of(const KbOptions& said) {
  at::TensorOptions options;
  if (said.dtype >= 0) options = options.dtype(static_cast<at::ScalarType>(said.dtype));
  if (said.device >= 0) {
    options = options.device(at::Device(static_cast<at::DeviceType>(said.device), said.index));
  }
  if (said.requires_grad > 0) options = options.requires_grad(true);
  return said.pinned > 0 ? options.pinned_memory(true) : options;
}

// Operators

struct Site {
  c10::OperatorHandle op;
  std::vector<int> given;  ///< for each argument of the operator the value, or -1
  std::string kinds = "";  ///< of each argument
  at::Stack defaults = {};
};

std::string& missing() {
  static std::string names;
  return names;
}

c10::TypePtr unwrapped(const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : argument.real_type();
}

/// The kind of values, as KbValue has them, that an argument of this type is; 0: of none.
char kind_of(const c10::Argument& argument) {
  using Type = c10::TypeKind;
  static const std::map<Type, char> kinds = {
      {Type::TensorType, 't'},       {Type::IntType, 'i'},    {Type::SymIntType, 'i'},
      {Type::NumberType, 's'},       {Type::FloatType, 'd'},  {Type::BoolType, 'b'},
      {Type::ScalarTypeType, 'y'},   {Type::StringType, 'z'}, {Type::ListType, 'l'},
      {Type::MemoryFormatType, 'f'},
  };
  const auto kind = [](const c10::TypePtr& type) {
    const auto found = kinds.find(type->kind());
    return found == kinds.end() ? '\0' : found->second;
  };
  const auto type = unwrapped(argument);
  const auto list = type->cast<c10::ListType>();
  const char of = kind(list ? list->getElementType() : type);
  return !list ? of : of == 't' ? 'L' : of == 'i' ? 'l' : '\0';
}

/// What it costs to give a value of a C++ type to an argument of this type; -1: it cannot be given.
int cost(char kind, const c10::Argument& argument) {
  if (kind == 'n') return argument.type()->kind() == c10::TypeKind::OptionalType ? 0 : -1;
  // What numbers can be given to, the best first.
  static const std::map<char, std::string> takers = {{'i', "isld"}, {'b', "bsi"}, {'d', "ds"}};
  const auto found = takers.find(kind);
  const std::string of = found == takers.end() ? std::string(1, kind) : found->second;
  const auto at = of.find(kind_of(argument));
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

/// Which value goes to which argument, and what that costs; -1: they do not fit.
int fit(const c10::FunctionSchema& schema, const std::string& kinds, std::vector<int>& given) {
  const auto& arguments = schema.arguments();
  given.assign(arguments.size(), -1);
  int sum = 0;
  size_t at = 0;
  for (size_t value = 0; value < kinds.size(); ++value, ++at) {
    const char kind = kinds[value];
    const auto fits = [&] {
      // The options of a new tensor are four arguments, of which its type is the first.
      const bool options = at + 3 < arguments.size() && arguments[at].name() == "dtype" &&
                           arguments[at + 1].name() == "layout";
      if (options && (kind == 'O' || kind == 'y')) return true;
      return kind == 'o' ? arguments[at].is_out() : cost(kind, arguments[at]) >= 0;
    };
    // Those that can be given by name only may be left out.
    while (at < arguments.size() && !fits() && arguments[at].kwarg_only() &&
           (arguments[at].default_value() || arguments[at].is_out() == (kind != 'o'))) {
      if (!arguments[at].default_value()) return -1;
      ++at;
    }
    if (at >= arguments.size() || !fits()) return -1;
    given[at] = static_cast<int>(value);
    if (kind == 'O') {
      for (int part = 1; part < 4; ++part) given[++at] = static_cast<int>(value);
    } else {
      sum += std::max(cost(kind, arguments[at]), 0);
    }
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (given[i] < 0 && !arguments[i].default_value()) return -1;
  }
  return sum;
}

/// For an argument of this kind.
c10::IValue given_as(const KbValue& value, const c10::Argument& argument, char kind) {
  if (value.kind == 'n') return {};
  if (value.kind == 'O') {
    const auto& said = *static_cast<const KbOptions*>(value.data);
    if (argument.name() == "dtype") return said.dtype < 0 ? c10::IValue() : int64_t{said.dtype};
    if (argument.name() == "layout") return said.layout < 0 ? c10::IValue() : int64_t{said.layout};
    if (argument.name() == "pin_memory") {
      return said.pinned < 0 ? c10::IValue() : c10::IValue(said.pinned > 0);
    }
    return said.device < 0 ? c10::IValue() : c10::IValue(options_of(said).device());
  }
  if (kind == 't') return tensor_at(value.data);
  if (kind == 's') return scalar_of(value);
  if (kind == 'd') return scalar_of(value).toDouble();
  if (kind == 'b') return value.i != 0;
  if (kind == 'z') {
    return std::string(static_cast<const char*>(value.data), static_cast<size_t>(value.count));
  }
  if (kind == 'L') {
    const auto* first = static_cast<const at::Tensor*>(value.data);
    return c10::List<at::Tensor>(at::ArrayRef<at::Tensor>(first, static_cast<size_t>(value.count)));
  }
  if (kind != 'l') return value.i;
  if (value.kind == 'l') return c10::List<int64_t>(numbers(value));
  // One number for all of a list of a known length, else a list of one.
  const auto length = argument.N();
  return c10::List<int64_t>(
      std::vector<int64_t>(length ? static_cast<size_t>(*length) : 1, value.i));
}

template <class T>
bool loaded(PyObject* object, bool convert, void* value) {
  pybind11::detail::make_caster<T> caster;
  if (!caster.load(pybind11::handle(object), convert)) return false;
  *static_cast<T*>(value) = pybind11::detail::cast_op<T>(caster);
  return true;
}

}  // namespace

extern "C" {

void* kb_undefined() { return c10::UndefinedTensorImpl::singleton(); }

void kb_retain(void* impl) {
  if (impl != kb_undefined()) c10::raw::intrusive_ptr::incref(static_cast<c10::TensorImpl*>(impl));
}

void kb_release(void* impl) {
  if (impl != kb_undefined()) c10::raw::intrusive_ptr::decref(static_cast<c10::TensorImpl*>(impl));
}

int64_t kb_ask(const void* tensor, KbQuestion what) {
  switch (what) {
#define KB_ANSWER(TYPE, NAME) \
  case KbQuestion::NAME:      \
    return static_cast<int64_t>(tensor_at(tensor).NAME());
    KB_QUESTIONS(KB_ANSWER)
  }
  return 0;
}

int64_t kb_size(const void* tensor, int64_t d) { return tensor_at(tensor).size(d); }
int64_t kb_stride(const void* tensor, int64_t d) { return tensor_at(tensor).stride(d); }
const int64_t* kb_sizes(const void* tensor) { return tensor_at(tensor).sizes().data(); }
const int64_t* kb_strides(const void* tensor) { return tensor_at(tensor).strides().data(); }
bool kb_is_contiguous(const void* tensor, int8_t memory_format) {
  return tensor_at(tensor).is_contiguous(static_cast<at::MemoryFormat>(memory_format));
}

void* kb_data(const void* at, int8_t dtype) {
  const at::Tensor& tensor = tensor_at(at);
  switch (static_cast<at::ScalarType>(dtype)) {
#define KB_DATA(TYPE, NAME)  \
  case at::ScalarType::NAME: \
    return tensor.data_ptr<TYPE>();
    AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, KB_DATA)
    default:
      return tensor.data_ptr();
  }
}

KbOptions kb_options(const void* at) {
  const at::TensorOptions options = tensor_at(at).options();
  KbOptions said;
  said.dtype = static_cast<int8_t>(at::typeMetaToScalarType(options.dtype()));
  said.layout = static_cast<int8_t>(options.layout());
  said.device = static_cast<int8_t>(options.device().type());
  said.index = static_cast<int8_t>(options.device().index());
  return said;
}

KbValue kb_item(const void* at) {
  const at::Scalar scalar = tensor_at(at).item();
  KbValue value;
  value.kind = scalar.isFloatingPoint() ? 'd' : scalar.isBoolean() ? 'b' : 'i';
  if (value.kind == 'd') {
    value.d = scalar.toDouble();
  } else {
    value.i = scalar.toLong();
  }
  return value;
}

void kb_from_blob(void* result, void* data, KbValue sizes, KbValue strides, KbOptions said) {
  const at::TensorOptions options = options_of(said);
  *static_cast<at::Tensor*>(result) =
      strides.count == 0 ? at::from_blob(data, numbers(sizes), options)
                         : at::from_blob(data, numbers(sizes), numbers(strides), options);
}

void kb_tensor_of(void* result, const KbValue* values, KbOptions said) {
  const auto given = static_cast<at::ScalarType>(values[0].i);
  const bool floating = at::isFloatingType(given);
  at::TensorOptions options = options_of(said).requires_grad(c10::nullopt);
  if (said.dtype < 0) {
    options = options.dtype(floating             ? at::typeMetaToScalarType(at::get_default_dtype())
                            : given == at::kBool ? at::kBool
                                                 : at::kLong);
  }
  at::Tensor all = at::empty({values[0].count}, options.device(at::kCPU));
  for (int64_t i = 0; i < values[0].count; ++i) all[i].fill_(scalar_of(values[1 + i]));
  if (values[0].kind == 's') all = all.reshape({});
  *static_cast<at::Tensor*>(result) = all.to(options.device());
}

void* kb_find(const char* name, const char* kinds) {
  const std::string full = std::string("aten::") + name;
  std::unique_ptr<Site> best;
  int least = -1;
  for (const auto& each : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(full))) {
    std::vector<int> given;
    const int sum = fit(each->schema(), kinds, given);
    if (sum < 0 || (least >= 0 && sum >= least)) continue;
    const auto op = c10::Dispatcher::singleton().findSchema({full, each->schema().overload_name()});
    if (!op) continue;
    least = sum;
    best.reset(new Site{*op, std::move(given)});
  }
  if (!best) {
    missing() += (missing().empty() ? "" : ", ") + full + "(" + kinds + ")";
    return nullptr;
  }
  for (const auto& each : best->op.schema().arguments()) {
    best->kinds += kind_of(each);
    best->defaults.push_back(each.default_value() ? *each.default_value() : c10::IValue());
  }
  return best.release();
}

const char* kb_missing() { return missing().c_str(); }

KbValue kb_call(void* at, const KbValue* values, void (*take)(void* to, void* impl), void* to) {
  const Site& site = *static_cast<const Site*>(at);
  at::Stack stack = site.defaults;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (site.given[i] < 0) continue;
    const c10::Argument& argument = site.op.schema().arguments()[i];
    stack[i] = given_as(values[site.given[i]], argument, site.kinds[i]);
  }
  site.op.callBoxed(&stack);
  KbValue result;
  const auto give = [&](const at::Tensor& tensor) {
    take(to, at::Tensor(tensor).unsafeReleaseTensorImpl());
  };
  for (const c10::IValue& each : stack) {
    if (each.isTensor()) {
      give(each.toTensor());
    } else if (each.isTensorList()) {
      for (const at::Tensor& one : each.toTensorVector()) give(one);
    } else if (each.isBool() || each.isInt()) {
      result.kind = 'i';
      result.i = each.isBool() ? each.toBool() : each.toInt();
    }
  }
  return result;
}

void kb_fail(const char* function, const char* file, unsigned line, char kind, const char* text) {
  const c10::SourceLocation where{function, file, line};
  if (kind == 'i') throw c10::IndexError(where, text);
  if (kind == 'v') throw c10::ValueError(where, text);
  if (kind == 't') throw c10::TypeError(where, text);
  if (kind == 'n') throw c10::NotImplementedError(where, text);
  if (kind == 'a') c10::detail::torchInternalAssertFail(function, file, line, text, std::string());
  c10::detail::torchCheckFail(function, file, line, std::string(text));
}

void kb_no_dispatch(const char* name, int8_t dtype) {
  const std::string text =
      "\"" + std::string(name) + "\" not implemented for '" + kb_dtype_name(dtype) + "'";
  kb_fail("operator()", __FILE__, __LINE__, TORCH_VERSION_MAJOR >= 2 ? 'n' : 'e', text.c_str());
}

void kb_warn(const char* text) { TORCH_WARN(text); }

const char* kb_dtype_name(int8_t dtype) { return toString(static_cast<at::ScalarType>(dtype)); }
size_t kb_dtype_bytes(int8_t dtype) { return at::elementSize(static_cast<at::ScalarType>(dtype)); }
int8_t kb_default_dtype() {
  return static_cast<int8_t>(at::typeMetaToScalarType(at::get_default_dtype()));
}

int64_t kb_grad_mode(int64_t enabled) {
  const bool before = at::GradMode::is_enabled();
  if (enabled >= 0) at::GradMode::set_enabled(enabled != 0);
  return before;
}

// Python

PyObject* kb_wrap(const void* tensor) { return THPVariable_Wrap(tensor_at(tensor)); }

bool kb_unwrap(PyObject* object, void* tensor) {
  if (!THPVariable_Check(object)) return false;
  *static_cast<at::Tensor*>(tensor) = THPVariable_Unpack(object);
  return true;
}

bool kb_unwrap_number(PyObject* object, char kind, bool convert, void* value) {
  if (kind == 'b') return loaded<bool>(object, convert, value);
  if (kind == 'i') return loaded<int64_t>(object, convert, value);
  if (kind == 'u') return loaded<uint64_t>(object, convert, value);
  return loaded<double>(object, convert, value);
}

PyObject* kb_python_error() {
  HANDLE_TH_ERRORS
  throw;
  END_HANDLE_TH_ERRORS
}

#ifndef KBENCH_CUDA

int64_t kb_device(int64_t) { TORCH_CHECK(false, "this PyTorch has no CUDA"); }

#else

int64_t kb_device(int64_t index) {
  const int64_t before = c10::cuda::current_device();
  if (index >= 0) c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  return before;
}

void* kb_stream(char which, int64_t index) {
  const auto device = static_cast<c10::DeviceIndex>(index);
  if (which == 'c') return c10::cuda::getCurrentCUDAStream(device).stream();
  if (which == 'd') return c10::cuda::getDefaultCUDAStream(device).stream();
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/which == 'h', device).stream();
}

void kb_cuda_check(int error, const char* file, const char* function, unsigned line) {
  if (error == cudaSuccess) return;
  c10::cuda::c10_cuda_check_implementation(error, file, function, static_cast<int>(line), true);
}

const void* kb_device_properties(int64_t index) {
  return index < 0 ? at::cuda::getCurrentDeviceProperties() : at::cuda::getDeviceProperties(index);
}

void* kb_cublas_handle() { return at::cuda::getCurrentCUDABlasHandle(); }

void kb_cublas_check(int status, const char* text) {
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "CUDA error: ",
              at::cuda::blas::_cublasGetErrorEnum(static_cast<cublasStatus_t>(status)),
              " when calling `", text, "`");
}

/// Whether kernels that extensions launch on CUDA's legacy default stream go to PyTorch's current
/// one, which may be captured: to learn which kernels a call launches, never while it is timed.
static bool launches_on_current_stream = false;
void kb_launch_on_current_stream(bool current) { launches_on_current_stream = current; }

static cudaStream_t stream_for(cudaStream_t stream) {
  return stream == nullptr && launches_on_current_stream
             ? c10::cuda::getCurrentCUDAStream().stream()
             : stream;
}

// Extensions are linked with --wrap for what nvcc makes of a launch: the first before CUDA 13, the
// second from then on.
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream_for(stream));
}
#if CUDART_VERSION >= 13000
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared_bytes, cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream_for(stream));
}
#endif

#endif

}  // extern "C"
