kbench_room(extraction CORE
  SOURCES
    src/answer_names.cc
    src/extract.cc
    src/fenced_blocks.cc
    src/manifest_outline.cc
    src/thoughts.cc
  LIBRARIES PkgConfig::md4c)
