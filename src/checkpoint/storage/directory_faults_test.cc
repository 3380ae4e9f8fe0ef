#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/text_files.h"
#include "base/unique_fd.h"
#include "checkpoint/storage/directory_storage.h"
#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/shard_writer.h"
#include "checkpoint/storage/storage_failure.h"

// A disk that is full, read-only, or not ours. Each in a process with mounts of its own, which go with it.

namespace muster::checkpoint::directory_faults_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr uid_t kOrdinaryUser = 65534;
constexpr const char* kNoMount = "no mount";

template <class T>
std::string failure(const Result<T>& result) {
    if (result) return "done";
    return std::string(to_string(result.error().code())) + ": " + result.error().message();
}

/// What `work` says, in a process of its own with a new file system in `folder`.
std::string with_file_system(const fs::path& folder, const char* options,
                             const std::function<std::string(Storage&)>& work) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd read(ends[0]);
    UniqueFd written(ends[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
        std::string said = kNoMount;
        if (::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0) {
            const auto storage = DirectoryStorage::in(folder);
            said = storage ? work(**storage) : failure(storage);
        }
        ::_exit(write_all(written.get(), said));
    }
    written.reset();
    std::string said;
    std::array<char, 4096> part{};
    ssize_t count = 0;
    while ((count = ::read(read.get(), part.data(), part.size())) > 0)
        said.append(part.data(), static_cast<std::size_t>(count));
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    return said;
}

class DirectoryFaults : public ::testing::Test {
  protected:
    DirectoryFaults() {
        std::string pattern = (fs::temp_directory_path() / "faults-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~DirectoryFaults() override { fs::remove_all(folder_); }

    fs::path folder_;
};

std::string names_in(const Storage& storage) {
    std::string all;
    for (const auto& entry : storage.list("").value()) all += entry.name + " ";
    return all;
}

TEST_F(DirectoryFaults, AFullDiskIsToldWhenAFileIsMade) {
    const std::vector<std::byte> content(3 * kMiB);
    const std::string said = with_file_system(folder_, "size=4m", [&](Storage& storage) {
        if (!write_shard(storage, "", "a", {std::span(content)}, 1)) return std::string("no room");
        const auto second = write_shard(storage, "", "b", {std::span(content)}, 1);
        const std::string left = names_in(storage);
        if (!storage.remove("a")) return std::string("not removed");
        const auto third = write_shard(storage, "", "b", {std::span(content)}, 1);
        return left + "/" + failure(second) + "/" + (third ? "room" : failure(third));
    });
    if (said == kNoMount) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_THAT(said, AllOf(StartsWith("a /Unavailable: reserve 3145728 bytes for " +
                                       folder_.string() + "/b.tmp-"),
                            HasSubstr("No space left on device"),
                            HasSubstr("remove old checkpoints"), ::testing::EndsWith("/room")));
}

TEST_F(DirectoryFaults, AReadOnlyDiskIsReadAndNotWritten) {
    const std::string said = with_file_system(folder_, "size=4m", [&](Storage& storage) {
        if (!write_text_durably(storage, "", "LATEST", "1000")) return std::string("no text");
        if (::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
            return std::string(kNoMount);
        return read_text(storage, "LATEST", 100).value_or("none") + "/" +
               failure(write_text_durably(storage, "", "LATEST", "2000")) + "/" +
               failure(storage.remove("LATEST")) + "/" + failure(storage.make_directory("x")) +
               "/" + failure(storage.lock("lock", "a test"));
    });
    if (said == kNoMount) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_THAT(said, AllOf(StartsWith("1000/Forbidden: create "), HasSubstr("/Forbidden: remove "),
                            HasSubstr("/Forbidden: make "), HasSubstr("/Forbidden: open "),
                            HasSubstr("mount the file system for writing")));
}

TEST_F(DirectoryFaults, ADirectoryOfAnotherUserIsToldWithWhatToDo) {
    const std::string said = with_file_system(folder_, "size=4m,mode=0755", [&](Storage& storage) {
        if (::setuid(kOrdinaryUser) != 0) return std::string(kNoMount);
        return failure(write_text_durably(storage, "", "LATEST", "1000"));
    });
    if (said == kNoMount) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_THAT(said, AllOf(StartsWith("Forbidden: create " + folder_.string() + "/LATEST.tmp-"),
                            HasSubstr("Permission denied"), HasSubstr("the right to write there")));
}

TEST(StorageFailure, SaysWhatFailedAndWhatHelps) {
    const struct {
        int why;
        Code code;
        const char* remedy;
    } cases[] = {
        {ENOSPC, Code::kUnavailable, "remove old checkpoints"},
        {EDQUOT, Code::kUnavailable, "quota"},
        {EROFS, Code::kForbidden, "mount the file system for writing"},
        {EACCES, Code::kForbidden, "the right to write"},
        {EPERM, Code::kForbidden, "the right to write"},
        {ENOENT, Code::kNotFound, "was removed"},
        {EIO, Code::kUnavailable, "the system's log"},
        {ESTALE, Code::kUnavailable, "mount it again"},
        {EFBIG, Code::kTooLarge, "ulimit -f"},
        {EMFILE, Code::kUnavailable, "ulimit -n"},
        {ENOLCK, Code::kUnsupported, "nolock"},
        {EXDEV, Code::kUnsupported, "one file system"},
        {ENOTDIR, Code::kInvalid, "no directory"},
        {ENETDOWN, Code::kUnavailable, "Network is down"},
    };
    for (const auto& [why, code, remedy] : cases) {
        const Error error = storage_failure("write", "/data/run/a", why);
        EXPECT_EQ(error.code(), code) << why;
        EXPECT_THAT(error.message(), AllOf(StartsWith("write /data/run/a: "), HasSubstr(remedy)));
    }
}

}  // namespace
}  // namespace muster::checkpoint::directory_faults_test
