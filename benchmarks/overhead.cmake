# What the harness itself costs; needs every room, and the program for its judges and runners.
add_executable(overhead_benchmark overhead_benchmark.cc)
target_link_libraries(overhead_benchmark PRIVATE kbench_build kbench benchmark::benchmark)
target_compile_definitions(overhead_benchmark PRIVATE
                           KBENCH_PROGRAM="$<TARGET_FILE:kbench_program>")
add_dependencies(overhead_benchmark kbench_program)
