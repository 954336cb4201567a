kbench_room(episode
  SOURCES
    src/episode.cc
    src/episode_names.cc
    src/episode_reading.cc
    src/own_kernels.cc
    src/solve.cc)
