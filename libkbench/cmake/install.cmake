# `cmake --install`: library, headers, program, candidates and tasks that ship, pages, and
# find_package(kbench).
# A component is what goes into the Debian package of its name.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kbench)

set(archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libkbench-dev)
install(TARGETS kbench_core_library EXPORT kbenchCoreTargets ${archive})
install(TARGETS kbench EXPORT kbenchTargets ${archive})
install(TARGETS kbench_models_library EXPORT kbenchModelsTargets ${archive})
install(TARGETS kbench_c EXPORT kbenchCTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libkbench1
                NAMELINK_COMPONENT libkbench-dev)
install(TARGETS kbench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT kbench)
install(DIRECTORY libkbench/include/kbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT libkbench-dev FILES_MATCHING PATTERN "*.h")
install(DIRECTORY harness/candidates harness/tasks
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench COMPONENT kbench)
install(DIRECTORY harness/evaluate/prompts/templates/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kbench/prompts COMPONENT kbench)
# Where "docs/serve.md" of a message, and the links of README.md, lead.
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT kbench)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT kbench)
# Where Debian's python3 looks; elsewhere it is installed by pip.
install(DIRECTORY libkbench/python/src/kbench DESTINATION lib/python3/dist-packages
        COMPONENT python3-kbench EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
foreach(export kbenchCoreTargets kbenchTargets kbenchModelsTargets kbenchCTargets)
  install(EXPORT ${export} NAMESPACE kbench:: DESTINATION ${package_dir} COMPONENT libkbench-dev)
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
        DESTINATION ${package_dir} COMPONENT libkbench-dev)

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
# A program finds the library under whatever prefix it is; the system's loader finds a package's.
set(KBENCH_PC_RPATH "-Wl,-rpath,\${libdir} ")
if(KBENCH_PACKAGE)
  set(KBENCH_PC_RPATH "")
endif()
foreach(package kbench-core kbench kbench-models kbench-c)
  configure_file(libkbench/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${pkgconfig_dir}
          COMPONENT libkbench-dev)
endforeach()
