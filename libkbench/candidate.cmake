kbench_room(candidate CORE
  SOURCES
    src/candidate_files.cc
    src/candidate_folder.cc
    src/candidate_parse.cc
    src/candidate_parse_kernel.cc
    src/candidate_parse_step.cc
    src/candidate_buffer_step.cc
    src/candidate_cuda_step.cc
    src/candidate_defines.cc
    src/candidate_resolve.cc
    src/candidate_operator_step.cc
    src/candidate_uniform.cc
    src/eager_candidate.cc
    src/expression.cc
    src/hash.cc
    src/open_beneath.cc
    src/symbol_table.cc
    src/source_json.cc
    src/text.cc
    src/yaml_hints.cc
    src/yaml_reader.cc
  LIBRARIES yaml-cpp muparser::muparser nlohmann_json::nlohmann_json OpenSSL::Crypto)
