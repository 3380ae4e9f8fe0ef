#include "cli/internal/archive/local_archive.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "cli/internal/archive/tar_reader.h"

namespace muster::cli::local_archive_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LocalArchiveTest : public ::testing::Test {
  protected:
    void SetUp() override {
        Rng rng = Rng::from_system();
        directory_ = fs::temp_directory_path() / ("muster-archive-" + rng.uuid());
        fs::create_directories(directory_ / "tree" / "below");
    }
    void TearDown() override { fs::remove_all(directory_); }

    void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

    /// Lines of "NAME: CONTENT" as a reader finds them.
    std::vector<std::string> read(LocalArchive& archive) {
        TarReader reader;
        std::vector<std::string> lines;
        for (;;) {
            const auto piece = archive.next();
            EXPECT_TRUE(piece) << piece.error().message();
            if (!piece || piece->empty()) break;
            reader.put(*piece);
            for (;;) {
                const auto event = reader.next();
                EXPECT_TRUE(event) << event.error().message();
                if (!event || !*event) break;
                if (const auto& entry = (*event)->entry)
                    lines.push_back(entry->path + ": " + entry->link);
                else
                    lines.back() += (*event)->data;
            }
        }
        EXPECT_TRUE(reader.ended());
        return lines;
    }

    fs::path directory_;
};

TEST_F(LocalArchiveTest, ATreeInOrderWithItsLinks) {
    write(directory_ / "tree" / "a", "hello");
    write(directory_ / "tree" / "below" / "empty", "");
    fs::create_symlink("a", directory_ / "tree" / "link");
    ASSERT_EQ(::mkfifo((directory_ / "tree" / "pipe").c_str(), 0600), 0);
    auto archive = LocalArchive::open((directory_ / "tree").string(), "there");
    ASSERT_TRUE(archive);
    EXPECT_THAT(read(*archive), ElementsAre("there/: ", "there/a: hello", "there/below/: ",
                                            "there/below/empty: ", "there/link: a"));
    EXPECT_THAT(archive->notes(), ElementsAre(HasSubstr("pipe is neither a file nor")));
}

TEST_F(LocalArchiveTest, TheTopMayBeALinkToAFile) {
    write(directory_ / "a", std::string(200'000, 'x'));
    fs::create_symlink("a", directory_ / "link");
    auto archive = LocalArchive::open((directory_ / "link").string(), "there");
    ASSERT_TRUE(archive);
    EXPECT_THAT(read(*archive), ElementsAre("there: " + std::string(200'000, 'x')));
}

TEST_F(LocalArchiveTest, AFileThatShrinksIsFilledUpAndTold) {
    write(directory_ / "a", std::string(200'000, 'x'));
    auto archive = LocalArchive::open((directory_ / "a").string(), "a");
    ASSERT_TRUE(archive);
    std::string bytes = archive->next().value();
    fs::resize_file(directory_ / "a", 10);
    for (;;) {
        const std::string piece = archive->next().value();
        if (piece.empty()) break;
        bytes += piece;
    }
    EXPECT_EQ(bytes.size() % 512, 0u);
    EXPECT_THAT(archive->notes().front(), HasSubstr("became shorter"));
}

TEST_F(LocalArchiveTest, WhatCanNotBeReadIsTold) {
    const auto missing = LocalArchive::open((directory_ / "no").string(), "a");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("No such file"));
    ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
    EXPECT_FALSE(LocalArchive::open((directory_ / "pipe").string(), "a"));
}

}  // namespace
}  // namespace muster::cli::local_archive_test
