# Python files as texts inside the library, `script` being several one after the other:
#   cmake -D FOLDER=DIR -D OUTPUT=FILE -P embed.cmake
set(code "#include \"harness/evaluate/from_pytorch/from_pytorch.h\"\n\nnamespace kbench::from_pytorch {\n")
function(add_script function)
  set(text "\nstd::string ${function}() {\n  return std::string()")
  foreach(name ${ARGN})
    file(READ "${FOLDER}/${name}.py" file)
    string(APPEND text "\n         + R\"kbench_file(${file})kbench_file\"")
  endforeach()
  set(code "${code}${text};\n}\n" PARENT_SCOPE)
endfunction()
add_script(trace_script tensors recorded operators trace)
add_script(compare_script tensors compare)
file(WRITE "${OUTPUT}" "${code}\n}  // namespace kbench::from_pytorch\n")
