# `cmake --install`: library, headers, program, shipped candidates, pages, and find_package(kbench).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kbench)

install(TARGETS kbench_core_library EXPORT kbenchCoreTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kbench EXPORT kbenchTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kbench_models_library EXPORT kbenchModelsTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kbench_c EXPORT kbenchCTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kbench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY libkbench/include/kbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY harness/candidates DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench)
install(DIRECTORY harness/evaluate/prompts/templates/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench/prompts)
# Where "docs/serve.md" of a message, and the links of README.md, lead.
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(export kbenchCoreTargets kbenchTargets kbenchModelsTargets kbenchCTargets)
  install(EXPORT ${export} NAMESPACE kbench:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(
  libkbench/cmake/kbenchConfig.cmake.in ${PROJECT_BINARY_DIR}/kbenchConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kbenchConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kbenchConfig.cmake
              ${PROJECT_BINARY_DIR}/kbenchConfigVersion.cmake
              libkbench/cmake/dependencies.cmake
              libkbench/cmake/dependencies_models.cmake
              libkbench/cmake/dependencies_core.cmake
        DESTINATION ${package_dir})

# For builds without CMake. The prefix is where the files lie, wherever that is.
cmake_path(SET pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(KBENCH_PC_PREFIX "\${pcfiledir}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(KBENCH_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${pkgconfig_dir} /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(KBENCH_PC_PREFIX "\${pcfiledir}/${up}")
endif()
cmake_path(APPEND KBENCH_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND KBENCH_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
foreach(package kbench-core kbench kbench-models kbench-c)
  configure_file(libkbench/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${pkgconfig_dir})
endforeach()
