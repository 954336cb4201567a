# Files as text inside the library: cmake -D OUTPUT=FILE -D ROOTS=DIR|DIR -D HEADER=FILE -D SPACE=NAME
# -D TABLE=NAME -P embed_files.cmake writes the table kbench::SPACE::TABLE, which HEADER declares, of
# all files below the folders, each under its path relative to its folder's parent.
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
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace kbench::${SPACE} {

const EmbeddedFile ${TABLE}[] = {
${table}    {nullptr, nullptr},
};

}  // namespace kbench::${SPACE}
")
