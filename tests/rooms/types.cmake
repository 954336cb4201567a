cmake_minimum_required(VERSION 3.25)
# Fails where two files below FOLDERS define a type of one name in one namespace: each would do alone,
# and linked together the members of one stand for those of the other.
#   cmake -D SOURCE=DIR -D "FOLDERS=libkbench|harness" -P this
# Reads what clang-format has laid out: namespaces and the types in them begin in the first column.
string(REPLACE "|" ";" folders "${FOLDERS}")
set(wrong "")
set(count 0)
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cc)
  foreach(file IN LISTS files)
    file(READ ${SOURCE}/${file} text)
    string(REGEX REPLACE "[][]" "" text "${text}")
    string(REPLACE ";" "!" text "${text}")
    # A namespace of one line, which is a declaration, ends without saying which it was.
    string(REGEX REPLACE "\nnamespace [A-Za-z_:]+ {\n[^\n]*\n}\n" "\n" text "\n${text}")
    string(REGEX MATCHALL "\n(namespace |}  // namespace|class |struct |union |enum )[^\n]*" lines
           "${text}")
    set(names "")  # of the namespaces around a line, the innermost first
    foreach(line IN LISTS lines)
      string(STRIP "${line}" line)
      if(line MATCHES "^namespace ([A-Za-z_:0-9]*) ?{")
        list(PREPEND names "${CMAKE_MATCH_1}:")
      elseif(line MATCHES "^}  // namespace")
        list(POP_FRONT names)
      elseif(line MATCHES "^(class|struct|union|enum class|enum) ([A-Za-z0-9_]+)( final)?( :[^!]*)?( {.*)?$"
             AND NOT ":" IN_LIST names)  # which is what stands for no name: the file's own
        set(name "${CMAKE_MATCH_2}")
        list(JOIN names "" around)
        string(MAKE_C_IDENTIFIER "seen_${around}${name}" key)
        if(DEFINED ${key} AND NOT ${key} STREQUAL file)
          string(APPEND wrong "\n  ${name} is defined in ${${key}} and in ${file}")
        endif()
        set(${key} ${file})
        math(EXPR count "${count} + 1")
      endif()
    endforeach()
  endforeach()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "${FOLDERS} defines no types")
endif()
if(wrong)
  message(FATAL_ERROR "of one namespace:${wrong}")
endif()
message(STATUS "${count} types")
