// SPIR-V's names, with glslang's function that tells which instructions have a result.
#pragma once

#define SPV_ENABLE_UTILITY_CODE
#include <glslang/SPIRV/spirv.hpp>
