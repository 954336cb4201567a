// What an extension compiled with kbench's headers calls: bridge.cc, which alone knows PyTorch's
// own. A tensor crosses as the address of its at::Tensor, which is one pointer on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

struct KbValue {
  char kind = 'n';  ///< see kb::Kind in kbench_torch.h; 'n': none
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

struct KbStream {
  int64_t id;
  int64_t device_type;
  int64_t index;
  void* stream;  ///< cudaStream_t
};

extern "C" {
// Tensors
void* kb_undefined();
void kb_retain(void* impl);
void kb_release(void* impl);
int64_t kb_ask(const void* tensor, char what, int64_t argument);
const int64_t* kb_numbers(const void* tensor, char what);  ///< 's'izes or s't'rides
void* kb_data(const void* tensor, int8_t dtype);           ///< of this type, or an error; -1: any
KbOptions kb_options(const void* tensor);
KbValue kb_item(const void* tensor);
void kb_from_blob(void* result, void* data, const KbValue* sizes, const KbValue* strides,
                  KbOptions options);
void kb_tensor_of(void* result, const KbValue* values, KbOptions options);
void kb_set_data(const void* tensor, const void* data);
/// Text of a tensor or another value, to be freed with kb_free().
char* kb_text(const void* tensor);
void kb_free(void* memory);

// Operators
/// The overload of aten::NAME that fits arguments of these kinds. Null where none does, which
/// kb_missing() then names.
void* kb_find(const char* name, const char* kinds);
const char* kb_missing();
/// Calls `take` with each tensor that it returns, and returns what is no tensor.
KbValue kb_call(void* op, const KbValue* values, size_t count, void (*take)(void* to, void* impl),
                void* to);

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
bool kb_unwrap(struct _object* object, void* tensor);                     ///< false: it is none
bool kb_unwrap_other(struct _object* object, char kind, int64_t* value);  ///< 'y' or 'v'
struct _object* kb_wrap_dtype(int8_t dtype);
struct _object* kb_python_error();  ///< for the C++ exception that is being handled: sets Python's

// CUDA, where PyTorch has it
KbStream kb_stream(char which, int64_t index, bool high_priority);
int64_t kb_set_stream(KbStream stream);
int64_t kb_device(int64_t index);  ///< sets it unless negative; what it was
void kb_cuda_check(int error, const char* file, const char* function, unsigned line);
const void* kb_device_properties(int64_t index);
void* kb_cuda_handle(char which);  ///< 'b': cuBLAS
void kb_cublas_check(int status, const char* text);
}
