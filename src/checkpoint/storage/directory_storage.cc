#include "checkpoint/storage/directory_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "checkpoint/storage/direct_file.h"
#include "checkpoint/storage/file_lock.h"
#include "checkpoint/storage/storage_failure.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

/// What we write is three deep. Each level that is removed takes a descriptor and some stack.
constexpr int kDeepest = 32;

constexpr mode_t kForAll = 0777;  ///< less the umask
constexpr mode_t kForOwner = 0700;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using OpenDirectory = std::unique_ptr<DIR, CloseDirectory>;

/// The names in a directory, all of them before anything is done with one.
Result<std::vector<std::string>> names_in(UniqueFd directory, const std::string& path) {
    const OpenDirectory stream(::fdopendir(directory.get()));
    if (stream == nullptr) return storage_failure("list", path, errno);
    directory.release();
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* const entry = ::readdir(stream.get());
        if (entry == nullptr) break;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return storage_failure("list", path, errno);
    return names;
}

Result<void> remove_at(int parent, const std::string& name, const std::string& path, int depth) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    const int why = errno;
    // POSIX has EPERM for a directory, Linux EISDIR.
    if (why != EISDIR && why != EPERM) return storage_failure("remove", path, why);
    UniqueFd directory(
        ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) {
        if (errno == ENOENT) return {};
        return storage_failure("remove", path, errno == ENOTDIR ? why : errno);
    }
    if (depth >= kDeepest)
        return Error(
            Code::kInvalid,
            fmt::format("remove {}: more than {} directories are in each other", path, kDeepest));
    UniqueFd listed(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0));
    if (!listed) return storage_failure("remove", path, errno);
    TRY(const auto names, names_in(std::move(listed), path));
    for (const std::string& inner : names)
        TRY_VOID(remove_at(directory.get(), inner, path_in(path, inner), depth + 1));
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    return storage_failure("remove", path, errno);
}

Error no_rename(std::string_view from, std::string_view to, const char* why) {
    return Error(Code::kConflict, fmt::format("rename {} to {}: {}", from, to, why));
}

Error in_each_other(std::string_view one, std::string_view other) {
    return Error(Code::kInvalid,
                 fmt::format("{} can't change its place with {}: one is in the other", one, other));
}

/// One directory that may be there already; its name is on the disk then.
Result<void> make_durably(const std::filesystem::path& path) {
    if (::mkdir(path.c_str(), kForAll) != 0)
        return errno == EEXIST ? Result<void>() : storage_failure("make", path.string(), errno);
    const std::filesystem::path above = path.has_parent_path() ? path.parent_path() : ".";
    const UniqueFd directory(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || (::fsync(directory.get()) != 0 && errno != EINVAL))
        return storage_failure("bring to the disk", above.string(), errno);
    return {};
}

}  // namespace

Result<std::unique_ptr<DirectoryStorage>> DirectoryStorage::in(const std::filesystem::path& root) {
    UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return storage_failure("open", root.string(), errno);
    std::string name = root.string();
    if (name.size() > 1 && name.ends_with('/')) name.pop_back();
    return std::unique_ptr<DirectoryStorage>(new DirectoryStorage(std::move(fd), std::move(name)));
}

Result<std::unique_ptr<DirectoryStorage>> DirectoryStorage::make(
    const std::filesystem::path& root) {
    std::filesystem::path made;
    for (const auto& part : root) {
        made /= part;
        if (part.empty() || part == "/" || part == "." || part == "..") continue;
        TRY_VOID(make_durably(made));
    }
    return in(root);
}

std::string DirectoryStorage::shown(std::string_view path) const {
    return path.empty() ? root_name_ : fmt::format("{}/{}", root_name_, path);
}

Result<DirectoryStorage::Place> DirectoryStorage::place_of(const char* doing,
                                                           std::string_view path) const {
    TRY(const auto parts, parts_of(path));
    if (parts.empty())
        return Error(Code::kInvalid, fmt::format("{} {}: it is the root", doing, root_name_));
    Place place{.directory = UniqueFd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0)),
                .name = std::string(parts.back())};
    if (!place.directory) return storage_failure(doing, shown(path), errno);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        // By one name at a time, so that no link is followed on any kernel.
        place.directory = UniqueFd(::openat(place.directory.get(), std::string(parts[i]).c_str(),
                                            O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!place.directory) return storage_failure(doing, shown(path), errno);
    }
    return place;
}

Result<std::unique_ptr<NewFile>> DirectoryStorage::create(std::string_view path,
                                                          std::uint64_t bytes) {
    TRY(const Place place, place_of("create", path));
    // A new file, not the old one cut off: who has that one mapped keeps it.
    if (::unlinkat(place.directory.get(), place.name.c_str(), 0) != 0 && errno != ENOENT) {
        if (errno == EISDIR)
            return Error(Code::kConflict,
                         fmt::format("create {}: a directory has that name", shown(path)));
        return storage_failure("create", shown(path), errno);
    }
    UniqueFd fd(::openat(place.directory.get(), place.name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!fd) return storage_failure("create", shown(path), errno);
    auto file = new_direct_file(std::move(fd), shown(path), bytes);
    if (!file) ::unlinkat(place.directory.get(), place.name.c_str(), 0);
    return file;
}

Result<std::unique_ptr<StoredFile>> DirectoryStorage::open(std::string_view path) const {
    TRY(const auto parts, parts_of(path));
    // A pipe would wait for who writes it.
    const std::string relative = parts.empty() ? "." : std::string(path);
    UniqueFd fd(::openat(root_.get(), relative.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return storage_failure("open", shown(path), errno);
    return stored_direct_file(std::move(fd), shown(path));
}

Result<void> DirectoryStorage::make_directory(std::string_view path) {
    TRY(const auto parts, parts_of(path));
    UniqueFd above(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    if (!above) return storage_failure("make", shown(path), errno);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part(parts[i]);
        const mode_t mode = i == 0 && part.starts_with('.') ? kForOwner : kForAll;
        if (::mkdirat(above.get(), part.c_str(), mode) != 0 && errno != EEXIST)
            return storage_failure("make", shown(path), errno);
        above = UniqueFd(
            ::openat(above.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!above) return storage_failure("make", shown(path), errno);
    }
    return {};
}

Result<std::vector<Storage::Entry>> DirectoryStorage::list(std::string_view path) const {
    TRY(const auto parts, parts_of(path));
    const std::string relative = parts.empty() ? "." : std::string(path);
    UniqueFd directory(::openat(root_.get(), relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return storage_failure("list", shown(path), errno);
    UniqueFd listed(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0));
    if (!listed) return storage_failure("list", shown(path), errno);
    TRY(auto names, names_in(std::move(listed), shown(path)));
    std::ranges::sort(names);
    std::vector<Entry> entries;
    for (std::string& name : names) {
        struct stat facts{};
        // A link may lead nowhere, and a file may be gone since its name was read.
        if (::fstatat(directory.get(), name.c_str(), &facts, 0) != 0 &&
            ::fstatat(directory.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue;
            return storage_failure("look at", shown(path_in(path, name)), errno);
        }
        const bool file = S_ISREG(facts.st_mode);
        entries.push_back({.name = std::move(name),
                           .directory = S_ISDIR(facts.st_mode),
                           .bytes = file ? static_cast<std::uint64_t>(facts.st_size) : 0,
                           .modified_unix = facts.st_mtim.tv_sec});
    }
    return entries;
}

Result<void> DirectoryStorage::rename(std::string_view from, std::string_view to) {
    TRY(const Place old_place, place_of("rename", from));
    TRY(const Place new_place, place_of("rename", to));
    if (from != to && is_within(to, from)) return in_each_other(shown(from), shown(to));
    if (::renameat(old_place.directory.get(), old_place.name.c_str(), new_place.directory.get(),
                   new_place.name.c_str()) == 0)
        return {};
    switch (const int why = errno; why) {
        case ENOTEMPTY:
        case EEXIST:
            return no_rename(shown(from), shown(to), "a directory with that name is not empty");
        case EISDIR:
            return no_rename(shown(from), shown(to), "a directory has that name");
        case ENOTDIR:
            return no_rename(shown(from), shown(to), "a file has that name");
        default:
            return storage_failure("rename", fmt::format("{} to {}", shown(from), shown(to)), why);
    }
}

Result<void> DirectoryStorage::exchange(std::string_view one, std::string_view other) {
    TRY(const Place one_place, place_of("exchange", one));
    TRY(const Place other_place, place_of("exchange", other));
    if (one != other && (is_within(one, other) || is_within(other, one)))
        return in_each_other(shown(one), shown(other));
    if (::renameat2(one_place.directory.get(), one_place.name.c_str(), other_place.directory.get(),
                    other_place.name.c_str(), RENAME_EXCHANGE) == 0)
        return {};
    // A file system that does not know the flag says EINVAL.
    const int why = errno == EINVAL ? EOPNOTSUPP : errno;
    return storage_failure("exchange", fmt::format("{} and {}", shown(one), shown(other)), why);
}

Result<void> DirectoryStorage::remove(std::string_view path) {
    const auto place = place_of("remove", path);
    if (!place && place.error().code() == Code::kNotFound) return {};
    if (!place) return place.error();
    return remove_at(place->directory.get(), place->name, shown(path), 0);
}

Result<void> DirectoryStorage::sync_directory(std::string_view path) {
    TRY(const auto parts, parts_of(path));
    const std::string relative = parts.empty() ? "." : std::string(path);
    const UniqueFd directory(
        ::openat(root_.get(), relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return storage_failure("bring to the disk", shown(path), errno);
    // EINVAL: a directory there has no state of its own that could be lost (FUSE, some network file systems).
    if (::fsync(directory.get()) != 0 && errno != EINVAL)
        return storage_failure("bring to the disk", shown(path), errno);
    return {};
}

Result<std::unique_ptr<StorageLock>> DirectoryStorage::lock(std::string_view path,
                                                            std::string_view purpose) {
    TRY(const Place place, place_of("lock", path));
    return lock_file(place.directory.get(), place.name, shown(path), purpose);
}

}  // namespace muster::checkpoint
