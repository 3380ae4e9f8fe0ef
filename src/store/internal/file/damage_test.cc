#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "store/internal/file/schema.h"
#include "store/store_folder_fixture.h"

namespace muster::store::damage_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class DamageTest : public StoreFileTest {
  protected:
    std::string path() const { return folder_.path(); }
    std::string content(const std::string& file) const {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }
    void put_content(const std::string& file, const std::string& text) {
        std::ofstream(file, std::ios::binary) << text;
    }
    /// A file with objects on many pages, closed.
    void fill(int count = 100) {
        open();
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(create(fmt::format("object-{}", i),
                               fmt::format("{:03}{}", i, std::string(2000, 'y'))));
        close();
    }
    void sql(const char* statements) {
        auto connection = *Connection::open(path(), SQLITE_OPEN_READWRITE, "");
        const Result<void> done = connection->execute(statements, "editing");
        ASSERT_TRUE(done) << done.error().message();
        connection->checkpoint_on_close();
    }
};

TEST_F(DamageTest, AnyFlippedBitIsToldOrHarmless) {
    fill();
    open();
    const std::string whole = objects();
    close();
    const std::string good = content(path());
    int refused = 0;
    Rng rng(5);
    constexpr int kFlips = 150;
    for (int i = 0; i < kFlips; ++i) {
        std::string bad = good;
        const std::size_t at = rng.below(bad.size());
        bad[at] = static_cast<char>(bad[at] ^ (1 << rng.below(8)));
        put_content(path(), bad);
        const Result<void> opened = try_open(path());
        if (opened) {
            EXPECT_EQ(objects(), whole) << "byte " << at << " was changed in silence";
            close();
        } else {
            ++refused;
            EXPECT_THAT(opened.error().message(), HasSubstr(path())) << "byte " << at;
            EXPECT_EQ(content(path()), bad) << "it is left as it was found";
        }
        for (const char* rest : {"-wal", "-shm"}) fs::remove(path() + rest);
    }
    EXPECT_GT(refused, kFlips / 3) << "much of the file is objects";
}

TEST_F(DamageTest, AChangedObjectIsNamedAndACopyKept) {
    fill();
    std::string bad = content(path());
    const std::size_t at = bad.find("057yyyyy");
    ASSERT_NE(at, std::string::npos);
    bad[at + 5] = 'z';
    put_content(path(), bad);
    EXPECT_THAT(status_error(),
                AllOf(HasSubstr(path() + ": reading row 58 (pods \"object-57\"): its checksum is "
                                         "wrong: nothing was repaired"),
                      HasSubstr("a copy lies in " + path() + ".damaged")));
    EXPECT_EQ(content(path() + ".damaged"), bad);
    // A second start finds the first one's copy, and does not write over it.
    put_content(path() + ".damaged", "from before");
    EXPECT_THAT(status_error(), HasSubstr("a copy from an earlier start lies in"));
    EXPECT_EQ(content(path() + ".damaged"), "from before");
}

TEST_F(DamageTest, APageThatIsNoneIsRefused) {
    fill();
    std::string bad = content(path());
    constexpr std::size_t kPage = 4096;
    ASSERT_GT(bad.size(), 40 * kPage);
    bad.replace(20 * kPage, kPage, std::string(kPage, '\x5a'));
    put_content(path(), bad);
    EXPECT_THAT(status_error(), AllOf(HasSubstr(path() + ": reading after row "),
                                      HasSubstr("database disk image is malformed"),
                                      HasSubstr("nothing was repaired")));
}

TEST_F(DamageTest, ARowThatItsPageHasForgottenIsMissed) {
    open();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(create(fmt::format("object-{}", i), "1"));
    close();
    std::string bad = content(path());
    constexpr std::size_t kPage = 4096;
    constexpr char kTableLeaf = 0x0d;
    std::size_t leaf = 2 * kPage;
    while (bad.at(leaf) != kTableLeaf) leaf += kPage;
    ASSERT_GT(bad[leaf + 4], 2) << "so many rows are on it";
    --bad[leaf + 4];
    put_content(path(), bad);
    EXPECT_THAT(status_error(), HasSubstr(path() + ": checking its structure: "));
}

TEST_F(DamageTest, ATruncatedFileIsRefused) {
    fill();
    const std::string good = content(path());
    for (const std::size_t size : {good.size() / 2, std::size_t{4096}, std::size_t{100}}) {
        put_content(path(), good.substr(0, size));
        EXPECT_THAT(status_error(), HasSubstr(path())) << size;
        EXPECT_EQ(content(path()).size(), size);
        for (const char* rest : {"-wal", "-shm"}) fs::remove(path() + rest);
    }
}

TEST_F(DamageTest, AnEmptyFileIsNotTakenForANewOne) {
    put_content(path(), "");
    EXPECT_THAT(status_error(), HasSubstr("it is empty, and it can't have been made so"));
}

TEST_F(DamageTest, AFileThatWasNeverFinishedIsMadeAnew) {
    put_content(path() + ".new", "half of it");
    put_content(path() + ".new-journal", "and what it was before");
    EXPECT_EQ(status_error(), "");
    EXPECT_FALSE(fs::exists(path() + ".new"));
    EXPECT_FALSE(fs::exists(path() + ".new-journal"));
}

TEST_F(DamageTest, ALogWithoutItsFileIsNotForgotten) {
    put_content(path() + "-wal", "the newest changes");
    EXPECT_THAT(status_error(), HasSubstr("it is not there, but its write-ahead log is"));
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(DamageTest, WhatIsNoDatabaseIsRefused) {
    put_content(path(), std::string(5000, 'a'));
    EXPECT_THAT(status_error(), HasSubstr("file is not a database"));
}

struct Edit {
    const char* name;
    const char* sql;
    const char* status_error;
};

class EditedFileTest : public DamageTest, public ::testing::WithParamInterface<Edit> {};

TEST_P(EditedFileTest, IsRefused) {
    open();
    ASSERT_TRUE(create("a", "1"));
    ASSERT_TRUE(update("a", "2"));
    ASSERT_TRUE(create("b", "3"));
    close();
    sql(GetParam().sql);
    EXPECT_THAT(status_error(), HasSubstr(GetParam().status_error));
}

INSTANTIATE_TEST_SUITE_P(
    All, EditedFileTest,
    ::testing::Values(
        Edit{"ANewerVersion", "PRAGMA user_version = 7",
             "it has version 7, and this program knows versions up to 1: use the program that "
             "wrote it, or a newer one"},
        Edit{"AnotherProgram", "PRAGMA application_id = 1", "it is a database of another program"},
        Edit{"ADeletedRow",
             "DELETE FROM changes WHERE revision = 1; UPDATE changes SET revision = 1 WHERE "
             "revision = 3",
             "row 1 (pods \"b\"): its checksum is wrong"},
        Edit{"AnotherName", "UPDATE changes SET name = 'c' WHERE revision = 3",
             "row 3 (pods \"c\"): its checksum is wrong"},
        Edit{"AnotherResource",
             "UPDATE changes SET resource = 'podss', namespace = 'efault' WHERE revision = 3",
             "its checksum is wrong"},
        Edit{"ADeletion", "UPDATE changes SET deleted = 1 WHERE revision = 3",
             "its checksum is wrong"},
        Edit{"AnotherObject", "UPDATE changes SET object = '{}' WHERE revision = 3",
             "its checksum is wrong"},
        Edit{"NoTable", "DROP TABLE changes", "no such table: changes"}),
    [](const auto& info) { return info.param.name; });

TEST_F(DamageTest, TheTableOfAnotherProgramIsNotTouched) {
    {
        auto other = *Connection::open(path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
        ASSERT_TRUE(other->execute("CREATE TABLE theirs(x)", "making"));
    }
    const std::string before = content(path());
    EXPECT_THAT(status_error(), HasSubstr("it is a database of another program"));
    EXPECT_EQ(content(path()), before);
}

TEST_F(DamageTest, TwoCantHaveItOpen) {
    open();
    std::unique_ptr<Store> first = std::move(store_);
    EXPECT_THAT(status_error(), AllOf(HasSubstr(path()),
                                      HasSubstr(fmt::format("process {} has it open", getpid()))));
    await(first->stop());
    EXPECT_EQ(status_error(), "") << "a store that is stopped lets go of it";
}

TEST_F(DamageTest, AFolderThatIsNotThereIsNamed) {
    const Result<void> opened = try_open(folder_.folder() + "/none/store.db");
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message(),
                HasSubstr(folder_.folder() + "/none/store.db-lock: opening: No such file"));
}

TEST_F(DamageTest, AFileThatCantBeWrittenIsRefused) {
    fill();
    if (geteuid() == 0) GTEST_SKIP() << "root may write anything";
    fs::permissions(path(), fs::perms::owner_read);
    EXPECT_THAT(status_error(), AllOf(HasSubstr(path() + ": opening: Permission denied"),
                                      HasSubstr("let this user write the file")));
}

/// A small file system of its own, where the caller may mount one.
class MountTest : public DamageTest {
  protected:
    void SetUp() override {
        // In a mount namespace of this process, so that nothing is left behind by a test that dies.
        if (unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", folder_.folder().c_str(), "tmpfs", 0, "size=1m") != 0)
            GTEST_SKIP() << "no file system can be mounted here";
        mounted_ = true;
    }
    void TearDown() override {
        close();
        if (mounted_) umount2(folder_.folder().c_str(), MNT_DETACH);
    }
    bool mounted_ = false;
};

TEST_F(MountTest, AFullDiskEndsWritingAndWhatWasConfirmedStays) {
    open();
    int made = 0;
    Result<StoredObject> last = create("0", std::string(20'000, 'x'));
    while (last && made < 1000) last = create(std::to_string(++made), std::string(20'000, 'x'));
    ASSERT_FALSE(last);
    EXPECT_GT(made, 10);
    EXPECT_EQ(last.error().code(), Code::kUnavailable);
    EXPECT_THAT(last.error().message(),
                AllOf(HasSubstr(path() + ": writing changes"),
                      HasSubstr("database or disk is full"), HasSubstr("free some space there")));
    close();
    const std::string full = status_error();
    if (full.empty()) return;  // the log fits into the file
    EXPECT_THAT(full, HasSubstr("free some space there"));
    ASSERT_EQ(mount("none", folder_.folder().c_str(), "tmpfs", MS_REMOUNT, "size=8m"), 0);
    open();
    EXPECT_GE(await(store_->list("pods", "", std::nullopt, 0))->size(), std::size_t(made));
}

TEST_F(MountTest, AReadOnlyFileSystemIsRefused) {
    fill(10);
    ASSERT_EQ(mount("none", folder_.folder().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    EXPECT_THAT(status_error(), AllOf(HasSubstr(path()), HasSubstr("Read-only file system"),
                                      HasSubstr("not mounted read-only")));
}

}  // namespace
}  // namespace muster::store::damage_test
