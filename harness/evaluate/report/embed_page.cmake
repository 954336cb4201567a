# The page's files as text inside the library: cmake -D FOLDER=page -D OUTPUT=FILE -P this
set(text "")
foreach(entry Html:page.html Style:page.css Script:page.js)
  string(REPLACE ":" ";" pair ${entry})
  list(GET pair 0 name)
  list(GET pair 1 file)
  file(READ ${FOLDER}/${file} content)
  string(APPEND text "const std::string_view kPage${name} = R\"kbench_page(${content})kbench_page\";\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"harness/evaluate/report/page.h\"

namespace kbench::report {

${text}
}  // namespace kbench::report
")
