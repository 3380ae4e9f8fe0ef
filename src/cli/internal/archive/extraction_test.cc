#include "cli/internal/archive/extraction.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"

namespace muster::cli::extraction_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = TarEntry::Kind;

class ExtractionTest : public ::testing::Test {
  protected:
    void SetUp() override {
        Rng rng = Rng::from_system();
        directory_ = fs::temp_directory_path() / ("muster-extraction-" + rng.uuid());
        fs::create_directories(directory_);
    }
    void TearDown() override { fs::remove_all(directory_); }

    static TarEntry entry(std::string path, Kind kind = Kind::kFile) {
        return {.kind = kind, .path = std::move(path), .link = "/etc", .mode = 06755};
    }
    /// What went wrong, or "".
    static std::string extract(Extraction& to, const std::vector<TarEntry>& entries) {
        for (const TarEntry& each : entries) {
            if (auto begun = to.begin(each); !begun) return begun.error().message();
            if (each.kind != Kind::kFile) continue;
            if (auto written = to.write("content of " + each.path); !written)
                return written.error().message();
        }
        const auto finished = to.finish();
        return finished ? "" : finished.error().message();
    }
    static std::string text_of(const fs::path& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path directory_;
};

TEST_F(ExtractionTest, ATreeBecomesTheTarget) {
    Extraction to((directory_ / "out").string(), "tmp/tree");
    EXPECT_EQ(extract(to, {entry("tmp/tree", Kind::kDirectory), entry("tmp/tree/a"),
                           entry("tmp/tree/deep/er/b")}),
              "");
    EXPECT_THAT(to.notes(), IsEmpty());
    EXPECT_EQ(to.files(), 2u);
    EXPECT_EQ(text_of(directory_ / "out" / "a"), "content of tmp/tree/a");
    EXPECT_EQ(text_of(directory_ / "out" / "deep" / "er" / "b"), "content of tmp/tree/deep/er/b");
    struct stat info{};
    ASSERT_EQ(::stat((directory_ / "out" / "a").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & (S_ISUID | S_ISGID), 0u) << "no one's rights come with a file";
}

TEST_F(ExtractionTest, AFileBecomesTheTarget) {
    std::ofstream(directory_ / "out") << "something longer than what comes";
    Extraction to((directory_ / "out").string(), "data/x");
    EXPECT_EQ(extract(to, {entry("data/x")}), "");
    EXPECT_EQ(text_of(directory_ / "out"), "content of data/x");
}

TEST_F(ExtractionTest, NothingLeavesTheTarget) {
    fs::create_directory(directory_ / "out");
    Extraction to((directory_ / "out").string(), "tree");
    EXPECT_EQ(extract(to, {entry("tree/../escaped"), entry("tree/a/../../escaped"), entry("/etc/x"),
                           entry("treetop"), entry("other/x"), entry("..")}),
              "");
    EXPECT_EQ(to.notes().size(), 6u);
    EXPECT_THAT(to.notes().front(), HasSubstr("outside of what was asked for"));
    EXPECT_EQ(to.files(), 0u);
    EXPECT_FALSE(fs::exists(directory_ / "escaped"));
}

TEST_F(ExtractionTest, NoLinkIsMadeAndNoneIsFollowed) {
    fs::create_directory(directory_ / "out");
    fs::create_directory(directory_ / "elsewhere");
    Extraction to((directory_ / "out").string(), "tree");
    EXPECT_EQ(extract(to, {entry("tree/link", Kind::kSymbolicLink),
                           entry("tree/hard", Kind::kHardLink), entry("tree/x", Kind::kOther)}),
              "");
    EXPECT_THAT(to.notes(),
                ElementsAre("tree/link is a link to /etc", "tree/hard is a link to /etc",
                            "tree/x is neither a file nor a directory"));
    EXPECT_TRUE(fs::is_empty(directory_ / "out"));
    // One that was there before.
    fs::create_directory_symlink(directory_ / "elsewhere", directory_ / "out" / "link");
    EXPECT_THAT(extract(to, {entry("tree/link/x")}), HasSubstr("none is followed"));
    fs::create_symlink(directory_ / "elsewhere" / "y", directory_ / "out" / "y");
    EXPECT_THAT(extract(to, {entry("tree/y")}), HasSubstr("none is followed"));
    EXPECT_TRUE(fs::is_empty(directory_ / "elsewhere"));
}

TEST_F(ExtractionTest, TheTargetItselfMayBeALink) {
    fs::create_directory(directory_ / "elsewhere");
    fs::create_directory_symlink(directory_ / "elsewhere", directory_ / "out");
    Extraction to((directory_ / "out").string(), "tree");
    EXPECT_EQ(extract(to, {entry("tree", Kind::kDirectory), entry("tree/a")}), "");
    EXPECT_TRUE(fs::exists(directory_ / "elsewhere" / "a"));
}

TEST_F(ExtractionTest, APipeHoldsNothingUp) {
    fs::create_directory(directory_ / "out");
    ASSERT_EQ(::mkfifo((directory_ / "out" / "pipe").c_str(), 0600), 0);
    Extraction to((directory_ / "out").string(), "tree");
    EXPECT_THAT(extract(to, {entry("tree/pipe")}), HasSubstr("pipe"));
}

TEST_F(ExtractionTest, TheDirectoryOfTheTargetMustExist) {
    Extraction to((directory_ / "no" / "out").string(), "tree");
    EXPECT_THAT(extract(to, {entry("tree/x")}), HasSubstr("No such file"));
}

TEST_F(ExtractionTest, NotesAreBounded) {
    Extraction to((directory_ / "out").string(), "tree");
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(to.begin(entry("../x")));
    EXPECT_EQ(to.notes().size(), 21u);
    EXPECT_EQ(to.notes().back(), "and more");
}

}  // namespace
}  // namespace muster::cli::extraction_test
