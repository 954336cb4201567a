#define KBENCH_ISA avx2
#include "reference/simd/table.h"
