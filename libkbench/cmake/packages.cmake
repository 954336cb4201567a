# `cpack -G DEB`: Debian packages, one a component of install.cmake. `./dev package` calls it.
if(NOT KBENCH_PACKAGE)
  return()
endif()

# __FILE__ and the like as from the source tree's root, wherever that is.
target_compile_options(kbench_build INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                                              -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # or it would stand before each package's own
set(CPACK_COMPONENTS_ALL kbench libkbench1 libkbench-dev python3-kbench)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
# For that script. The Debian packages of which code gets into what kbench builds: archives and headers.
set(CPACK_KBENCH_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_KBENCH_LINKED_IN glslang-dev libcli11-dev libeigen3-dev libkainjow-mustache-dev
    libopenblas-serial-dev libshaderc-dev libvulkan-dev nlohmann-json3-dev spirv-tools)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The kbench authors <kbench@localhost>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# kbench_package(COMPONENT SECTION DESCRIPTION [DEPENDS ...] [RECOMMENDS ...] [SUGGESTS ...]): what the
# package says of itself. The description's first line is the short one.
macro(kbench_package component section description)
  cmake_parse_arguments(arg "" "" "DEPENDS;RECOMMENDS;SUGGESTS" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  foreach(relation DEPENDS RECOMMENDS SUGGESTS)
    list(JOIN arg_${relation} ", " CPACK_DEBIAN_${upper}_PACKAGE_${relation})
  endforeach()
endmacro()

kbench_package(kbench devel "judges GPU kernels that machines write
Says whether a candidate, a set of GPU kernels for a small piece of a neural
network, computes the right values, and how many times as fast as a baseline
on the same device it is. Runs on any GPU with a Vulkan 1.2 driver, and on
the CPU through Mesa's lavapipe."
  DEPENDS libvulkan1
  RECOMMENDS "mesa-vulkan-drivers | vulkan-icd" ca-certificates
  SUGGESTS python3 python3-torch)
kbench_package(libkbench1 libs "judges GPU kernels, from C and what calls C
The shared library of kbench, which judges GPU kernels that machines write:
calls with JSON in and out. Evaluating starts the program of the package
kbench; tasks, prompts and scores need none."
  RECOMMENDS "kbench ${same}")
set(CPACK_DEBIAN_LIBKBENCH1_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)
kbench_package(libkbench-dev libdevel "judges GPU kernels, for programs in C and C++
Headers, static libraries of C++, and the files by which CMake and pkg-config
find kbench, which judges GPU kernels that machines write."
  DEPENDS "libkbench1 ${same}" glslang-dev libcurl4-openssl-dev libmd4c-dev libmuparser-dev
          libseccomp-dev libshaderc-dev libsimdjson-dev libssl-dev libtbb-dev libvulkan-dev
          libyaml-cpp-dev libzstd-dev nlohmann-json3-dev pkg-config spirv-tools
  RECOMMENDS "kbench ${same}")
set(CPACK_DEBIAN_LIBKBENCH-DEV_PACKAGE_SHLIBDEPS OFF)
kbench_package(python3-kbench python "judges GPU kernels, from Python
The Python module of kbench, which judges GPU kernels that machines write:
typed, on the shared library by ctypes."
  DEPENDS "python3:any (>= 3.9)" "libkbench1 ${same}" "kbench ${same}")
set(CPACK_DEBIAN_PYTHON3-KBENCH_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON3-KBENCH_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-KBENCH_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/debian/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/prerm)
include(CPack)
