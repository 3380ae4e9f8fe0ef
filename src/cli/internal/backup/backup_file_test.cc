#include "cli/internal/backup/backup_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/rng.h"

namespace muster::cli::backup_file_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BackupFileTest : public ::testing::Test {
  protected:
    void SetUp() override {
        Rng rng = Rng::from_system();
        root_ = fs::temp_directory_path() / ("muster-backup-" + rng.uuid());
        fs::create_directories(root_ / "from");
        fs::create_directories(root_ / "to");
        write(root_ / "from" / "store.db", store_);
        write(root_ / "from" / "ca.key", "key");
    }
    void TearDown() override { fs::remove_all(root_); }

    static void write(const fs::path& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }
    static std::string read(const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string make() {
        const auto made =
            write_backup(root_ / "from", {"store.db", "ca.key"}, {"1.2", "now", {}}, archive());
        return made ? "" : made.error().message();
    }
    std::string unpack() {
        fs::remove_all(root_ / "to");
        fs::create_directories(root_ / "to");
        const auto read = unpack_backup(archive(), root_ / "to");
        return read ? "" : read.error().message();
    }
    fs::path archive() const { return root_ / "backup"; }

    const std::string store_ = std::string(1'000'001, 's');
    fs::path root_;
};

TEST_F(BackupFileTest, WhatIsPackedIsUnpacked) {
    EXPECT_EQ(make(), "");
    struct stat info{};
    ASSERT_EQ(::stat(archive().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_EQ(unpack(), "");
    EXPECT_EQ(read(root_ / "to" / "store.db"), store_);
    EXPECT_EQ(read(root_ / "to" / "ca.key"), "key");
    ASSERT_EQ(::stat((root_ / "to" / "ca.key").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_THAT(make(), HasSubstr("exists already"));
}

TEST_F(BackupFileTest, DamageIsTold) {
    ASSERT_EQ(make(), "");
    const std::string good = read(archive());
    std::string bad = good;
    bad[bad.size() / 2] ^= 1;
    write(archive(), bad);
    EXPECT_EQ(unpack(), "store.db in it is damaged");
    write(archive(), good.substr(0, good.size() / 2));
    EXPECT_THAT(unpack(), HasSubstr("cut short"));
    write(archive(), good.substr(0, good.size() - 1024));
    EXPECT_THAT(unpack(), HasSubstr("cut short"));
    write(archive(), "");
    EXPECT_THAT(unpack(), HasSubstr("cut short"));
    write(archive(), std::string(100'000, 'x'));
    EXPECT_THAT(unpack(), HasSubstr("damaged"));
    Rng rng(3);
    for (int i = 0; i < 300; ++i) {
        bad = good;
        const std::size_t at = rng.below(2048);
        bad[at] = static_cast<char>(rng.below(256));
        write(archive(), bad);
        if (unpack().empty()) EXPECT_EQ(read(root_ / "to" / "store.db"), store_) << at;
    }
}

}  // namespace
}  // namespace muster::cli::backup_file_test
