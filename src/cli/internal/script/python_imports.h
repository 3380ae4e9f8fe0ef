#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// The modules that a Python source imports anywhere in it, by their first name, each once and in
/// order: "torch" for `import torch.nn as nn` and for `from torch import nn`. A relative import
/// gives the name of the module beside it. What stands in strings and comments does not count. In
/// time and memory linear in the source, whatever it is. Pure.
std::vector<std::string> imported_modules(std::string_view source);

}  // namespace muster::cli
