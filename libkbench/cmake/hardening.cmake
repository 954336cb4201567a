# What kbench's own targets are compiled with against faults of their own: sanitizers where a build
# asks for them, else hardening. Never exported: a consumer's flags are the consumer's business.
if(KBENCH_SANITIZE STREQUAL "thread")
  set(sanitizers thread)
elseif(KBENCH_SANITIZE STREQUAL "address" OR KBENCH_SANITIZE STREQUAL "ON")
  set(sanitizers address,undefined)
elseif(KBENCH_SANITIZE)
  message(FATAL_ERROR "KBENCH_SANITIZE is address, thread or OFF, not ${KBENCH_SANITIZE}")
endif()

if(KBENCH_SANITIZE)
  target_compile_options(kbench_build INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all
                                                -fno-omit-frame-pointer)
  if(sanitizers MATCHES undefined)
    # It asks the kernel what memory there is, which a runner that is locked in may not.
    target_compile_options(kbench_build INTERFACE -fno-sanitize=vptr)
  endif()
  target_compile_definitions(kbench_build INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(kbench_build INTERFACE -fsanitize=${sanitizers})
  target_compile_definitions(kbench_build INTERFACE $<$<BOOL:${KBENCH_FUZZ}>:KBENCH_FUZZ>)
  target_sources(kbench_build INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${CMAKE_CURRENT_LIST_DIR}/sanitizers.cc>)
  if(sanitizers STREQUAL "thread")
    target_link_libraries(kbench_build INTERFACE TBB::tbb)
  endif()
  # A table of tasks is one function: hundreds of temporaries with destructors, in nested initializer
  # lists, each poisoned and unpoisoned. From -O1 on, g++ follows every one of them from block to
  # block for the debugger's sake (level2/volume_transposed_convolutions.cc: 60 s, 13 s without that,
  # 2 s at -O0). The tests' bodies are of the same kind.
  set(KBENCH_COLD -O0)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kbench_build INTERFACE -fno-var-tracking-assignments)
  endif()
else()
  set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  target_compile_options(kbench_build INTERFACE
    $<${optimized}:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
  target_link_options(kbench_build INTERFACE $<${optimized}:-Wl,-z,relro,-z,now>)
endif()

if(KBENCH_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(WARNING "Only clang has libFuzzer: the fuzzers are left out, their corpora are run once")
  set(KBENCH_FUZZ OFF)
elseif(KBENCH_FUZZ)
  target_compile_options(kbench_build INTERFACE -fsanitize=fuzzer-no-link)
endif()
