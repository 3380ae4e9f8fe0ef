#pragma once

#include <string>

#include "base/result.h"

namespace muster::kube {

/// All of a file that holds a certificate, a key, a token or a name: more than a mebibyte is
/// refused. The message of an error starts with the file. Blocks.
Result<std::string> read_small_file(const std::string& file);

/// The same for a file of one word, without the spaces and line ends around it, as client-go reads
/// token files. kInvalid when there is none: a file that is just being written.
Result<std::string> read_word(const std::string& file);

}  // namespace muster::kube
