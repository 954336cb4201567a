// The library that stands between extensions compiled with kbench's headers and PyTorch: compiled
// once against PyTorch's own headers, of which it alone knows.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
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
#include <memory>
#include <sstream>
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

char* copied(const std::string& text) { return strdup(text.c_str()); }

// Operators

struct Site {
  c10::OperatorHandle op;
  std::vector<int> given;  ///< for each argument of the operator the value, or -1
  at::Stack defaults;
};

std::string& missing() {
  static std::string names;
  return names;
}

c10::TypePtr unwrapped(const c10::Argument& argument) {
  const auto optional = argument.real_type()->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : argument.real_type();
}

/// What it costs to give a value of a C++ type to an argument of this type; -1: it cannot be given.
int cost(char kind, const c10::Argument& argument) {
  const auto type = unwrapped(argument);
  const auto of = type->kind();
  const auto list = type->cast<c10::ListType>();
  const auto inner = list ? list->getElementType()->kind() : c10::TypeKind::AnyType;
  const bool ints = inner == c10::TypeKind::IntType || inner == c10::TypeKind::SymIntType;
  const bool integer = of == c10::TypeKind::IntType || of == c10::TypeKind::SymIntType;
  const bool number = of == c10::TypeKind::NumberType;
  switch (kind) {
    case 'n':
      return argument.type()->kind() == c10::TypeKind::OptionalType ? 0 : -1;
    case 't':
      return of == c10::TypeKind::TensorType ? 0 : -1;
    case 'i':
      return integer ? 0 : number ? 1 : ints ? 2 : of == c10::TypeKind::FloatType ? 3 : -1;
    case 'b':
      return of == c10::TypeKind::BoolType ? 0 : number ? 1 : integer ? 2 : -1;
    case 'd':
      return of == c10::TypeKind::FloatType ? 0 : number ? 1 : -1;
    case 's':
      return number ? 0 : -1;
    case 'l':
      return ints ? 0 : -1;
    case 'L':
      return inner == c10::TypeKind::TensorType ? 0 : -1;
    case 'y':
      return of == c10::TypeKind::ScalarTypeType ? 0 : -1;
    case 'f':
      return of == c10::TypeKind::MemoryFormatType ? 0 : -1;
    case 'z':
      return of == c10::TypeKind::StringType ? 0 : -1;
    default:
      return -1;
  }
}

/// Which value goes to which argument, and what that costs; -1: they do not fit.
int fit(const c10::FunctionSchema& schema, const std::string& kinds, std::vector<int>& given) {
  const auto& arguments = schema.arguments();
  given.assign(arguments.size(), -1);
  int sum = 0;
  size_t at = 0;
  for (size_t value = 0; value < kinds.size(); ++value, ++at) {
    const auto dtype_next = [&] {
      return at + 3 < arguments.size() && arguments[at].name() == "dtype" &&
             arguments[at + 1].name() == "layout";
    };
    const auto fits = [&] {
      if (kinds[value] == 'O' || kinds[value] == 'y') {
        if (dtype_next()) return true;
      }
      if (kinds[value] == 'o') return arguments[at].is_out();
      return cost(kinds[value], arguments[at]) >= 0;
    };
    // Those that can be given by name only may be left out.
    while (at < arguments.size() && !fits() && arguments[at].kwarg_only() &&
           (arguments[at].default_value() || arguments[at].is_out() == (kinds[value] != 'o'))) {
      if (!arguments[at].default_value()) return -1;
      ++at;
    }
    if (at >= arguments.size() || !fits()) return -1;
    given[at] = static_cast<int>(value);
    if (kinds[value] == 'O') {
      for (int part = 1; part < 4; ++part) given[++at] = static_cast<int>(value);
    } else {
      sum += std::max(cost(kinds[value], arguments[at]), 0);
    }
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (given[i] < 0 && !arguments[i].default_value()) return -1;
  }
  return sum;
}

c10::IValue given_as(const KbValue& value, const c10::Argument& argument) {
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
  const auto type = unwrapped(argument);
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return tensor_at(value.data);
    case c10::TypeKind::NumberType:
      return scalar_of(value);
    case c10::TypeKind::FloatType:
      return scalar_of(value).toDouble();
    case c10::TypeKind::BoolType:
      return value.i != 0;
    case c10::TypeKind::StringType:
      return std::string(static_cast<const char*>(value.data), static_cast<size_t>(value.count));
    default:
      break;
  }
  if (type->kind() != c10::TypeKind::ListType) return value.i;
  if (value.kind == 'L') {
    const auto* first = static_cast<const at::Tensor*>(value.data);
    return c10::List<at::Tensor>(at::ArrayRef<at::Tensor>(first, static_cast<size_t>(value.count)));
  }
  if (value.kind == 'l') return c10::List<int64_t>(numbers(value));
  // One number for all of a list of a known length, else a list of one.
  const auto length = argument.N();
  return c10::List<int64_t>(
      std::vector<int64_t>(length ? static_cast<size_t>(*length) : 1, value.i));
}

#ifdef KBENCH_CUDA
KbStream stream_as(const c10::cuda::CUDAStream& stream) {
  const c10::Stream plain = stream.unwrap();
  return {static_cast<int64_t>(plain.id()), static_cast<int64_t>(plain.device_type()),
          static_cast<int64_t>(plain.device_index()), stream.stream()};
}
#else
[[noreturn]] void no_cuda() { TORCH_CHECK(false, "this PyTorch has no CUDA"); }
#endif

}  // namespace

extern "C" {

void* kb_undefined() { return c10::UndefinedTensorImpl::singleton(); }

void kb_retain(void* impl) {
  if (impl != kb_undefined()) c10::raw::intrusive_ptr::incref(static_cast<c10::TensorImpl*>(impl));
}

void kb_release(void* impl) {
  if (impl != kb_undefined()) c10::raw::intrusive_ptr::decref(static_cast<c10::TensorImpl*>(impl));
}

int64_t kb_ask(const void* at, char what, int64_t argument) {
  const at::Tensor& tensor = tensor_at(at);
  switch (what) {
    case 'S':
      return tensor.size(argument);
    case 'T':
      return tensor.stride(argument);
    case 'd':
      return tensor.dim();
    case 'n':
      return tensor.numel();
    case 'o':
      return tensor.storage_offset();
    case 'e':
      return static_cast<int64_t>(tensor.element_size());
    case 'N':
      return static_cast<int64_t>(tensor.nbytes());
    case 'c':
      return tensor.is_contiguous(static_cast<at::MemoryFormat>(argument));
    case 'D':
      return tensor.is_non_overlapping_and_dense();
    case 'g':
      return tensor.is_cuda();
    case 'p':
      return tensor.is_sparse();
    case 'r':
      return tensor.requires_grad();
    case 'u':
      return static_cast<int64_t>(tensor.use_count());
    case 'G':
      return tensor.get_device();
    case 'y':
      return static_cast<int64_t>(tensor.scalar_type());
    case 'm':
      return static_cast<int64_t>(tensor.suggest_memory_format());
    default:
      return 0;
  }
}

const int64_t* kb_numbers(const void* tensor, char what) {
  return (what == 's' ? tensor_at(tensor).sizes() : tensor_at(tensor).strides()).data();
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

void kb_from_blob(void* result, void* data, const KbValue* sizes, const KbValue* strides,
                  KbOptions options) {
  *static_cast<at::Tensor*>(result) =
      strides != nullptr
          ? at::from_blob(data, numbers(*sizes), numbers(*strides), options_of(options))
          : at::from_blob(data, numbers(*sizes), options_of(options));
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

void kb_set_data(const void* tensor, const void* data) {
  tensor_at(tensor).set_data(tensor_at(data));
}

char* kb_text(const void* tensor) {
  std::ostringstream text;
  text << tensor_at(tensor);
  return copied(text.str());
}

void kb_free(void* memory) { free(memory); }

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
    best.reset(new Site{*op, std::move(given), {}});
  }
  if (!best) {
    missing() += (missing().empty() ? "" : ", ") + full + "(" + kinds + ")";
    return nullptr;
  }
  for (const auto& each : best->op.schema().arguments()) {
    best->defaults.push_back(each.default_value() ? *each.default_value() : c10::IValue());
  }
  return best.release();
}

const char* kb_missing() { return missing().c_str(); }

KbValue kb_call(void* at, const KbValue* values, size_t, void (*take)(void* to, void* impl),
                void* to) {
  const Site& site = *static_cast<const Site*>(at);
  at::Stack stack = site.defaults;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (site.given[i] < 0) continue;
    stack[i] = given_as(values[site.given[i]], site.op.schema().arguments()[i]);
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
  switch (kind) {
    case 'i':
      throw c10::IndexError(where, text);
    case 'v':
      throw c10::ValueError(where, text);
    case 't':
      throw c10::TypeError(where, text);
    case 'n':
      throw c10::NotImplementedError(where, text);
    case 'a':
      c10::detail::torchInternalAssertFail(function, file, line, text, std::string());
    default:
      c10::detail::torchCheckFail(function, file, line, std::string(text));
  }
}

void kb_no_dispatch(const char* name, int8_t dtype) {
#define KB_NOT_IMPLEMENTED \
  "\"", name, "\" not implemented for '", toString(static_cast<at::ScalarType>(dtype)), "'"
#if TORCH_VERSION_MAJOR >= 2
  TORCH_CHECK_NOT_IMPLEMENTED(false, KB_NOT_IMPLEMENTED);
#else
  TORCH_CHECK(false, KB_NOT_IMPLEMENTED);
#endif
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

bool kb_unwrap_other(PyObject* object, char, int64_t* value) {
  if (!THPDtype_Check(object)) return false;
  *value = static_cast<int64_t>(reinterpret_cast<THPDtype*>(object)->scalar_type);
  return true;
}

PyObject* kb_wrap_dtype(int8_t dtype) {
  auto* object =
      reinterpret_cast<PyObject*>(torch::getTHPDtype(static_cast<at::ScalarType>(dtype)));
  Py_INCREF(object);
  return object;
}

PyObject* kb_python_error() {
  HANDLE_TH_ERRORS
  throw;
  END_HANDLE_TH_ERRORS
}

// CUDA

KbStream kb_stream(char which, int64_t index, bool high_priority) {
#ifdef KBENCH_CUDA
  const auto device = static_cast<c10::DeviceIndex>(index);
  if (which == 'c') return stream_as(c10::cuda::getCurrentCUDAStream(device));
  if (which == 'd') return stream_as(c10::cuda::getDefaultCUDAStream(device));
  return stream_as(c10::cuda::getStreamFromPool(high_priority, device));
#else
  no_cuda();
#endif
}

int64_t kb_set_stream(KbStream stream) {
#ifdef KBENCH_CUDA
  const auto device = static_cast<c10::DeviceIndex>(stream.index);
  const c10::Device on(static_cast<c10::DeviceType>(stream.device_type), device);
  c10::cuda::setCurrentCUDAStream(c10::cuda::CUDAStream(
      c10::Stream(c10::Stream::UNSAFE, on, static_cast<c10::StreamId>(stream.id))));
  return 0;
#else
  no_cuda();
#endif
}

int64_t kb_device(int64_t index) {
#ifdef KBENCH_CUDA
  const int64_t before = c10::cuda::current_device();
  if (index >= 0) c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  return before;
#else
  no_cuda();
#endif
}

void kb_cuda_check(int error, const char* file, const char* function, unsigned line) {
#ifdef KBENCH_CUDA
  if (error == cudaSuccess) return;
  c10::cuda::c10_cuda_check_implementation(error, file, function, static_cast<int>(line), true);
#else
  no_cuda();
#endif
}

const void* kb_device_properties(int64_t index) {
#ifdef KBENCH_CUDA
  return index < 0 ? at::cuda::getCurrentDeviceProperties() : at::cuda::getDeviceProperties(index);
#else
  no_cuda();
#endif
}

#ifdef KBENCH_CUDA
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

void* kb_cuda_handle(char) {
#ifdef KBENCH_CUDA
  return at::cuda::getCurrentCUDABlasHandle();
#else
  no_cuda();
#endif
}

void kb_cublas_check(int status, const char* text) {
#ifdef KBENCH_CUDA
  TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "CUDA error: ",
              at::cuda::blas::_cublasGetErrorEnum(static_cast<cublasStatus_t>(status)),
              " when calling `", text, "`");
#else
  no_cuda();
#endif
}

}  // extern "C"
