kbench_room(exchange
  SOURCES
    src/exchange.cc
  LIBRARIES nlohmann_json::nlohmann_json)
