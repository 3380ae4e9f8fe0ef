#pragma once

#include <string>

#include "base/result.h"

namespace muster::kube {

/// The content of a file with a certificate, a key, a token or a name; more than a mebibyte is
/// refused. The message of an error starts with the file. Blocks.
Result<std::string> read_small_file(const std::string& file);

/// The same for a file of one word, without surrounding spaces and line ends, as client-go reads
/// token files. kInvalid if it is empty, as while it is being written.
Result<std::string> read_word(const std::string& file);

}  // namespace muster::kube
