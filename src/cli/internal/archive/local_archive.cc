#include "cli/internal/archive/local_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <utility>

#include "cli/internal/archive/tar_blocks.h"
#include "cli/internal/archive/tar_writer.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadPiece = std::size_t{64} * 1024;
constexpr std::size_t kMostArchiveNotes = 20;

TarEntry entry_of(const std::string& name, const struct stat& info) {
    return {.path = name,
            .link = {},
            .mode = static_cast<std::uint32_t>(info.st_mode & 07777),
            .user = info.st_uid,
            .group = info.st_gid,
            .changed = info.st_mtim.tv_sec};
}

}  // namespace

Result<LocalArchive> LocalArchive::open(std::string path, std::string name) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return system_error("reading " + path, errno);
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return Error(Code::kInvalid, path + " is neither a file nor a directory");
    LocalArchive archive;
    archive.waiting_.push_back({std::move(path), std::move(name)});
    return archive;
}

Result<std::string> LocalArchive::next() {
    for (;;) {
        if (file_) return content();
        if (waiting_.empty()) return std::exchange(ended_, true) ? std::string() : tar_end();
        const Member member = std::move(waiting_.back());
        waiting_.pop_back();
        TRY(std::string piece, begin(member));
        if (!piece.empty()) return piece;
    }
}

/// Its header; empty if it is left out.
Result<std::string> LocalArchive::begin(const Member& member) {
    struct stat info{};
    const bool follow = std::exchange(top_, false);
    if (::fstatat(AT_FDCWD, member.path.c_str(), &info, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return system_error("reading " + member.path, errno);
    TarEntry entry = entry_of(member.name, info);
    if (S_ISDIR(info.st_mode)) {
        TRY_VOID(add_children(member));
        entry.kind = TarEntry::Kind::kDirectory;
        entry.path += '/';
        return tar_header(entry);
    }
    if (S_ISLNK(info.st_mode)) {
        std::error_code failed;
        entry.kind = TarEntry::Kind::kSymbolicLink;
        entry.link = fs::read_symlink(member.path, failed);
        if (failed) return system_error("reading " + member.path, failed.value());
        return tar_header(entry);
    }
    if (!S_ISREG(info.st_mode)) {
        note(member.path + " is neither a file nor a directory");
        return std::string();
    }
    // Without waiting, if it has become a pipe meanwhile.
    UniqueFd opened(
        ::open(member.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)));
    if (!opened || ::fstat(opened.get(), &info) != 0)
        return system_error("reading " + member.path, errno);
    if (!S_ISREG(info.st_mode)) return Error(Code::kInvalid, member.path + " has changed");
    entry.size = left_ = size_ = static_cast<std::uint64_t>(info.st_size);
    if (size_ > 0) file_ = std::move(opened);
    file_path_ = member.path;
    return tar_header(entry);
}

Result<std::string> LocalArchive::content() {
    std::string piece(std::min<std::uint64_t>(left_, kReadPiece), '\0');
    ssize_t size = 0;
    do {
        size = ::read(file_.get(), piece.data(), piece.size());
    } while (size < 0 && errno == EINTR);
    if (size < 0) return system_error("reading " + file_path_, errno);
    if (size == 0)
        note(file_path_ + " became shorter while it was read: the rest is zeros");
    else
        piece.resize(static_cast<std::size_t>(size));
    left_ -= piece.size();
    if (left_ == 0) {
        piece.append(tar_padding(size_), '\0');
        file_.reset();
    }
    return piece;
}

Result<void> LocalArchive::add_children(const Member& directory) {
    std::error_code failed;
    std::vector<std::string> names;
    for (fs::directory_iterator at(directory.path, failed), end; !failed && at != end;
         at.increment(failed))
        names.push_back(at->path().filename());
    if (failed) return system_error("reading " + directory.path, failed.value());
    std::ranges::sort(names, std::greater());
    for (const std::string& name : names)
        waiting_.push_back({fmt::format("{}/{}", directory.path, name),
                            fmt::format("{}/{}", directory.name, name)});
    return {};
}

void LocalArchive::note(std::string text) {
    if (notes_.size() < kMostArchiveNotes) notes_.push_back(std::move(text));
    if (notes_.size() == kMostArchiveNotes) notes_.emplace_back("and more");
}

}  // namespace muster::cli
