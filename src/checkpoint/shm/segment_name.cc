#include "checkpoint/shm/segment_name.h"

#include <fmt/format.h>

#include <span>

#include "base/parse_number.h"
#include "checkpoint/image/digest.h"

namespace muster::checkpoint {
namespace {

/// Of the job's name, for people who look into the directory.
constexpr std::size_t kMostOfJob = 40;

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

}  // namespace

std::string file_prefix(const MemoryOwner& owner) {
    std::string job = owner.job.substr(0, kMostOfJob);
    for (char& c : job)
        if (!is_plain(c)) c = '_';
    const std::string both = fmt::format("{} {}", owner.user, owner.job);
    return fmt::format("muster-{}-{:016x}-", job, digest_of(std::as_bytes(std::span(both))));
}

std::string segment_name(const MemoryOwner& owner, std::uint32_t rank, std::uint64_t number) {
    return fmt::format("{}{}.{}", file_prefix(owner), rank, number);
}

std::string writer_lock_name(const MemoryOwner& owner, std::uint32_t rank) {
    return fmt::format("{}{}.lock", file_prefix(owner), rank);
}

std::optional<SegmentNumber> parse_segment_name(const MemoryOwner& owner, std::string_view name) {
    const std::string prefix = file_prefix(owner);
    if (!name.starts_with(prefix)) return std::nullopt;
    const std::string_view rest = name.substr(prefix.size());
    const std::size_t dot = rest.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto rank = parse_number<std::uint32_t>(rest.substr(0, dot));
    const auto number = parse_number<std::uint64_t>(rest.substr(dot + 1));
    if (!rank || !number || *number == 0) return std::nullopt;
    // One segment has one name: no zeros in front.
    if (segment_name(owner, *rank, *number) != name) return std::nullopt;
    return SegmentNumber{.rank = *rank, .number = *number};
}

}  // namespace muster::checkpoint
