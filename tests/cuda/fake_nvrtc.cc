// A library with NVRTC's functions: "compiles" by looking for a few words in the source.
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Program {
  std::string text, name, log, ptx;
  std::vector<std::string> headers, names;
  bool good = false;
};

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 9;
  return 0;
}
const char* nvrtcGetErrorString(int result) {
  return result == 1 ? "NVRTC_ERROR_OUT_OF_MEMORY" : "NVRTC_ERROR_SOMETHING";
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
int nvrtcGetSupportedArchs(int* all) {
  all[0] = 80;
  all[1] = 90;
  return 0;
}
int nvrtcCreateProgram(Program** made, const char* text, const char* name, int headers,
                       const char* const* texts, const char* const* names) {
  *made = new Program{text, name, "", "", {}, {}, false};
  for (int i = 0; i < headers; ++i) {
    (*made)->headers.push_back(std::string(names[i]) + "=" + texts[i]);
  }
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
/// The PTX is the options, the headers and the text, so that a test sees what was asked.
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  const auto has = [&](const char* word) { return program->text.find(word) != std::string::npos; };
  if (has("OUT_OF_MEMORY")) return 1;
  if (has("SILENT")) return 6;
  if (has("ERROR")) {
    program->log = program->name + "(2): error: it says ERROR\n";
    return 6;
  }
  if (has("WARN")) program->log = program->name + "(1): warning: it says WARN\n";
  for (int i = 0; i < count; ++i) program->ptx += std::string("// ") + options[i] + "\n";
  for (const std::string& header : program->headers) program->ptx += "// header " + header + "\n";
  program->ptx += "// text " + program->text;
  program->good = true;
  return 0;
}
int nvrtcGetPTXSize(Program* program, size_t* size) {
  *size = program->ptx.size() + 1;
  return 0;
}
int nvrtcGetPTX(Program* program, char* ptx) {
  std::memcpy(ptx, program->ptx.c_str(), program->ptx.size() + 1);
  return 0;
}
int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcAddNameExpression(Program* program, const char* name) {
  program->names.push_back(name);
  return 0;
}
int nvrtcGetLoweredName(Program* program, const char* name, const char** lowered) {
  program->names.push_back("_Z" + std::string(name));
  *lowered = program->names.back().c_str();
  return 0;
}
}
