kbench_room(scoring
  SOURCES
    src/baseline.cc
    src/compare.cc
    src/files.cc
    src/golden.cc
    src/golden_file.cc
    src/json_field.cc
    src/kernelbench_file.cc
    src/leaderboard.cc
    src/npy.cc
    src/recorded.cc
    src/result.cc
    src/result_file.cc
    src/score.cc
    src/verdict.cc
  LIBRARIES nlohmann_json::nlohmann_json TBB::tbb zstd::libzstd_shared)
