# Python files, and the headers of extensions, as texts inside the library:
#   cmake -D FOLDER=DIR -D NAMES=torch/driver|torch/precompile -D HEADERS=a.h|b.h -D OUTPUT=FILE
#         -P embed.cmake
string(REPLACE "|" ";" NAMES "${NAMES}")
string(REPLACE "|" ";" HEADERS "${HEADERS}")
set(code "#include \"harness/measure/runner/python/python_prototype.h\"\n")
string(APPEND code "#include \"harness/measure/runner/torch/torch_host.h\"\n\nnamespace kbench::runner {\n")
foreach(name ${NAMES})
  file(READ "${FOLDER}/${name}.py" text)
  get_filename_component(name ${name} NAME)
  string(APPEND code
         "\nstd::string_view ${name}_script() { return R\"kbench_file(${text})kbench_file\"; }\n")
endforeach()
string(APPEND code "\nstd::map<std::string, std::string> extension_headers() {\n  return {\n")
foreach(name ${HEADERS})
  file(READ "${FOLDER}/torch/headers/${name}" text)
  string(APPEND code "{\"${name}\", R\"kbench_file(${text})kbench_file\"},\n")
endforeach()
string(APPEND code "  };\n}\n")
file(WRITE "${OUTPUT}" "${code}\n}  // namespace kbench::runner\n")
