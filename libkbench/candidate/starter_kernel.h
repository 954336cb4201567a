// The text of a starter's kernel: statements and expressions, written in any of the languages.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kbench/tensor.h"
#include "libkbench/candidate/starter.h"
#include "libkbench/candidate/starter_sizes.h"

namespace kbench {

/// A buffer of the kernel.
struct KernelBuffer {
  std::string name;    ///< in the kernel: "x", "weight"
  std::string buffer;  ///< in the manifest: "conv.weight"
  DType dtype = DType::f32;
  bool written = false;
};

/// Each statement function appends that statement to the kernel's body.
class KernelText {
 public:
  /// `halves`: floats have 16 bits in memory, as KB_REAL.
  KernelText(StarterLanguage language, SizeMarks& marks, bool halves)
      : language_(language), marks_(marks), halves_(halves) {}

  // --- numbers, as constants of the manifest and macros (in Triton: constexpr) of the kernel
  /// Defines a constant; returns its name.
  std::string size(const std::string& name, int64_t value);
  std::string real(const std::string& name, double value);
  /// Defines a constant by an expression over those before it; returns its name.
  std::string derived(const std::string& name, const std::string& expression);

  // --- statements
  void note(const std::string& comment);
  void index(const std::string& name, const std::string& value);   ///< a new integer
  void number(const std::string& name, const std::string& value);  ///< a new float
  void set(const std::string& name, const std::string& value);
  void loop(const std::string& variable, const std::string& count);  ///< from 0
  void when(const std::string& condition);
  void end();
  void store(const std::string& buffer, const std::string& at, const std::string& value);

  // --- expressions
  std::string load(const std::string& buffer, const std::string& at) const;
  std::string quotient(const std::string& a, const std::string& b) const;  ///< of integers
  std::string both(const std::string& a, const std::string& b) const;
  std::string either_value(const std::string& condition, const std::string& yes,
                           const std::string& no) const;
  std::string literal(const std::string& number) const;  ///< "0.5"
  std::string as_float(const std::string& integer) const;
  /// exp, log, sqrt, abs, erf, max, min.
  std::string call(const std::string& function, const std::string& a,
                   const std::string& b = "") const;

  std::vector<KernelBuffer> buffers;

  const std::vector<std::pair<std::string, std::string>>& constants() const { return constants_; }
  /// To be called before the first load: buffers are reached by pushed addresses (GLSL).
  void by_address() { addresses_ = true; }
  /// The whole file; `outputs` is the constant with the number of invocations.
  std::string file(const std::string& name, const std::string& comment,
                   const std::string& outputs) const;

 private:
  bool python() const { return language_ == StarterLanguage::triton; }
  void line(const std::string& text);
  const KernelBuffer& find(const std::string& name) const;
  std::string element_of(DType dtype) const;
  std::string element_at(const KernelBuffer& buffer, const std::string& at) const;
  std::string glsl(const std::string& comment, const std::string& outputs) const;
  std::string hlsl(const std::string& comment, const std::string& outputs) const;
  std::string cuda(const std::string& name, const std::string& comment,
                   const std::string& outputs) const;
  std::string triton(const std::string& name, const std::string& comment) const;

  StarterLanguage language_;
  SizeMarks& marks_;
  bool halves_;
  std::vector<std::pair<std::string, std::string>> constants_;
  std::string body_;
  size_t depth_ = 1;
  mutable bool uses_erf_ = false;
  bool addresses_ = false;
};

}  // namespace kbench
