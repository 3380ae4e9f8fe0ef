#include "cli/internal/pods/copy_words.h"

#include <gmock/gmock.h>

namespace muster::cli::copy_words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::vector<std::string>& words) {
    const auto copy = parse_copy_words(words);
    return copy ? "accepted" : copy.error().message();
}

TEST(CopyWords, OneEndIsInAPod) {
    EXPECT_EQ(parse_copy_words({"digits/worker-0:/tmp/a", "out"}).value(),
              (CopyWords{{"digits/worker-0", "/tmp/a"}, {"", "out"}}));
    EXPECT_EQ(parse_copy_words({"./a:b", "pod/web:c:d"}).value(),
              (CopyWords{{"", "./a:b"}, {"pod/web", "c:d"}}));
    EXPECT_EQ(parse_copy_words({"/a:b", "web:c"}).value(), (CopyWords{{"", "/a:b"}, {"web", "c"}}));
    EXPECT_THAT(error_of({"a", "b"}), HasSubstr("must be in a pod"));
    EXPECT_THAT(error_of({"a:b", "c:d"}), HasSubstr("must be on this machine"));
    EXPECT_THAT(error_of({"a:", "b"}), HasSubstr("a path is missing"));
    EXPECT_THAT(error_of({"a:b", ""}), HasSubstr("a path is missing"));
    EXPECT_THAT(error_of({"a:b"}), HasSubstr("from where to where"));
    EXPECT_THAT(error_of({"a:b", "c", "d"}), HasSubstr("from where to where"));
}

TEST(CopyWords, HowAPathIsArchived) {
    struct Case {
        const char* path;
        const char* top;
        const char* below;
        const char* prefix;
    };
    const Case cases[] = {
        {"/tmp/out", "/", "tmp/out", "tmp/out"},
        {"/tmp/out/", "/", "tmp/out", "tmp/out"},
        {"/tmp/../etc/x", "/", "etc/x", "etc/x"},
        {"/", "/", ".", "."},
        {"a/b", ".", "a/b", "a/b"},
        {".", ".", ".", "."},
        {"./a", ".", "a", "a"},
        {"-rf", ".", "./-rf", "./-rf"},
        {"../../a", ".", "../../a", "a"},
        {"..", ".", "..", ""},
        {"/../..", "/", ".", "."},
    };
    for (const Case& c : cases) {
        const RemoteArchive archive = remote_archive(c.path);
        EXPECT_THAT(archive.command, ElementsAre("tar", "cf", "-", "-C", c.top, c.below)) << c.path;
        EXPECT_EQ(archive.prefix, c.prefix) << c.path;
    }
}

TEST(CopyWords, NamesOfPaths) {
    EXPECT_EQ(last_name("/tmp/out"), "out");
    EXPECT_EQ(last_name("/tmp/out/"), "out");
    EXPECT_EQ(last_name("a/.."), "");
    EXPECT_EQ(last_name(".."), "");
    EXPECT_EQ(last_name("/"), "");
    EXPECT_EQ(parent_of("/tmp/out"), "/tmp");
    EXPECT_EQ(parent_of("/tmp/out/"), "/tmp");
    EXPECT_EQ(parent_of("out"), ".");
    EXPECT_EQ(parent_of("/out"), "/");
}

}  // namespace
}  // namespace muster::cli::copy_words_test
