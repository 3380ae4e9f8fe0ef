#include "checkpoint/storage/directory_storage.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "base/unique_fd.h"
#include "checkpoint/storage/aligned_buffer.h"
#include "checkpoint/storage/durable_text.h"

// What a directory has and a memory has not: links, rights, other processes, a page cache.

namespace muster::checkpoint::directory_storage_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class DirectoryStorageTest : public ::testing::Test {
  protected:
    DirectoryStorageTest() {
        std::string pattern = (fs::temp_directory_path() / "directory-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        fs::create_directory(root());
        fs::create_directory(outside());
        storage_ = DirectoryStorage::in(root()).value();
    }
    ~DirectoryStorageTest() override { fs::remove_all(folder_); }

    fs::path root() const { return folder_ / "run"; }
    fs::path outside() const { return folder_ / "outside"; }
    mode_t mode_of(const std::string& path) const {
        struct stat facts{};
        EXPECT_EQ(::lstat((root() / path).c_str(), &facts), 0) << path;
        return facts.st_mode & 0777;
    }
    Result<void> put(std::string_view path, std::string_view text = "x") {
        TRY(const auto file, storage_->create(path, text.size()));
        return file->write(0, std::as_bytes(std::span(text)));
    }

    fs::path folder_;
    std::unique_ptr<DirectoryStorage> storage_;
};

template <class T>
std::string failure(const Result<T>& result) {
    if (result) return "done";
    return std::string(to_string(result.error().code())) + ": " + result.error().message();
}

TEST_F(DirectoryStorageTest, RightsAreThoseOfTheUmaskButForWhatIsOurs) {
    const mode_t before = ::umask(027);
    ASSERT_TRUE(storage_->make_directory(".muster/1500.3.17"));
    ASSERT_TRUE(storage_->make_directory("1000/.x"));
    ASSERT_TRUE(put("1000/a"));
    const auto lock = storage_->lock(".muster/lock", "a test");
    ::umask(before);
    ASSERT_TRUE(lock);
    EXPECT_EQ(mode_of(".muster"), 0700u);
    EXPECT_EQ(mode_of(".muster/lock"), 0600u);
    EXPECT_EQ(mode_of(".muster/1500.3.17"), 0750u) << "it becomes what others read";
    EXPECT_EQ(mode_of("1000"), 0750u);
    EXPECT_EQ(mode_of("1000/.x"), 0750u);
    EXPECT_EQ(mode_of("1000/a"), 0640u);
}

TEST_F(DirectoryStorageTest, ALinkIsNotFollowedByWhatWrites) {
    std::ofstream(outside() / "file") << "theirs";
    fs::create_directory(outside() / "empty");
    fs::create_directory_symlink(outside(), root() / "link");
    ASSERT_TRUE(put("mine"));
    EXPECT_THAT(failure(put("link/a")), HasSubstr("symbolic link"));
    EXPECT_FALSE(storage_->make_directory("link/b"));
    EXPECT_FALSE(storage_->make_directory("link"));
    EXPECT_FALSE(storage_->rename("mine", "link/mine"));
    EXPECT_FALSE(storage_->rename("link/file", "file"));
    EXPECT_FALSE(storage_->exchange("mine", "link/file"));
    EXPECT_FALSE(storage_->remove("link/file"));
    EXPECT_FALSE(storage_->lock("link/lock", "a test"));
    fs::create_symlink(outside() / "file", root() / "lock");
    EXPECT_THAT(failure(storage_->lock("lock", "a test")), HasSubstr("it is a symbolic link"));
    fs::create_symlink(outside() / "file", root() / "replaced");
    EXPECT_TRUE(put("replaced", "ours"));
    EXPECT_FALSE(fs::is_symlink(root() / "replaced")) << "the link is replaced";
    std::string theirs;
    std::ifstream(outside() / "file") >> theirs;
    EXPECT_EQ(theirs, "theirs");
    EXPECT_EQ(std::distance(fs::directory_iterator(outside()), {}), 2);
}

TEST_F(DirectoryStorageTest, ALinkIsRemovedAndNotWhatItLeadsTo) {
    std::ofstream(outside() / "file") << "theirs";
    ASSERT_TRUE(storage_->make_directory("1000/deep"));
    fs::create_directory_symlink(outside(), root() / "1000" / "deep" / "link");
    fs::create_directory_symlink(outside(), root() / "link");
    ASSERT_TRUE(storage_->remove("link"));
    ASSERT_TRUE(storage_->remove("1000"));
    EXPECT_TRUE(fs::exists(outside() / "file"));
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(DirectoryStorageTest, ALinkIsFollowedByWhatReads) {
    std::ofstream(outside() / "file") << "moved to an archive";
    fs::create_directory_symlink(outside(), root() / "1000");
    fs::create_symlink("nowhere", root() / "broken");
    EXPECT_EQ(read_text(*storage_, "1000/file", 100).value(), "moved to an archive");
    EXPECT_EQ(storage_->list("1000").value().size(), 1u);
    const auto entries = storage_->list("").value();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_TRUE(entries[0].directory);
    EXPECT_EQ(entries[1].name, "broken");
    EXPECT_FALSE(entries[1].directory);
}

TEST_F(DirectoryStorageTest, WhatIsNoFileIsNotWaitedFor) {
    ASSERT_EQ(::mkfifo((root() / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(failure(storage_->open("pipe")), HasSubstr("it is no file"));
    fs::create_symlink("/dev/zero", root() / "device");
    EXPECT_THAT(failure(storage_->open("device")), HasSubstr("it is no file"));
    EXPECT_EQ(storage_->list("").value()[1].bytes, 0u);
}

TEST_F(DirectoryStorageTest, AsManyDirectoriesInEachOtherAsWeMakeAreRemoved) {
    std::string path = "0";
    for (int depth = 1; depth < 30; ++depth) path += "/" + std::to_string(depth);
    ASSERT_TRUE(storage_->make_directory(path));
    ASSERT_TRUE(storage_->remove("0"));
    for (int depth = 30; depth < 50; ++depth) path += "/" + std::to_string(depth);
    ASSERT_TRUE(storage_->make_directory(path));
    EXPECT_THAT(failure(storage_->remove("0")), HasSubstr("32 directories are in each other"));
}

TEST_F(DirectoryStorageTest, IsOpenedAndMade) {
    EXPECT_THAT(failure(DirectoryStorage::in(folder_ / "none")), HasSubstr("NotFound: open "));
    std::ofstream(folder_ / "file") << "x";
    EXPECT_THAT(failure(DirectoryStorage::in(folder_ / "file")), HasSubstr("Invalid: open "));
    EXPECT_THAT(failure(DirectoryStorage::make(folder_ / "file" / "a")), HasSubstr("Invalid: "));
    for (int times = 0; times < 2; ++times) {
        const auto made = DirectoryStorage::make(folder_ / "a" / "b" / "");
        ASSERT_TRUE(made) << failure(made);
        EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
        EXPECT_EQ((*made)->name(), (folder_ / "a" / "b").string());
    }
}

TEST_F(DirectoryStorageTest, ThatWasRemovedIsToldWithWhatItWas) {
    const auto file = storage_->create("a", 3).value();
    fs::remove_all(root());
    EXPECT_TRUE(file->write(0, std::as_bytes(std::span("abc", 3)))) << "who has it open, keeps it";
    for (const std::string& told :
         {failure(storage_->create("b", 1)), failure(storage_->make_directory("1000")),
          failure(storage_->rename("a", "b")), failure(storage_->lock("lock", "a test")),
          failure(storage_->open("a"))})
        EXPECT_THAT(told, AllOf(HasSubstr("NotFound: "), HasSubstr(root().string()),
                                HasSubstr("was removed")));
}

TEST_F(DirectoryStorageTest, WhatIsWrittenIsNotInThePageCache) {
    constexpr std::size_t kBytes = std::size_t{256} * kPage + 77;
    if (!UniqueFd(::open((root() / "probe").c_str(), O_RDWR | O_CREAT | O_DIRECT, 0600)))
        GTEST_SKIP() << "this file system has no direct I/O";
    AlignedBuffer memory(kBytes);
    std::ranges::fill(memory.bytes(), std::byte{7});
    {
        const auto file = storage_->create("a", kBytes).value();
        ASSERT_TRUE(file->write(0, memory.bytes()));
        ASSERT_TRUE(file->sync());
    }
    ASSERT_TRUE(storage_->open("a").value()->read(0, memory.bytes().first(256 * kPage)));
    const UniqueFd file(::open((root() / "a").c_str(), O_RDONLY));
    void* const mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    std::array<unsigned char, 256> resident{};
    EXPECT_EQ(::mincore(mapped, 256 * kPage, resident.data()), 0);
    ::munmap(mapped, kBytes);
    EXPECT_THAT(resident, Each(0));
}

/// A process that has the lock "lock" until it is killed.
class Holder {
  public:
    explicit Holder(const fs::path& root) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        const UniqueFd told(ends[0]);
        const UniqueFd tells(ends[1]);
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto storage = DirectoryStorage::in(root).value();
            const auto lock = storage->lock("lock", "the commit of step 5");
            if (!lock || ::write(tells.get(), "x", 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        char byte = 0;
        EXPECT_EQ(::read(told.get(), &byte, 1), 1);
    }
    ~Holder() { kill(); }
    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
};

TEST_F(DirectoryStorageTest, ALockSaysWhoHasItAndGoesWithItsProcess) {
    Holder holder(root());
    const std::string refused = failure(storage_->lock("lock", "a test"));
    EXPECT_THAT(refused, AllOf(HasSubstr("Conflict: "), HasSubstr("the commit of step 5"),
                               HasSubstr("process " + std::to_string(holder.pid()) + " on ")));
    holder.kill();
    const auto lock = storage_->lock("lock", "a test");
    EXPECT_TRUE(lock) << failure(lock);
}

TEST_F(DirectoryStorageTest, WhoHoldsALockCantHarmATerminal) {
    const auto lock = storage_->lock("lock", "\x1b[2J");
    EXPECT_THAT(failure(storage_->lock("lock", "a test")), HasSubstr("\\x1b[2J"));
}

}  // namespace
}  // namespace muster::checkpoint::directory_storage_test
