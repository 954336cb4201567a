// Formats numbers, tables and places for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/result.h"

namespace kbench::program {

/// Significant digits, "%.3g"; "-" for what is no number.
std::string format_number(double value, int digits = 3);
std::string format_bytes(double bytes);      ///< "1.50 GB", powers of ten
std::string format_flops(double flops);      ///< "2.15 GFLOP"
std::string format_ms(double ms);            ///< "0.123 ms"
std::string format_seconds(double seconds);  ///< "42s", "3m05s"
/// "0.95", "0.0095": two digits behind the point, or two that are not 0.
std::string format_factor(double value);
std::string format_speedup(const Interval& speedup);  ///< "1.43x [1.41, 1.45]"
std::string format_outcome(const Attempt& attempt);   ///< "passed  1.43x [1.41, 1.45]"
/// A message that may quote a candidate, escaped like shown() but longer.
std::string shown_message(const std::string& message);
/// "softmax.comp:12:3: error: undeclared identifier", on one line.
std::string format_diagnostic(const Diagnostic& diagnostic);
/// The words of a text in lines of at most so many columns.
std::string wrapped(const std::string& text, size_t columns = 98);
/// The line at `place` (1-based) of a file's text, and below it a caret under the column, each
/// behind `indent`; empty where the text has no such line or there is no column.
std::string pointed_line(std::string_view text, const Location& place, const std::string& indent);

/// The task's check is known to fail; or none was tried, and it passed (kbench/certificate.h).
bool proves_nothing(const Result& result);
/// The warning that a CPU was timed.
std::string software_warning(const std::string& device);

/// Aligns rows in columns separated by two spaces; the first row is the heading. On a terminal,
/// lines fit it.
std::string format_table(const std::vector<std::vector<std::string>>& rows);

/// The text padded with blanks to `width`.
std::string padded(std::string text, size_t width);

}  // namespace kbench::program
