# Shaders as text inside the library.
#   kbench_embed_shaders(FILES...)    names shaders, relative to the calling CMakeLists.txt
#   kbench_make_shader_room()         after the last of them: the room kbench_shaders
# Run as a script it writes the table: cmake -D OUTPUT=FILE -D SHADERS=A|B|C -P embed_shaders.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "|" ";" SHADERS "${SHADERS}")
  set(table "")
  foreach(shader IN LISTS SHADERS)
    get_filename_component(name "${shader}" NAME)
    file(READ "${shader}" text)
    string(APPEND table "    {\"${name}\", R\"kbench_glsl(${text})kbench_glsl\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "#include \"harness/measure/vulkan/compiler.h\"

namespace kbench::vulkan {

const EmbeddedShader kEmbeddedShaders[] = {
${table}    {nullptr, nullptr},
};

}  // namespace kbench::vulkan
")
  return()
endif()

function(kbench_embed_shaders)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    get_property(known GLOBAL PROPERTY KBENCH_SHADERS)
    cmake_path(GET file FILENAME name)
    foreach(other IN LISTS known)
      cmake_path(GET other FILENAME other_name)
      if(name STREQUAL other_name)
        message(FATAL_ERROR "Two embedded shaders are named ${name}: ${other} and ${file}")
      endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY KBENCH_SHADERS ${file})
  endforeach()
endfunction()

function(kbench_make_shader_room)
  get_property(shaders GLOBAL PROPERTY KBENCH_SHADERS)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_shaders.cc)
  string(REPLACE ";" "|" joined "${shaders}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D "SHADERS=${joined}" -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${shaders} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding shaders"
    VERBATIM)
  kbench_room(shaders SOURCES ${output})
endfunction()
