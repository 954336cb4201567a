// What a value can be completed to. It follows from the type that the help page shows:
// "eager|FILE" is the word eager, or a file; "DEVICE" a device of this machine.
#pragma once

#include <string>
#include <vector>

namespace kbench::program {

struct Word {
  std::string text;
  std::string meaning = "";  ///< for shells that show it
};

/// What the shell itself completes beside the words.
enum class Paths { none, folders, files };

struct ValueWords {
  std::vector<Word> words;  ///< not only those that begin like the value
  Paths paths = Paths::none;
};

/// `type`: of one value, without the ",..." of a list. `begun`: what there is of the value. Devices
/// are waited for 3 s. Throws nothing for what a machine lacks: then there are no words.
ValueWords words_of_type(const std::string& type, const std::string& begun);

}  // namespace kbench::program
