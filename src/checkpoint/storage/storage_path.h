#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::checkpoint {

/// The parts of a path of Storage; none for "", its root. kInvalid: it leaves the root, or has a part that is empty, "."
/// or "..", is longer than 255 bytes or has a zero.
Result<std::vector<std::string_view>> parts_of(std::string_view path);

/// The path without its last part; "" for one part.
std::string_view directory_of(std::string_view path);
/// Its last part.
std::string_view name_of_path(std::string_view path);
/// directory + "/" + name; only the name in the root.
std::string path_in(std::string_view directory, std::string_view name);
/// Whether `path` is `directory` or is somewhere in it.
bool is_within(std::string_view path, std::string_view directory);

}  // namespace muster::checkpoint
