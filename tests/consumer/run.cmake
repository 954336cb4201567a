# Installs the build into a scratch prefix, then configures, builds and runs projects of a user's: by
# CMake and by pkg-config, on each library, with the programs of the documentation as they stand there.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DDOCS=... -DCANDIDATE=... -DPYTHON=... -DMODULE=...
#         -DCC=... -DCXX=... -DREADELF=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE ${WORK})

# What stands in a file between two texts, the first one included.
function(extract document begin end output)
  file(READ ${DOCS}/${document} text)
  string(FIND "${text}" "${begin}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${document} has no '${begin}'")
  endif()
  string(SUBSTRING "${text}" ${at} -1 text)
  string(FIND "${text}" "${end}" at)
  string(SUBSTRING "${text}" 0 ${at} text)
  file(WRITE ${WORK}/${output} "${text}\n")
endfunction()
extract(../README.md "#include <kbench/kbench.h>" "\n```\n\n" readme.cc)
extract(../README.md "kbench: 1\n" "\n```\n\n" relu.yaml)
extract(models.md "// Plays one episode" "\n```\n\n" episode.cc)
extract(embedding.md "// Judges the candidates" "\n```\n\n" judge/main.cc)
extract(embedding.md "// Asks a pool of two" "\n```\n\n" evaluator.cc)
extract(embedding.md "cmake_minimum_required" "\n```\n\n" judge/CMakeLists.txt)
extract(embedding.md "/* Judges the candidate" "\n```\n\n" judge.c)
extract(embedding.md "\"\"\"Rewards for two answers" "\n````\n\n" rewards.py)

# Lines that are no whole program become one.
function(extract_part document begin name)
  extract(${document} "${begin}" "\n```\n" parts/${name}.cc)
  file(READ ${WORK}/parts/${name}.cc text)
  file(WRITE ${WORK}/parts/${name}.cc
       "#include <kbench/kbench.h>\n#include <iostream>\nint main() {\n${text}}\n")
endfunction()
extract_part(golden.md "for (const kbench::GoldenRecord" golden)
extract_part(prompts.md "const kbench::Prompts prompts" prompts)
file(COPY ${SOURCE}/../golden/smoke.json.zst DESTINATION ${WORK})

set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
set(configure ${CMAKE_COMMAND} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
              -DCMAKE_CXX_FLAGS=${FLAGS})
run(${configure} -S ${SOURCE} -B ${WORK}/build -DEPISODE=${WORK}/episode.cc -DPARTS=${WORK}/parts
    -DJUDGE_C=${WORK}/judge.c -DREADME=${WORK}/readme.cc -DEVALUATOR=${WORK}/evaluator.cc)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${configure} -S ${WORK}/judge -B ${WORK}/judge/build)
run(${CMAKE_COMMAND} --build ${WORK}/judge/build)
run(${WORK}/build/consumer)
run(${prefix}/bin/kbench --version)
foreach(page README.md docs/serve.md docs/results/h200.md)
  if(NOT EXISTS ${prefix}/share/doc/kbench/${page})
    message(FATAL_ERROR "${page} is not installed")
  endif()
endforeach()

# The core where Vulkan, shaderc and curl are not to be found: a program that needs none of them.
set(absent "")
foreach(package Vulkan glslang SPIRV-Tools-opt CURL)
  list(APPEND absent -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
run(${configure} -S ${SOURCE}/core -B ${WORK}/core ${absent})
run(${CMAKE_COMMAND} --build ${WORK}/core)
run(${WORK}/core/core)
execute_process(COMMAND ${READELF} -d ${WORK}/core/core OUTPUT_VARIABLE needed
                COMMAND_ERROR_IS_FATAL ANY)
if(needed MATCHES "libvulkan|libcurl|libshaderc|libseccomp" OR NOT needed MATCHES "libyaml-cpp")
  message(FATAL_ERROR "a program on kbench::core needs\n${needed}")
endif()

# By pkg-config, which is to find kbench in the scratch prefix and the rest where it always is.
function(flags output)
  file(GLOB_RECURSE file ${prefix}/*/kbench.pc)
  cmake_path(GET file PARENT_PATH folder)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} pkg-config ${ARGN}
                  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  set(${output} ${flags} PARENT_SCOPE)
endfunction()
separate_arguments(common UNIX_COMMAND "${FLAGS}")
flags(core --static --cflags --libs kbench-core)
run(${CXX} -std=c++20 ${common} ${SOURCE}/core/main.cc ${core} -o ${WORK}/by_pkgconfig_core)
run(${WORK}/by_pkgconfig_core)
flags(all --static --cflags --libs kbench-models)
run(${CXX} -std=c++20 ${common} ${SOURCE}/main.cc ${all} -o ${WORK}/by_pkgconfig)
run(${WORK}/by_pkgconfig)
flags(c --cflags --libs kbench-c)
run(${CC} -std=c99 -Wall -Wextra -Werror ${WORK}/judge.c ${c} -o ${WORK}/by_pkgconfig_c)

# expect_said(REGEX COMMAND...)
function(expect_said wanted)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env KBENCH_PROGRAM=${prefix}/bin/kbench ${ARGN}
                  WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "${wanted}")
    message(FATAL_ERROR "${ARGN} says\n${said}")
  endif()
endfunction()
execute_process(COMMAND ${WORK}/build/golden WORKING_DIRECTORY ${WORK} ERROR_VARIABLE said
                COMMAND_ERROR_IS_FATAL ANY)
if(said)
  message(FATAL_ERROR "the lines of golden.md say\n${said}")
endif()
expect_said("level1/19" ${WORK}/build/prompts)
expect_said("^invalid_candidate\n$" ${WORK}/build/evaluator)
execute_process(COMMAND ${prefix}/bin/kbench devices RESULT_VARIABLE no_device OUTPUT_QUIET
                ERROR_QUIET)
if(no_device AND NOT DEFINED ENV{KBENCH_REQUIRE_VULKAN})
  message(STATUS "no Vulkan device: the programs of the documentation are built and not run")
else()
  expect_said("^attempt 1: wrong_values, reward 0\nattempt 2: passed, reward " ${WORK}/build/episode)
  expect_said("^passed, [0-9.]+ times the baseline's speed\n$" ${WORK}/build/readme)
  expect_said(": passed, .* times the baseline's speed, .*\n1 passed\n$" ${WORK}/judge/build/judge
              ${CANDIDATE})
  expect_said("\"verdict\":\"passed\"" ${WORK}/build/judge_c ${CANDIDATE})
  expect_said("\"verdict\":\"passed\"" ${WORK}/by_pkgconfig_c ${CANDIDATE})
  if(PYTHON)
    # Of the installation whose program is on PATH.
    execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=KBENCH_PROGRAM
                            "PATH=${prefix}/bin:$ENV{PATH}" PYTHONPATH=${MODULE}/src
                            PYTHONDONTWRITEBYTECODE=1 ${PYTHON} ${WORK}/rewards.py
                    OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    if(NOT said MATCHES "^attempt 1: wrong_values, reward 0\nattempt 2: reward [0-9.]+\n.*mine")
      message(FATAL_ERROR "the program in Python says\n${said}")
    endif()
  endif()
endif()
file(REMOVE_RECURSE ${WORK})
