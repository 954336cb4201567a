// Tensors read and written WIDTH elements at a time, 1 or 4.
#include "tensor.glsl"

#if WIDTH == 4
#define PIECE vec4
#define LOAD_PIECE(X, base, i) LOAD4(X, base, i)
#define STORE_PIECE(X, base, i, v) STORE4(X, base, i, v)
#else
#define PIECE float
#define LOAD_PIECE(X, base, i) LOAD(X, base, i)
#define STORE_PIECE(X, base, i, v) STORE(X, base, i, v)
#endif
