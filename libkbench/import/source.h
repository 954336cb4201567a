// A CUDA source as kernel files embed it, taken apart: device code that stays, host functions that
// are followed, and what only PyTorch needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libkbench/import/tree.h"

namespace kbench::importing {

struct TemplateParameter {
  bool is_type = false;
  std::string name, fallback;
};

struct KernelSignature {
  std::string name;  ///< qualified with its namespaces
  std::vector<TemplateParameter> templates;
  std::vector<Parameter> parameters;
  int line = 0;
};

struct CudaSource {
  std::string device;  ///< what a compiler for the device alone takes
  std::map<std::string, KernelSignature> kernels;
  std::map<std::string, std::vector<std::shared_ptr<Function>>> functions;  ///< overloads
  std::map<std::string, NotFollowed> unread;         ///< host functions that do not parse
  Block constants;                                   ///< host declarations at the top level
  std::map<std::string, std::vector<Token>> macros;  ///< #define NAME tokens
  std::map<std::string, std::string> bound;          ///< m.def("name", &function)
};

/// `line` is that of the first character. `is_device` false reads C++ of which nothing stays.
CudaSource take_apart(const std::string& source, int line, bool is_device);

}  // namespace kbench::importing
