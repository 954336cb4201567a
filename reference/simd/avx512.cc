#define KBENCH_ISA avx512
#include "reference/simd/table.h"
