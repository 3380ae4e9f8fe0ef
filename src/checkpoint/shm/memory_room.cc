#include "checkpoint/shm/memory_room.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <string>

#include "base/parse_number.h"
#include "base/text_files.h"
#include "base/trimmed.h"

namespace muster::checkpoint {
namespace {

/// A number alone in a small file; nullopt: it isn't there, or says "max".
std::optional<std::uint64_t> number_in(const char* path) {
    const auto text = read_text(path);
    if (!text) return std::nullopt;
    return parse_number<std::uint64_t>(trimmed(*text, "\n"));
}

}  // namespace

std::optional<std::uint64_t> available_memory(std::string_view meminfo) {
    constexpr std::string_view kName = "MemAvailable:";
    const std::size_t at = meminfo.find(kName);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t digits = meminfo.find_first_not_of(' ', at + kName.size());
    if (digits == std::string_view::npos) return std::nullopt;
    const auto kilobytes = leading_number<std::uint64_t>(meminfo.substr(digits));
    if (!kilobytes || *kilobytes > UINT64_MAX / 1024) return std::nullopt;
    return *kilobytes * 1024;
}

MemoryRoom memory_room(const std::filesystem::path& directory) {
    MemoryRoom room;
    struct statvfs facts{};
    if (::statvfs(directory.c_str(), &facts) == 0)
        room.in_directory = facts.f_bavail * facts.f_frsize;
    if (const auto meminfo = read_text("/proc/meminfo"))
        room.of_machine = available_memory(*meminfo).value_or(UINT64_MAX);
    // What it uses now says little: pages of files count, which the kernel drops when it must.
    room.of_container = number_in("/sys/fs/cgroup/memory.max").value_or(UINT64_MAX);
    return room;
}

std::string in_words(std::uint64_t bytes) {
    constexpr double kThousand = 1000;
    const auto amount = static_cast<double>(bytes);
    if (bytes >= 1'000'000'000)
        return fmt::format("{:.1f} GB", amount / (kThousand * kThousand * kThousand));
    if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", amount / (kThousand * kThousand));
    return fmt::format("{} bytes", bytes);
}

Result<void> check_room(const MemoryRoom& room, std::uint64_t bytes, std::string_view directory) {
    if (room.in_directory < bytes)
        return Error(Code::kUnavailable, fmt::format("{} needs room for {} and has {} left: give "
                                                     "the container more shared memory (docker's "
                                                     "--shm-size, or a volume of medium Memory at "
                                                     "{} in a pod), or name another directory in "
                                                     "memory",
                                                     directory, in_words(bytes),
                                                     in_words(room.in_directory), directory));
    const std::uint64_t memory = std::min(room.of_machine, room.of_container);
    if (memory < bytes)
        return Error(Code::kUnavailable,
                     fmt::format("the images of the state need {} of memory and {} are left: save "
                                 "less, or fewer ranks on "
                                 "a node",
                                 in_words(bytes), in_words(memory)));
    return {};
}

}  // namespace muster::checkpoint
