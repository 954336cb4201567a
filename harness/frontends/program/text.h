// Numbers, tables and places as people read them.
#pragma once

#include <string>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/result.h"

namespace kbench::program {

std::string format_number(double value, int digits = 3);  ///< significant digits, "%.3g"
std::string format_bytes(double bytes);                   ///< "1.50 GB", powers of ten
std::string format_flops(double flops);                   ///< "2.15 GFLOP"
std::string format_ms(double ms);                         ///< "0.123 ms"
std::string format_seconds(double seconds);               ///< "42s", "3m05s"
std::string format_speedup(const Interval& speedup);      ///< "1.43x [1.41, 1.45]"
std::string format_outcome(const Attempt& attempt);       ///< "passed  1.43x [1.41, 1.45]"
/// A message about a candidate, which may quote from it, as shown() makes it but longer.
std::string shown_message(const std::string& message);
/// "softmax.comp:12:3: error: undeclared identifier", in one line.
std::string format_diagnostic(const Diagnostic& diagnostic);

/// Rows aligned in columns, two spaces between; the first row is the heading. Where standard output
/// is a terminal, long cells are cut until a line fits.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

/// printf-style padding: the text filled with blanks up to `width`.
std::string padded(std::string text, size_t width);

}  // namespace kbench::program
