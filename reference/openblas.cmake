# OpenBLAS as one object of kbench's own. Of the build without threads (one a call is what is wanted)
# the four functions that reference/blas.cc calls are linked together with all they need, and every
# other name is made local: a program that links kbench keeps whichever OpenBLAS it has itself, and
# that one's settings. Where OpenBLAS takes and gives back its working memory, it calls blas.cc, since
# what Debian 12 builds (0.3.21, USE_LOCKING=1) gives two threads the same memory now and then.
find_library(KBENCH_OPENBLAS libopenblas.a PATH_SUFFIXES openblas-serial REQUIRED
             DOC "OpenBLAS built with USE_THREAD=0 (Debian: libopenblas-serial-dev)")
find_path(KBENCH_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-serial REQUIRED)
# LLVM's linker, which CMake takes with clang where it is there, links no archive without being told
# for which processor.
find_program(KBENCH_LD ld.bfd REQUIRED DOC "GNU ld")
# Nor does LLVM's objcopy, which CMake takes likewise, keep the names that were just changed.
find_program(KBENCH_OBJCOPY NAMES ${CMAKE_LIBRARY_ARCHITECTURE}-objcopy objcopy REQUIRED
             DOC "GNU objcopy")
set(openblas_object ${CMAKE_CURRENT_BINARY_DIR}/openblas.o)
if(${KBENCH_OPENBLAS} IS_NEWER_THAN ${openblas_object} OR
   ${CMAKE_CURRENT_LIST_FILE} IS_NEWER_THAN ${openblas_object})
  set(roots "")
  set(names "")
  foreach(function cblas_sgemm cblas_dgemm cblas_sgemv cblas_dgemv)
    list(APPEND roots -u ${function})
    list(APPEND names --redefine-sym ${function}=kbench_${function}
                      --keep-global-symbol kbench_${function})
  endforeach()
  foreach(function blas_memory_alloc blas_memory_free)
    list(APPEND roots --wrap ${function})
    list(APPEND names --redefine-sym __wrap_${function}=kbench_${function}
                      --redefine-sym ${function}=kbench_real_${function}
                      --keep-global-symbol kbench_real_${function})
  endforeach()
  execute_process(COMMAND ${KBENCH_LD} -r ${roots} -o ${openblas_object}.all ${KBENCH_OPENBLAS}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${KBENCH_OBJCOPY} --strip-unneeded ${names} ${openblas_object}.all
                          ${openblas_object}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${openblas_object}.all)
endif()
set_source_files_properties(${openblas_object} TARGET_DIRECTORY kbench_core_library
                            PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_sources(kbench_core_library PRIVATE ${openblas_object})
target_link_libraries(kbench_reference PRIVATE ${openblas_object})
target_include_directories(kbench_reference SYSTEM PRIVATE ${KBENCH_OPENBLAS_INCLUDE})
