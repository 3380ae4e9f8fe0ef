#include "checkpoint/storage/storage_failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace muster::checkpoint {
namespace {

struct Refusal {
    Code code = Code::kUnavailable;
    const char* remedy = nullptr;  ///< null: none is known
};

Refusal refusal_of(int why) {
    switch (why) {
        case ENOENT:
            return {Code::kNotFound, "it, or a directory above it, is not there or was removed"};
        case EACCES:
        case EPERM:
            return {Code::kForbidden,
                    "give the user of this process the right to write there, or choose another "
                    "directory"};
        case EROFS:
            return {
                Code::kForbidden,
                "mount the file system for writing, or choose another directory; after an error "
                "of a disk the system makes it read-only by itself"};
        case ENOSPC:
            return {Code::kUnavailable,
                    "remove old checkpoints or keep fewer of them, or choose a larger disk"};
        case EDQUOT:
            return {
                Code::kUnavailable,
                "this user's quota is used up: remove old checkpoints or keep fewer of them, or "
                "ask for more"};
        case EIO:
            return {Code::kUnavailable,
                    "the disk, or the network to it, fails: look into the system's log, and choose "
                    "another directory"};
        case ESTALE:
            return {Code::kUnavailable,
                    "the server of this file system has forgotten the directory, or it was removed "
                    "there: mount it again, and start again"};
        case EFBIG:
            return {
                Code::kTooLarge,
                "a file may not be so large here: raise the limit (ulimit -f), or choose another "
                "file system"};
        case EMFILE:
        case ENFILE:
            return {Code::kUnavailable, "too many files are open: raise the limit (ulimit -n)"};
        case ELOOP:
            return {Code::kInvalid,
                    "it is a symbolic link, which is not followed; put a directory in its place"};
        case ENOTDIR:
            return {Code::kInvalid, "a part of it is no directory, or is a symbolic link"};
        case EISDIR:
            return {Code::kInvalid, "a directory has that name"};
        case ENAMETOOLONG:
            return {Code::kInvalid, "choose a shorter name"};
        case ENOLCK:
            return {Code::kUnsupported,
                    "this file system has no locks: mount it with them (NFS: without 'nolock', and "
                    "with its lock service), or choose another directory"};
        case ENOSYS:
        case EOPNOTSUPP:
            return {Code::kUnsupported, "this file system can't; choose another directory"};
        case EXDEV:
            return {Code::kUnsupported,
                    "both names must be in one file system: nothing may be mounted below the "
                    "directory of checkpoints"};
        default:
            return {};
    }
}

}  // namespace

Error storage_failure(std::string_view doing, std::string_view path, int why) {
    const Refusal refusal = refusal_of(why);
    std::string message =
        fmt::format("{} {}: {} (errno {})", doing, path, std::generic_category().message(why), why);
    if (refusal.remedy != nullptr) message += fmt::format("; {}", refusal.remedy);
    return Error(refusal.code, std::move(message));
}

}  // namespace muster::checkpoint
