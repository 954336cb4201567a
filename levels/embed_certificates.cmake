# The certificates as text inside the library: cmake -D OUTPUT=FILE -D FOLDER=DIR -P this
set(text "")
foreach(pair smoke:smoke v0:v0 v0_1:v0.1)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 file)
  set(content "")
  if(EXISTS ${FOLDER}/${file}.json)
    file(READ ${FOLDER}/${file}.json content)
  endif()
  string(APPEND text "    case Preset::${name}:\n      return R\"kbench_file(${content})kbench_file\";\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"levels/certificates.h\"

namespace kbench::levels {

std::string_view certificate_text(Preset preset) {
  switch (preset) {
${text}  }
  return {};
}

}  // namespace kbench::levels
")
