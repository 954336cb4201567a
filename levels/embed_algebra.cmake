# The known rewritings as text inside the library: cmake -D OUTPUT=FILE -D FOLDER=DIR -P this
file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*.yaml)
list(SORT files)
set(text "")
foreach(file ${files})
  file(READ ${FOLDER}/${file} content)
  string(APPEND text "    {\"${file}\", R\"kbench_file(${content})kbench_file\"},\n")
endforeach()
set(results "")
if(EXISTS ${FOLDER}/results.jsonl)
  file(READ ${FOLDER}/results.jsonl results)
endif()
file(WRITE ${OUTPUT} "#include \"levels/tables.h\"

namespace kbench::levels {
namespace {

constexpr std::pair<std::string_view, std::string_view> kCandidates[] = {
${text}};

}  // namespace

std::span<const std::pair<std::string_view, std::string_view>> algebra_candidates() {
  return kCandidates;
}

std::string_view algebra_results() { return R\"kbench_file(${results})kbench_file\"; }

}  // namespace kbench::levels
")
