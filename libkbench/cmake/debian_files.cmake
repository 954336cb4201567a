# Run by cpack once everything is installed, and before the packages are made: adds what Debian wants
# in each package (changelog, copyright, exceptions from lintian's rules), and gives every file the
# time SOURCE_DATE_EPOCH, so that the same sources make the same bytes.
cmake_policy(VERSION 3.25)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: the time that the packages' files bear")
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # by SOURCE_DATE_EPOCH

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Licences: kbench's own, and those of the packages whose code was linked in.
file(READ ${CPACK_KBENCH_SOURCE}/LICENSE copyright)
foreach(package IN LISTS CPACK_KBENCH_LINKED_IN)
  file(READ /usr/share/doc/${package}/copyright text)
  string(APPEND linked "\n\n---- Linked in, from Debian's ${package}\n\n${text}")
endforeach()

foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${package})
  set(documents ${root}/usr/share/doc/${package})
  file(WRITE ${documents}/changelog.Debian
       "kbench (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * This version.\n\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  run(gzip -9n ${documents}/changelog.Debian)
  if(package STREQUAL "python3-kbench")  # nothing compiled
    file(WRITE ${documents}/copyright "${copyright}")
    run(${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
        PYTHONPATH=${CPACK_KBENCH_SOURCE}/libkbench/python python3 -c
        "import build_backend, sys; build_backend.write_information(sys.argv[1])"
        ${root}/usr/lib/python3/dist-packages)
  else()
    file(WRITE ${documents}/copyright "${copyright}${linked}")
  endif()
  set(overrides ${root}/usr/share/lintian/overrides/${package})
  file(READ ${CMAKE_CURRENT_LIST_DIR}/debian/lintian-overrides common)
  file(WRITE ${overrides} "${common}")
  set(own ${CMAKE_CURRENT_LIST_DIR}/debian/${package}.lintian-overrides)
  if(EXISTS ${own})
    file(READ ${own} more)
    file(APPEND ${overrides} "${more}")
  endif()
  run(chmod -R u=rwX,go=rX ${root})
  run(find ${root} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +)
endforeach()
