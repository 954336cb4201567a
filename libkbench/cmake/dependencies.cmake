# What kbench::kbench links, found the same way by its own build and by find_package(kbench).
include(${CMAKE_CURRENT_LIST_DIR}/dependencies_core.cmake)
find_package(Vulkan 1.3 REQUIRED COMPONENTS shaderc_combined)
find_package(glslang CONFIG REQUIRED)
find_package(SPIRV-Tools-opt CONFIG REQUIRED)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
