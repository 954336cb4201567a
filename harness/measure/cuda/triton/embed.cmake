# A file as text inside the library: cmake -D INPUT=FILE -D OUTPUT=FILE -P embed.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"harness/measure/cuda/triton.h\"

namespace kbench::cuda {

std::string_view triton_script() { return R\"kbench_file(${text})kbench_file\"; }

}  // namespace kbench::cuda
")
