#include "store/store_copy.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "store/store_folder_fixture.h"

namespace muster::store::store_copy_test {
namespace {

using ::testing::HasSubstr;

class StoreCopyTest : public StoreFileTest {
  protected:
    std::string copy_path() const { return folder_.folder() + "/copy.db"; }
    void open_copy() {
        const Result<void> opened = try_open(copy_path());
        ASSERT_TRUE(opened) << opened.error().message();
    }
};

TEST_F(StoreCopyTest, AnOpenStoreIsCopiedAsItIs) {
    open();
    ASSERT_TRUE(create("a", "1"));
    ASSERT_TRUE(create("b", "2"));
    const Result<void> copied = copy_store(folder_.path(), copy_path());
    ASSERT_TRUE(copied) << copied.error().message();
    ASSERT_TRUE(update("a", "later"));
    ASSERT_TRUE(create("c", "3"));
    EXPECT_EQ(objects(), "a=later@3 b=2@2 c=3@4");
    close();
    struct stat info{};
    ASSERT_EQ(::stat(copy_path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_FALSE(std::filesystem::exists(copy_path() + "-wal"));
    const Result<void> checked = check_store(copy_path());
    ASSERT_TRUE(checked) << checked.error().message();
    open_copy();
    EXPECT_EQ(objects(), "a=1@1 b=2@2");
}

TEST_F(StoreCopyTest, WhatIsThereIsNotReplaced) {
    open();
    ASSERT_TRUE(create("a", "1"));
    std::ofstream(copy_path()) << "precious";
    const Result<void> copied = copy_store(folder_.path(), copy_path());
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), Code::kAlreadyExists);
    EXPECT_EQ(std::filesystem::file_size(copy_path()), 8u);
}

TEST_F(StoreCopyTest, WhatIsNoStoreIsRefused) {
    std::ofstream(folder_.path()) << std::string(10'000, 'x');
    EXPECT_FALSE(copy_store(folder_.path(), copy_path()));
    EXPECT_FALSE(std::filesystem::exists(copy_path())) << "nothing is left of it";
    EXPECT_FALSE(check_store(folder_.path()));
    EXPECT_THAT(check_store(folder_.folder() + "/none").error().message(), HasSubstr("none"));
}

TEST_F(StoreCopyTest, DamageIsFound) {
    open();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(create(std::to_string(i), std::string(2000, 'x')));
    close();
    ASSERT_TRUE(copy_store(folder_.path(), copy_path()));
    std::fstream file(copy_path(), std::ios::in | std::ios::out | std::ios::binary);
    // Within an object, where SQLite itself sees nothing.
    file.seekp(30'000);
    file << "damage";
    file.close();
    EXPECT_FALSE(check_store(copy_path()));
}

}  // namespace
}  // namespace muster::store::store_copy_test
