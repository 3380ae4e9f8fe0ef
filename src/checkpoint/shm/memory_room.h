#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace muster::checkpoint {

/// How much memory is left, in bytes.
struct MemoryRoom {
    std::uint64_t in_directory = UINT64_MAX;  ///< what the file system of the directory has left
    std::uint64_t of_machine = UINT64_MAX;    ///< what the kernel could give
    std::uint64_t of_container = UINT64_MAX;  ///< what its control group may have in all
};

MemoryRoom memory_room(const std::filesystem::path& directory);

/// kUnavailable, with both amounts and what to do: there is less than that. The kernel would end processes, perhaps
/// this one, before it refused.
Result<void> check_room(const MemoryRoom& room, std::uint64_t bytes, std::string_view directory);

/// From /proc/meminfo: the line `MemAvailable`, in bytes.
std::optional<std::uint64_t> available_memory(std::string_view meminfo);

/// "3.1 GB"
std::string in_words(std::uint64_t bytes);

}  // namespace muster::checkpoint
