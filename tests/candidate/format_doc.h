// The worked example of docs/candidate-format.md, taken out of it.
#pragma once

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace kbench::testing_support {

inline std::string file_text(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The fenced blocks that follow a line "`name`:", by name.
inline std::map<std::string, std::string> documented_files(const std::string& path) {
  std::map<std::string, std::string> files;
  const std::string text = file_text(path);
  const std::regex block("`([a-z_]+\\.[a-z]+)`:\n+```[a-z]*\n([^`]*)```\n");
  for (std::sregex_iterator it(text.begin(), text.end(), block), end; it != end; ++it) {
    files[(*it)[1]] = (*it)[2];
  }
  return files;
}

}  // namespace kbench::testing_support
