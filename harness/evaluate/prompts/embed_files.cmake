# Files as text inside the library: cmake -D OUTPUT=FILE -D ROOTS=DIR|DIR -P embed_files.cmake writes
# the table of all files below the folders, each under its path relative to its folder's parent.
string(REPLACE "|" ";" ROOTS "${ROOTS}")
set(table "")
foreach(root IN LISTS ROOTS)
  get_filename_component(parent "${root}" DIRECTORY)
  file(GLOB_RECURSE files RELATIVE "${parent}" "${root}/*")
  list(SORT files)
  foreach(path IN LISTS files)
    file(READ "${parent}/${path}" text)
    string(APPEND table "    {\"${path}\", R\"kbench_file(${text})kbench_file\"},\n")
  endforeach()
endforeach()
file(WRITE "${OUTPUT}" "#include \"harness/evaluate/prompts/examples.h\"

namespace kbench::prompts {

const EmbeddedFile kEmbeddedFiles[] = {
${table}    {nullptr, nullptr},
};

}  // namespace kbench::prompts
")
