#include "harness/frontends/program/output_file.h"

#include "kbench/error.h"

namespace kbench::program {

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (!path.empty()) writer_ = std::make_unique<ResultWriter>(path);
}

std::string OutputFile::append(const Result& result) {
  if (!writer_) return "";
  waiting_.push_back(result);
  const std::string why = write_waiting();
  if (why.empty() || said_) return "";
  said_ = true;
  return why + "; results are kept in memory, and written once that works";
}

std::string OutputFile::finish() {
  const std::string why = write_waiting();
  if (why.empty()) return "";
  return path_ + " lacks " + std::to_string(waiting_.size()) +
         (waiting_.size() == 1 ? " result: " : " results: ") + why;
}

std::string OutputFile::write_waiting() {
  size_t written = 0;
  std::string why;
  try {
    for (; written < waiting_.size(); ++written) writer_->append(waiting_[written]);
  } catch (const Error& e) {
    why = e.what();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(written));
  return why;
}

}  // namespace kbench::program
