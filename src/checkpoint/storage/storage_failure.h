#pragma once

#include <string_view>

#include "base/result.h"

namespace muster::checkpoint {

/// What a call of the system about `path` has refused, for people: what could not be done, why, and what helps.
///
/// kNotFound: nothing has that path. kForbidden: no rights, or read-only. kUnsupported: the file system can't.
/// kTooLarge: the file is larger than the file system, or a limit of the process, lets it be.
/// kUnavailable: all else, such as a full disk.
Error storage_failure(std::string_view doing, std::string_view path, int why);

}  // namespace muster::checkpoint
