# Candidates that must not pass, evaluated as users' are: by a judge and runners of the program.
kbench_test(bad_candidates_test SOURCES bad_candidates_test.cc LABELS vulkan)
target_compile_definitions(bad_candidates_test PRIVATE
  KBENCH_BAD_CANDIDATES="${CMAKE_CURRENT_SOURCE_DIR}/bad"
  KBENCH_PROGRAM="$<TARGET_FILE:kbench_program>"
  KBENCH_FORMAT_DOC="${PROJECT_SOURCE_DIR}/docs/candidate-format.md")
add_dependencies(bad_candidates_test kbench_program)
