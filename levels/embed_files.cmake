# A folder's JSON files as text inside the library:
# cmake -D OUTPUT=FILE -D FOLDER=DIR -D FUNCTION=NAME -P this
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*.json)
list(SORT files)
set(text "")
foreach(file ${files})
  file(READ ${FOLDER}/${file} content)
  string(APPEND text "  if (file == \"${file}\") return R\"kbench_file(${content})kbench_file\";\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"levels/tables.h\"

namespace kbench::levels {

std::string_view ${FUNCTION}([[maybe_unused]] std::string_view file) {
${text}  return {};
}

}  // namespace kbench::levels
")
