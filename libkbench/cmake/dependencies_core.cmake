# What kbench::core links, found the same way by its own build and by find_package(kbench).
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(TBB REQUIRED)
find_package(zstd REQUIRED)
find_package(simdjson 3.0 REQUIRED)
find_package(muparser REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
# By pkg-config: Debian's CMake file of libmd4c-dev asks for libmd4c-html, another package's.
find_package(PkgConfig REQUIRED)
pkg_check_modules(md4c REQUIRED IMPORTED_TARGET md4c)
