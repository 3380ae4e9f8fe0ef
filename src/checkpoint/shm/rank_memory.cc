#include "checkpoint/shm/rank_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

namespace muster::checkpoint {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed))
        names.push_back(entry->path().filename().string());
    if (failed)
        return system_error("look for checkpoints in " + directory.string(), failed.value());
    return names;
}

/// The header is what a segment gets last.
bool is_unfinished(const fs::path& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::uint64_t magic = 0;
    return fd && (::pread(fd.get(), &magic, sizeof magic, 0) < 8 || magic == 0);
}

/// nullopt: the segment has none.
Result<std::optional<FoundImage>> image_in(const MemoryPlace& place, std::uint64_t number) {
    TRY(SegmentFile file, open_segment(place, number));
    TRY(UniqueFd again, file.open_again());
    const std::byte* const begin = file.bytes(0, 0).data();
    const SegmentReader reader(std::move(file));
    TRY(std::optional<HeldImage> image, reader.newest());
    if (!image) return std::nullopt;
    const auto place_in_file = static_cast<std::uint64_t>(image->bytes().data() - begin);
    return FoundImage{.image = *std::move(image), .file = std::move(again), .begin = place_in_file};
}

}  // namespace

Result<std::vector<FoundSegment>> find_segments(const fs::path& directory, const MemoryOwner& owner,
                                                std::optional<std::uint32_t> rank) {
    TRY(const std::vector<std::string> names, names_in(directory));
    std::vector<FoundSegment> found;
    for (const std::string& name : names) {
        const auto number = parse_segment_name(owner, name);
        if (number && (!rank || number->rank == *rank))
            found.push_back({.number = *number, .path = directory / name});
    }
    std::ranges::sort(found, [](const FoundSegment& one, const FoundSegment& other) {
        return std::tie(one.number.rank, other.number.number) <
               std::tie(other.number.rank, one.number.number);
    });
    return found;
}

Result<SegmentFile> open_segment(const MemoryPlace& place, std::uint64_t number) {
    const fs::path path = place.segment(number);
    TRY(SegmentFile file, SegmentFile::open(path));
    const SegmentOwner& owner = file.facts().owner;
    if (owner != SegmentOwner{.job = place.owner.job, .rank = place.rank})
        return Error(
            Code::kConflict,
            fmt::format("{} belongs to rank {} of the job {}, and not to rank {} of {}; "
                        "move it away or remove it",
                        path.string(), owner.rank, owner.job, place.rank, place.owner.job));
    return file;
}

Result<std::optional<FoundImage>> find_newest_image(const MemoryPlace& place) {
    TRY(const auto segments, find_segments(place.directory, place.owner, place.rank));
    std::optional<Error> wrong;
    for (const FoundSegment& segment : segments) {
        auto found = image_in(place, segment.number.number);
        if (found && *found) return found;
        const bool says_nothing = found || found.error().code() == Code::kNotFound;
        if (says_nothing || wrong || is_unfinished(segment.path)) continue;
        wrong = found.error().prefix(segment.path.string());
    }
    if (wrong) return *wrong;
    return std::nullopt;
}

Result<std::uint64_t> remove_memory(const fs::path& directory, const MemoryOwner& owner,
                                    std::optional<std::uint32_t> rank) {
    TRY(const std::vector<std::string> names, names_in(directory));
    const std::string prefix = file_prefix(owner);
    std::uint64_t removed = 0;
    for (const std::string& name : names) {
        const auto number = parse_segment_name(owner, name);
        const bool is_lock = rank ? name == writer_lock_name(owner, *rank)
                                  : name.starts_with(prefix) && name.ends_with(".lock");
        if (!is_lock && (!number || (rank && number->rank != *rank))) continue;
        const fs::path path = directory / name;
        if (::unlink(path.c_str()) != 0 && errno != ENOENT)
            return system_error("remove " + path.string(), errno);
        if (number) ++removed;
    }
    return removed;
}

}  // namespace muster::checkpoint
