# openapi.json as a text inside the program: cmake -D INPUT=FILE -D OUTPUT=FILE -P embed.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"harness/frontends/http/service.h\"

namespace kbench::http {

const char* openapi_text() { return R\"openapi(${text})openapi\"; }

}  // namespace kbench::http
")
