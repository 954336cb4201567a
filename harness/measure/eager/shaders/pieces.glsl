// float32 tensors read and written WIDTH elements at a time, 1 or 4.
#include "tensor.glsl"

#if WIDTH == 4
#define PIECE vec4
#define IN Vec4sIn
#define OUT Vec4sOut
#else
#define PIECE float
#define IN FloatsIn
#define OUT FloatsOut
#endif
