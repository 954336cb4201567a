# What kbench::models links, found the same way by its own build and by find_package(kbench).
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
find_package(CURL 7.88 REQUIRED)
