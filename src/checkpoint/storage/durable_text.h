#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

// Small files, such as manifests and trackers.

/// kTooLarge: it has more than `limit` bytes. Else Storage::open()'s errors.
Result<std::string> read_text(const Storage& storage, std::string_view path, std::uint64_t limit);

/// In the place of the file that has this name: whoever reads it finds the old text or this one, also after a crash of the
/// machine. The text and its name are on the disk then. Of an error before that the old one is left, or this one.
Result<void> write_text_durably(Storage& storage, std::string_view directory, std::string_view name,
                                std::string_view text);

}  // namespace muster::checkpoint
