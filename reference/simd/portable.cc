#define KBENCH_ISA portable
#include "reference/simd/table.h"
