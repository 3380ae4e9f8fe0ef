#include "cli/internal/backup/backup_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "cli/internal/archive/tar_blocks.h"
#include "cli/internal/archive/tar_reader.h"
#include "cli/internal/archive/tar_writer.h"

namespace muster::cli {

namespace {

constexpr std::size_t kFilePiece = std::size_t{256} * 1024;

std::uint32_t sum_with(std::uint32_t sum, std::string_view bytes) {
    return static_cast<std::uint32_t>(
        ::crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Result<UniqueFd> open_file(const std::filesystem::path& path, int flags) {
    UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file && errno == EEXIST)
        return Error(Code::kAlreadyExists, fmt::format("{} exists already", path.string()));
    if (!file) return system_error("opening " + path.string(), errno);
    return file;
}

Result<void> write_to(int file, std::string_view bytes, const std::filesystem::path& path) {
    if (const int failed = write_all(file, bytes); failed != 0)
        return system_error("writing " + path.string(), failed);
    return {};
}

using TakePiece = std::function<Result<void>(std::string_view)>;

Result<void> each_piece(const std::filesystem::path& path, const TakePiece& take) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error("reading " + path.string(), errno);
    std::string buffer(kFilePiece, '\0');
    for (;;) {
        const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return system_error("reading " + path.string(), errno);
        if (size == 0) return {};
        TRY_VOID(take(std::string_view(buffer.data(), static_cast<std::size_t>(size))));
    }
}

Result<BackupMember> measure(const std::filesystem::path& directory, const std::string& name) {
    BackupMember member{.name = name};
    TRY_VOID(each_piece(directory / name, [&member](std::string_view bytes) -> Result<void> {
        member.size += bytes.size();
        member.sum = sum_with(member.sum, bytes);
        return {};
    }));
    return member;
}

/// Unpacks an archive, member by member.
class Unpacking {
  public:
    explicit Unpacking(std::filesystem::path to) : to_(std::move(to)) {}

    Result<void> take(std::string_view bytes) {
        reader_.put(bytes);
        for (;;) {
            TRY(const auto event, reader_.next());
            if (!event) return {};
            if (event->entry) {
                TRY_VOID(begin(*event->entry));
            } else {
                TRY_VOID(add(event->data));
            }
        }
    }
    Result<BackupContents> finish() {
        const Error cut(Code::kInvalid, "it is cut short");
        if (!reader_.ended()) return cut;
        TRY_VOID(end_member());
        if (!contents_ || next_ != contents_->members.size()) return cut;
        return *std::move(contents_);
    }

  private:
    Result<void> begin(const TarEntry& entry) {
        TRY_VOID(end_member());
        const bool is_file = entry.kind == TarEntry::Kind::kFile;
        if (!contents_) {
            if (!is_file || entry.path != kDescriptionFile || entry.size > kMostSmallBytes)
                return Error(Code::kInvalid, "it is not a backup of 'muster backup'");
            in_description_ = true;
            return {};
        }
        if (next_ == contents_->members.size() || !is_file ||
            entry.path != contents_->members[next_].name ||
            entry.size != contents_->members[next_].size)
            return Error(Code::kInvalid,
                         fmt::format("it has {}, which its description has not there", entry.path));
        TRY(file_, open_file(to_ / entry.path, O_WRONLY | O_CREAT | O_EXCL));
        sum_ = 0;
        return {};
    }

    Result<void> add(std::string_view bytes) {
        if (in_description_) {
            description_ += bytes;
            return {};
        }
        sum_ = sum_with(sum_, bytes);
        return write_to(file_.get(), bytes, to_ / contents_->members[next_].name);
    }

    Result<void> end_member() {
        if (std::exchange(in_description_, false)) {
            TRY(contents_, read_backup_description(description_));
            return {};
        }
        if (!file_) return {};
        const BackupMember& member = contents_->members[next_++];
        if (sum_ != member.sum)
            return Error(Code::kInvalid, fmt::format("{} in it is damaged", member.name));
        const bool kept = ::fsync(file_.get()) == 0;
        file_.reset();
        if (!kept) return system_error("writing " + (to_ / member.name).string(), errno);
        return {};
    }

    const std::filesystem::path to_;
    TarReader reader_;
    bool in_description_ = false;
    std::string description_;
    std::optional<BackupContents> contents_;
    std::size_t next_ = 0;  ///< the member that is read or comes next
    UniqueFd file_;
    std::uint32_t sum_ = 0;
};

}  // namespace

Result<BackupContents> write_backup(const std::filesystem::path& from,
                                    const std::vector<std::string>& names, BackupContents contents,
                                    const std::filesystem::path& to) {
    for (const std::string& name : names) {
        TRY(BackupMember member, measure(from, name));
        contents.members.push_back(std::move(member));
    }
    TRY(UniqueFd archive, open_file(to, O_WRONLY | O_CREAT | O_EXCL));
    const auto put = [&](std::string_view bytes) { return write_to(archive.get(), bytes, to); };
    const auto padded = [&](std::uint64_t size) {
        return put(std::string(tar_padding(size), '\0'));
    };
    const std::string description = describe_backup(contents);
    TRY_VOID(put(tar_header({.path = std::string(kDescriptionFile),
                             .link = {},
                             .size = description.size(),
                             .mode = 0600})));
    TRY_VOID(put(description));
    TRY_VOID(padded(description.size()));
    for (const BackupMember& member : contents.members) {
        TRY_VOID(
            put(tar_header({.path = member.name, .link = {}, .size = member.size, .mode = 0600})));
        TRY_VOID(each_piece(from / member.name, put));
        TRY_VOID(padded(member.size));
    }
    TRY_VOID(put(tar_end()));
    if (::fsync(archive.get()) != 0) return system_error("writing " + to.string(), errno);
    return contents;
}

Result<BackupContents> unpack_backup(const std::filesystem::path& from,
                                     const std::filesystem::path& to) {
    Unpacking unpacking(to);
    TRY_VOID(each_piece(from, [&](std::string_view bytes) { return unpacking.take(bytes); }));
    return unpacking.finish();
}

}  // namespace muster::cli
