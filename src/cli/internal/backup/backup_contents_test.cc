#include "cli/internal/backup/backup_contents.h"

#include <gmock/gmock.h>

namespace muster::cli::backup_contents_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
    const auto contents = read_backup_description(text);
    return contents ? "accepted" : contents.error().message();
}

TEST(BackupContents, WhatIsDescribedIsRead) {
    const BackupContents contents{
        "1.2", "2026-01-02", {{"store.db", 1u << 31, 4'000'000'000u}, {"ca.key", 241, 0}}};
    const auto read = read_backup_description(describe_backup(contents));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, contents);
}

TEST(BackupContents, OthersAreRefused) {
    EXPECT_THAT(error_of("x"), HasSubstr("is not JSON"));
    EXPECT_THAT(error_of("{}"), HasSubstr("has no format"));
    EXPECT_THAT(error_of(R"({"format":2,"muster":"9.9"})"), HasSubstr("made it (9.9)"));
    EXPECT_THAT(error_of(R"({"format":1})"), HasSubstr("has no store"));
    for (const char* name : {"../x", "/etc/passwd", "", "store.db-wal", "kubeconfig", "."})
        EXPECT_THAT(error_of(fmt::format(
                        R"({{"format":1,"files":[{{"name":"{}","size":1,"crc32":1}}]}})", name)),
                    HasSubstr("it has a file"))
            << name;
    EXPECT_THAT(error_of(R"({"format":1,"files":[{"name":"store.db","size":-1,"crc32":1}]})"),
                HasSubstr("no size"));
    EXPECT_THAT(error_of(R"({"format":1,"files":[{"name":"ca.key","size":9999999,"crc32":1}]})"),
                HasSubstr("no size"));
    EXPECT_THAT(
        error_of(R"({"format":1,"files":[{"name":"store.db","size":1,"crc32":4294967296}]})"),
        HasSubstr("no sum"));
    EXPECT_THAT(error_of(R"({"format":1,"files":[{"name":"store.db","size":1,"crc32":1},
                                                 {"name":"store.db","size":1,"crc32":1}]})"),
                HasSubstr("twice"));
}

}  // namespace
}  // namespace muster::cli::backup_contents_test
