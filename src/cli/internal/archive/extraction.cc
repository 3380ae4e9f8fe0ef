#include "cli/internal/archive/extraction.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fields.h"
#include "base/text_files.h"

namespace muster::cli {

namespace {

constexpr std::size_t kMostNotes = 20;
constexpr mode_t kNewDirectory = 0777;

/// The directory that holds `path`, and its last name.
std::pair<std::string, std::string> split_last(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return {".", std::move(path)};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Error cannot(std::string_view what, const std::string& name, int error) {
    if (error == ELOOP || error == ENOTDIR)
        return {Code::kInvalid,
                fmt::format("{} {}: there is a link or a file in the place of a directory or of a "
                            "file, and none is followed; remove it",
                            what, name)};
    return system_error(fmt::format("{} {}", what, name), error);
}

Result<UniqueFd> open_directory(int at, const std::string& name, bool follow) {
    UniqueFd opened(
        ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)));
    if (!opened) return cannot("opening", name, errno);
    return opened;
}

Result<UniqueFd> make_and_open(int at, const std::string& name, mode_t mode) {
    // So that what is in it can be written.
    if (::mkdirat(at, name.c_str(), mode | S_IRWXU) != 0 && errno != EEXIST)
        return cannot("making", name, errno);
    return open_directory(at, name, false);
}

}  // namespace

Result<std::vector<std::string>> names_below(std::string_view prefix, std::string_view path) {
    const auto outside = [path] {
        return Error(Code::kInvalid, fmt::format("{} is outside of what was asked for", path));
    };
    if (!path.starts_with(prefix)) return outside();
    std::string_view rest = path.substr(prefix.size());
    if (!rest.empty() && !prefix.empty() && !prefix.ends_with('/') && rest.front() != '/')
        return outside();
    std::vector<std::string> names;
    while (!rest.empty()) {
        const std::string_view name = take_field(rest, '/');
        if (name == ".." || name.find('\0') != name.npos) return outside();
        if (!name.empty() && name != ".") names.emplace_back(name);
    }
    return names;
}

/// Opens the directory that the last of `names` is in, making those that are missing.
Result<UniqueFd> Extraction::directory_of(const std::vector<std::string>& names) {
    const auto [parent, last] = split_last(target_);
    TRY(UniqueFd at, open_directory(AT_FDCWD, parent, true));
    if (names.empty()) return at;
    // The target itself is the user's, and may be a link to a directory.
    struct stat info{};
    const bool is_there = ::fstatat(at.get(), last.c_str(), &info, 0) == 0;
    if (is_there) {
        TRY(at, open_directory(at.get(), last, true));
    } else {
        TRY(at, make_and_open(at.get(), last, kNewDirectory));
    }
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        TRY(at, make_and_open(at.get(), names[i], kNewDirectory));
    }
    return at;
}

Result<void> Extraction::make_directory(const std::vector<std::string>& names, std::uint32_t mode) {
    TRY(const UniqueFd at, directory_of(names));
    if (names.empty()) {
        // As for what is in it: the target may be a link.
        struct stat info{};
        const std::string last = split_last(target_).second;
        if (::fstatat(at.get(), last.c_str(), &info, 0) == 0 && S_ISDIR(info.st_mode)) return {};
        TRY_VOID(make_and_open(at.get(), last, mode));
        return {};
    }
    TRY_VOID(make_and_open(at.get(), names.back(), mode));
    return {};
}

Result<void> Extraction::open_file(const std::vector<std::string>& names, std::uint32_t mode) {
    TRY(const UniqueFd at, directory_of(names));
    const std::string name = names.empty() ? split_last(target_).second : names.back();
    // Without waiting for the reader of a pipe.
    UniqueFd opened(::openat(at.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                             mode & 0777));
    if (!opened) return cannot("writing", name, errno);
    struct stat info{};
    if (::fstat(opened.get(), &info) != 0) return cannot("writing", name, errno);
    if (!S_ISREG(info.st_mode))
        return Error(Code::kInvalid, fmt::format("writing {}: it is there and not a file", name));
    if (::ftruncate(opened.get(), 0) != 0) return cannot("writing", name, errno);
    file_ = std::move(opened);
    file_name_ = name;
    ++files_;
    return {};
}

Result<void> Extraction::begin(const TarEntry& entry) {
    TRY_VOID(finish());
    const auto names = names_below(prefix_, entry.path);
    if (!names) {
        note(names.error().message());
        return {};
    }
    switch (entry.kind) {
        case TarEntry::Kind::kDirectory:
            return make_directory(*names, entry.mode & 0777);
        case TarEntry::Kind::kFile:
            return open_file(*names, entry.mode);
        case TarEntry::Kind::kSymbolicLink:
        case TarEntry::Kind::kHardLink:
            note(fmt::format("{} is a link to {}", entry.path, entry.link));
            return {};
        case TarEntry::Kind::kOther:
            note(fmt::format("{} is neither a file nor a directory", entry.path));
            return {};
    }
    return {};
}

Result<void> Extraction::write(std::string_view data) {
    const int failed = file_ ? write_all(file_.get(), data) : 0;
    if (failed != 0) return cannot("writing", file_name_, failed);
    return {};
}

Result<void> Extraction::finish() {
    if (!file_) return {};
    // Some file systems tell only now that there is no room.
    if (::close(file_.release()) != 0) return cannot("writing", file_name_, errno);
    return {};
}

void Extraction::note(std::string text) {
    if (notes_.size() < kMostNotes) notes_.push_back(std::move(text));
    if (notes_.size() == kMostNotes) notes_.emplace_back("and more");
}

}  // namespace muster::cli
