// Loops written out by the preprocessor. What an invocation accumulates must stay in registers, and
// an array does only where every index is a constant, which [[unroll]] asks for but cannot promise.
//   REPEAT(n, BODY)         BODY(0) BODY(1) ... BODY(n - 1), n a literal
//   REPEAT_WITH(n, BODY, i)  BODY(i, 0) ... BODY(i, n - 1), for use within REPEAT
#define REPEAT_PASTE(a, b) a##b
#define REPEAT_JOIN(a, b) REPEAT_PASTE(a, b)
#define REPEAT(n, BODY) REPEAT_JOIN(REPEAT_, n)(BODY)
#define REPEAT_WITH(n, BODY, i) REPEAT_JOIN(REPEAT_WITH_, n)(BODY, i)

#define REPEAT_1(BODY) BODY(0)
#define REPEAT_2(BODY) BODY(0) BODY(1)
#define REPEAT_3(BODY) BODY(0) BODY(1) BODY(2)
#define REPEAT_4(BODY) BODY(0) BODY(1) BODY(2) BODY(3)
#define REPEAT_8(BODY) REPEAT_4(BODY) BODY(4) BODY(5) BODY(6) BODY(7)
#define REPEAT_12(BODY) REPEAT_8(BODY) BODY(8) BODY(9) BODY(10) BODY(11)
#define REPEAT_16(BODY) REPEAT_12(BODY) BODY(12) BODY(13) BODY(14) BODY(15)
#define REPEAT_32(BODY)                                                                   \
  REPEAT_16(BODY) BODY(16) BODY(17) BODY(18) BODY(19) BODY(20) BODY(21) BODY(22) BODY(23) \
  BODY(24) BODY(25) BODY(26) BODY(27) BODY(28) BODY(29) BODY(30) BODY(31)

#define REPEAT_WITH_1(BODY, i) BODY(i, 0)
#define REPEAT_WITH_2(BODY, i) BODY(i, 0) BODY(i, 1)
#define REPEAT_WITH_4(BODY, i) BODY(i, 0) BODY(i, 1) BODY(i, 2) BODY(i, 3)
#define REPEAT_WITH_8(BODY, i) \
  REPEAT_WITH_4(BODY, i) BODY(i, 4) BODY(i, 5) BODY(i, 6) BODY(i, 7)
