# Installs the build into a scratch prefix, then configures, builds and runs the consumer project.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE ${WORK})

# The program of docs/models.md, as it stands there.
file(READ ${DOCS}/models.md text)
string(FIND "${text}" "// Plays one episode" begin)
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "\n```\n\n" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE ${WORK}/episode.cc "${text}\n")

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_BUILD_TYPE=Release -DEPISODE=${WORK}/episode.cc -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
run(${WORK}/prefix/bin/kbench --version)

execute_process(COMMAND ${WORK}/prefix/bin/kbench devices RESULT_VARIABLE no_device OUTPUT_QUIET
                ERROR_QUIET)
if(no_device AND NOT DEFINED ENV{KBENCH_REQUIRE_VULKAN})
  message(STATUS "no Vulkan device: the episode of docs/models.md is built and not run")
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env KBENCH_PROGRAM=${WORK}/prefix/bin/kbench
                          ${WORK}/build/episode
                  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "^attempt 1: wrong_values, reward 0\nattempt 2: passed, reward ")
    message(FATAL_ERROR "the episode of docs/models.md says\n${said}")
  endif()
endif()
file(REMOVE_RECURSE ${WORK})
