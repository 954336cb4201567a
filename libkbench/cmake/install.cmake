# `cmake --install`: library, headers, program, shipped candidates, and find_package(kbench).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kbench)

install(TARGETS kbench EXPORT kbenchTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kbench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY libkbench/include/kbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY harness/candidates DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench)
install(DIRECTORY harness/prompts/templates/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench/prompts)
install(EXPORT kbenchTargets NAMESPACE kbench:: DESTINATION ${package_dir})

configure_package_config_file(
  libkbench/cmake/kbenchConfig.cmake.in ${PROJECT_BINARY_DIR}/kbenchConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kbenchConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kbenchConfig.cmake
              ${PROJECT_BINARY_DIR}/kbenchConfigVersion.cmake
              libkbench/cmake/dependencies.cmake
        DESTINATION ${package_dir})
