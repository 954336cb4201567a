#include "libkbench/import/headers.h"

#include <algorithm>
#include <array>

namespace kbench::importing {
namespace {

/// Headers that a compiler for the device alone has; the others are PyTorch's and the host's.
constexpr std::array<std::string_view, 8> kDeviceHeaders = {
    "cuda_fp16.h",     "cuda_bf16.h",      "cuda_fp8.h",     "mma.h",
    "cuda_pipeline.h", "math_constants.h", "vector_types.h", "cuda_pipeline_primitives.h"};

/// Definitions that device code gets from those other headers, each added where it is used.
struct Given {
  const char* word;
  const char* text;
};
constexpr std::array kGiven = {
    Given{"FLT_MAX", "#define FLT_MAX 3.402823466e+38f\n"},
    Given{"FLT_MIN", "#define FLT_MIN 1.175494351e-38f\n"},
    Given{"FLT_EPSILON", "#define FLT_EPSILON 1.192092896e-07f\n"},
    Given{"DBL_MAX", "#define DBL_MAX 1.7976931348623158e+308\n"},
    Given{"INFINITY", "#define INFINITY __int_as_float(0x7f800000)\n"},
    Given{"HUGE_VALF", "#define HUGE_VALF __int_as_float(0x7f800000)\n"},
    Given{"NAN", "#define NAN __int_as_float(0x7fffffff)\n"},
    Given{"INT_MAX", "#define INT_MAX 2147483647\n"},
    Given{"INT_MIN", "#define INT_MIN (-2147483647 - 1)\n"},
    Given{"UINT_MAX", "#define UINT_MAX 4294967295u\n"},
    Given{"M_PI", "#define M_PI 3.14159265358979323846\n"},
    Given{"M_PI_2", "#define M_PI_2 1.57079632679489661923\n"},
    Given{"M_SQRT2", "#define M_SQRT2 1.41421356237309504880\n"},
    Given{"M_SQRT1_2", "#define M_SQRT1_2 0.70710678118654752440\n"},
    Given{"M_2_SQRTPI", "#define M_2_SQRTPI 1.12837916709551257390\n"},
    Given{"M_2_PI", "#define M_2_PI 0.63661977236758134308\n"},
    Given{"M_E", "#define M_E 2.71828182845904523536\n"},
    Given{"M_LOG2E", "#define M_LOG2E 1.44269504088896340736\n"},
    Given{"M_LN2", "#define M_LN2 0.69314718055994530942\n"},
    Given{"int8_t", "typedef signed char int8_t;\n"},
    Given{"uint8_t", "typedef unsigned char uint8_t;\n"},
    Given{"int16_t", "typedef short int16_t;\n"},
    Given{"uint16_t", "typedef unsigned short uint16_t;\n"},
    Given{"int32_t", "typedef int int32_t;\n"},
    Given{"uint32_t", "typedef unsigned int uint32_t;\n"},
    Given{"int64_t", "typedef long int64_t;\n"},
    Given{"uint64_t", "typedef unsigned long uint64_t;\n"},
    Given{"uintptr_t", "typedef unsigned long uintptr_t;\n"},
    Given{"CUDART_INF_F", "#include \"math_constants.h\"\n"},
};

/// Parts of <cub/cub.cuh>, which as a whole is for the host too.
constexpr std::array kCub = {
    Given{"BlockReduce", "#include <cub/block/block_reduce.cuh>\n"},
    Given{"BlockScan", "#include <cub/block/block_scan.cuh>\n"},
    Given{"BlockLoad", "#include <cub/block/block_load.cuh>\n"},
    Given{"BlockStore", "#include <cub/block/block_store.cuh>\n"},
    Given{"BlockRadixSort", "#include <cub/block/block_radix_sort.cuh>\n"},
    Given{"WarpReduce", "#include <cub/warp/warp_reduce.cuh>\n"},
    Given{"WarpScan", "#include <cub/warp/warp_scan.cuh>\n"},
};

/// Of <algorithm>, <limits> and <cmath>, as far as device code uses them.
constexpr const char* kStandard =
    "namespace std {\n"
    "template <class T> __device__ inline T max(T a, T b) { return a < b ? b : a; }\n"
    "template <class T> __device__ inline T min(T a, T b) { return b < a ? b : a; }\n"
    "__device__ inline float exp(float x) { return expf(x); }\n"
    "__device__ inline float log(float x) { return logf(x); }\n"
    "__device__ inline float sqrt(float x) { return sqrtf(x); }\n"
    "__device__ inline float tanh(float x) { return tanhf(x); }\n"
    "__device__ inline float pow(float x, float y) { return powf(x, y); }\n"
    "__device__ inline float abs(float x) { return fabsf(x); }\n"
    "__device__ inline float fabs(float x) { return fabsf(x); }\n"
    "__device__ inline float fmax(float x, float y) { return fmaxf(x, y); }\n"
    "__device__ inline float fmin(float x, float y) { return fminf(x, y); }\n"
    "__device__ inline float erf(float x) { return erff(x); }\n"
    "template <class T> struct numeric_limits;\n"
    "template <> struct numeric_limits<float> {\n"
    "  __device__ static constexpr float max() { return 3.402823466e+38f; }\n"
    "  __device__ static constexpr float lowest() { return -3.402823466e+38f; }\n"
    "  __device__ static constexpr float min() { return 1.175494351e-38f; }\n"
    "  __device__ static constexpr float epsilon() { return 1.192092896e-07f; }\n"
    "  __device__ static float infinity() { return __int_as_float(0x7f800000); }\n"
    "  __device__ static float quiet_NaN() { return __int_as_float(0x7fffffff); }\n"
    "};\n"
    "}\n";

}  // namespace

bool is_device_header(std::string_view name) {
  return std::ranges::find(kDeviceHeaders, name) != kDeviceHeaders.end() ||
         name.starts_with("cooperative_groups") ||
         (name.starts_with("cub/") && name != "cub/cub.cuh") || name.starts_with("cuda/");
}

std::string stand_in(const UsedWords& used) {
  std::string text;
  for (const Given& given : kGiven) {
    if (used.words.contains(given.word) && !used.defined.contains(given.word)) text += given.text;
  }
  for (const Given& given : kCub) {
    if (used.cub && used.words.contains(given.word)) text += given.text;
  }
  return text + (used.standard ? kStandard : "");
}

}  // namespace kbench::importing
