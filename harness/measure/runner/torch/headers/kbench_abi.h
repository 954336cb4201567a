// What an extension compiled with kbench's headers calls: bridge.cc, which alone knows PyTorch's
// own. A tensor crosses as the address of its at::Tensor, which is one pointer on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

struct KbValue {
  char kind = 'n';  ///< see kb::Kind in kbench_call.h; 'n': none
  int64_t count = 0;
  union {
    const void* data = nullptr;
    int64_t i;
    double d;
  };
};

/// Of at::TensorOptions, each as PyTorch numbers it; -1: not said.
struct KbOptions {
  int8_t dtype = -1, layout = -1, device = -1, index = -1, pinned = -1, requires_grad = -1;
  int8_t memory_format = -1;
};

/// Methods of a tensor that take nothing and answer with a number: its type and their names.
// clang-format off
#define KB_QUESTIONS(_) \
  _(int64_t, dim) _(int64_t, ndimension) _(int64_t, numel) _(int64_t, storage_offset) \
  _(int64_t, element_size) _(int64_t, itemsize) _(size_t, nbytes) _(int64_t, use_count) \
  _(int64_t, get_device) _(bool, is_cuda) _(bool, is_cpu) _(bool, is_sparse) \
  _(bool, is_floating_point) _(bool, is_non_overlapping_and_dense) _(bool, requires_grad) \
  _(ScalarType, scalar_type) _(MemoryFormat, suggest_memory_format)
// clang-format on
#define KB_QUESTION(TYPE, NAME) NAME,
enum class KbQuestion { KB_QUESTIONS(KB_QUESTION) };

extern "C" {
// Tensors
void* kb_undefined();
void kb_retain(void* impl);
void kb_release(void* impl);
int64_t kb_ask(const void* tensor, KbQuestion what);
int64_t kb_size(const void* tensor, int64_t dimension);
int64_t kb_stride(const void* tensor, int64_t dimension);
bool kb_is_contiguous(const void* tensor, int8_t memory_format);
const int64_t* kb_sizes(const void* tensor);
const int64_t* kb_strides(const void* tensor);
void* kb_data(const void* tensor, int8_t dtype);  ///< of this type, or an error; -1: any
KbOptions kb_options(const void* tensor);
KbValue kb_item(const void* tensor);
/// Strides may be of no length.
void kb_from_blob(void* result, void* data, KbValue sizes, KbValue strides, KbOptions options);
void kb_tensor_of(void* result, const KbValue* values, KbOptions options);

// Operators
/// The overload of aten::NAME that fits arguments of these kinds. Null where none does, which
/// kb_missing() then names.
void* kb_find(const char* name, const char* kinds);
const char* kb_missing();
/// Calls `take` with each tensor that it returns, and returns what is no tensor.
KbValue kb_call(void* op, const KbValue* values, void (*take)(void* to, void* impl), void* to);

// Errors, as PyTorch throws them
[[noreturn]] void kb_fail(const char* function, const char* file, unsigned line, char kind,
                          const char* text);
[[noreturn]] void kb_no_dispatch(const char* name, int8_t dtype);
void kb_warn(const char* text);
const char* kb_dtype_name(int8_t dtype);
size_t kb_dtype_bytes(int8_t dtype);
int8_t kb_default_dtype();
int64_t kb_grad_mode(int64_t enabled);  ///< sets it unless -1; what it was

// Python
struct _object* kb_wrap(const void* tensor);
bool kb_unwrap(struct _object* object, void* tensor);  ///< false: it is none
/// As pybind11 takes it, with conversions or without: 'b'ool, 'i'nt64_t, 'u'int64_t or 'd'ouble.
bool kb_unwrap_number(struct _object* object, char kind, bool convert, void* value);
struct _object* kb_python_error();  ///< for the C++ exception that is being handled: sets Python's

// CUDA: without it there is kb_device() alone, which throws.
int64_t kb_device(int64_t index);  ///< sets it unless negative; what it was
/// A cudaStream_t: the 'c'urrent or 'd'efault one, or of PyTorch's pool one of 'h'igh or 'l'ow
/// priority.
void* kb_stream(char which, int64_t index);
void kb_cuda_check(int error, const char* file, const char* function, unsigned line);
const void* kb_device_properties(int64_t index);
void* kb_cublas_handle();
void kb_cublas_check(int status, const char* text);
}
