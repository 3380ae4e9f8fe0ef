#include "control_plane/internal/discarded_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>

namespace muster::control_plane::discarded_files_test {
namespace {

namespace fs = std::filesystem;

class DiscardedFilesTest : public testing::Test {
  protected:
    fs::path make(const fs::path& file) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << "x";
        return file;
    }
    void run() {
        context.restart();
        context.run();
    }

    ~DiscardedFilesTest() override { fs::remove_all(place); }

    static fs::path made_place() {
        std::string name = (fs::temp_directory_path() / "muster-discarded.XXXXXX").string();
        return ::mkdtemp(name.data());
    }

    const fs::path place = made_place();
    const fs::path root = place / "volumes";
    asio::io_context context;
    DiscardedFiles files{context.get_executor(), root};
};

TEST_F(DiscardedFilesTest, WhatIsDiscardedIsGoneAndNothingElse) {
    make(root / "ns" / "a.uid" / "deep" / "file");
    const fs::path other = make(root / "ns" / "b" / "file");
    const fs::path outside = make(place / "outside" / "file");
    fs::create_directory_symlink(outside.parent_path(), root / "ns" / "a.uid" / "link");
    ASSERT_TRUE(files.discard(root / "ns" / "a.uid"));
    EXPECT_FALSE(fs::exists(root / "ns" / "a.uid"));
    run();
    EXPECT_FALSE(fs::exists(root / ".discarded"));
    EXPECT_TRUE(fs::exists(other));
    EXPECT_TRUE(fs::exists(outside));
    EXPECT_TRUE(files.discard(root / "ns" / "none"));
}

TEST_F(DiscardedFilesTest, OnlyWhatIsBelowTheRoot) {
    const fs::path outside = make(place / "outside" / "file");
    EXPECT_FALSE(files.discard(outside.parent_path()));
    EXPECT_FALSE(files.discard(root / ".." / "outside"));
    EXPECT_FALSE(files.discard(root));
    run();
    EXPECT_TRUE(fs::exists(outside));
}

TEST_F(DiscardedFilesTest, WhatAnEarlierProcessLeftIsRemoved) {
    make(root / ".discarded" / "a.uid" / "file");
    files.start();
    run();
    EXPECT_FALSE(fs::exists(root / ".discarded"));
}

TEST_F(DiscardedFilesTest, AStopEndsIt) {
    make(root / "a" / "file");
    const std::atomic<bool> stop = true;
    EXPECT_FALSE(remove_tree(AT_FDCWD, (root / "a").c_str(), stop));
    EXPECT_TRUE(fs::exists(root / "a" / "file"));
}

TEST_F(DiscardedFilesTest, WhatIsTooDeepStays) {
    fs::path deep = root / "a";
    for (int i = 0; i < 600; ++i) deep /= "d";
    fs::create_directories(deep);
    const std::atomic<bool> stop = false;
    EXPECT_FALSE(remove_tree(AT_FDCWD, (root / "a").c_str(), stop));
}

}  // namespace
}  // namespace muster::control_plane::discarded_files_test
