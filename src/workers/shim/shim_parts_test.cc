#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "workers/shim/console_lines.h"
#include "workers/shim/line_filter.h"
#include "workers/shim/log_file.h"
#include "workers/shim/order.h"

namespace muster::workers::shim_parts_test {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShimOrder, ComesAsItWent) {
    ShimOrder order;
    order.candidates = {"/bin/a", "/usr/bin/a"};
    order.arguments = {"a", "", std::string("\0x", 2)};
    order.environment = {"A=b", "EMPTY="};
    order.out = {.inherit = false, .file = "/x/stdout.log", .console = true, .prefix = "[r0]:"};
    order.error = {.inherit = false, .filtered = "/x/filtered.log", .texts = {"loss", "a,b"}};
    order.rotate_bytes = 1U << 20;
    order.rotate_files = 3;
    order.directory = "/tmp/job";
    order.socket = "worker-0.sock";
    order.files = {"progress-0"};
    order.record = "set.json";
    order.group = "/sys/fs/cgroup/x";
    order.cpus = {0, 2, 511};
    order.memory = launch::MemoryPolicy::kBind;
    order.nodes = {1};
    order.orphan_grace_ms = 1234;
    order.core_bytes = 1U << 20;
    order.spare = true;
    const std::string bytes = encode(order);
    EXPECT_EQ(decode_order(bytes), order);
    // What is cut off, or longer, is no order; nor is what was made otherwise.
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_EQ(decode_order(std::string_view(bytes).substr(0, size)), std::nullopt) << size;
    EXPECT_EQ(decode_order(bytes + "x"), std::nullopt);
    EXPECT_EQ(decode_order(std::string(200, '\xff')), std::nullopt);
}

/// All that waits, as it is written.
std::string taken(ConsoleLines& lines) {
    std::string all;
    while (!lines.next().empty()) {
        all += lines.next();
        lines.written(lines.next().size());
    }
    return all;
}

TEST(ConsoleLines, HaveTheirPrefixAndTheirEnds) {
    const struct {
        const char* what;
        std::vector<std::string> added;
        const char* shown;     ///< before the end of the input
        const char* finished;  ///< after it
    } cases[] = {
        {"whole lines", {"one\ntwo\n\n"}, "[a0]:one\n[a0]:two\n[a0]:\n", ""},
        {"a line in pieces", {"on", "e\nthr"}, "[a0]:one\n", "[a0]:thr\n"},
        {"nothing", {""}, "", ""},
        {"lines as other systems end them", {"one\r\ntwo\r", "\n"}, "[a0]:one\r\n[a0]:two\r\n", ""},
        {"progress that ends with \\r", {" 10%\r", " 20%\r"}, "[a0]: 10%\r[a0]: 20%\r", ""},
        {"progress that begins with it is shown at once",
         {"\r 10%", "\r 20%", "\n"},
         "[a0]: 10%\r[a0]: 20%\r[a0]: 20%\n",
         ""},
        {"progress in pieces", {"\r 1", "0%"}, "[a0]: 1\r[a0]: 10%\r", "[a0]: 10%\n"},
        {"two that come together", {"\r 10%\r 20%"}, "[a0]: 10%\r[a0]: 20%\r", "[a0]: 20%\n"},
    };
    for (const auto& c : cases) {
        ConsoleLines lines("[a0]:");
        for (const std::string& bytes : c.added) lines.add(bytes);
        EXPECT_EQ(taken(lines), c.shown) << c.what;
        lines.finish();
        EXPECT_EQ(taken(lines), c.finished) << c.what;
    }
}

TEST(ConsoleLines, ALongOneIsWhole) {
    for (const std::size_t size : {std::size_t{10'000}, ConsoleLines::kLongest * 2 + 17}) {
        ConsoleLines lines("[a0]:");
        const std::string text(size, 'x');
        lines.add(text.substr(0, 7000));
        lines.add(text.substr(7000));
        lines.add("\nnext\n");
        EXPECT_EQ(taken(lines), "[a0]:" + text + "\n[a0]:next\n");
    }
}

TEST(ConsoleLines, ComeWholeInWhatIsWrittenAtOnce) {
    ConsoleLines lines("");
    const std::string line = std::string(999, 'x') + "\n";
    for (int i = 0; i < 10; ++i) lines.add(line);
    EXPECT_EQ(lines.next().size(), 4000U);
    lines.written(4000);
    EXPECT_FALSE(lines.mid_line());
    lines.add(std::string(9000, 'y') + "\n");
    lines.written(6000);
    EXPECT_EQ(lines.next().size(), 9001U);
    lines.written(5000);
    EXPECT_TRUE(lines.mid_line());
    EXPECT_EQ(lines.next().size(), 4001U);
    lines.written(4001);
    EXPECT_FALSE(lines.mid_line());
}

TEST(ConsoleLines, NothingIsDropped) {
    ConsoleLines lines("");
    const std::string line = std::string(1023, 'x') + "\n";
    for (std::size_t i = 0; i < ConsoleLines::kMost / 1024; ++i) {
        EXPECT_FALSE(lines.full());
        lines.add(line);
    }
    EXPECT_TRUE(lines.full());
    lines.add(line);
    EXPECT_EQ(taken(lines).size(), ConsoleLines::kMost + 1024);
    EXPECT_FALSE(lines.full());
}

TEST(LineFilter, GivesLinesWithOneOfItsTexts) {
    struct Case {
        const char* what;
        std::vector<std::string> texts;
        std::vector<std::string> written;
        std::string given;
    };
    const std::string half(LineFilter::kLongest / 2, 'x');
    const Case cases[] = {
        {"none has it", {"loss"}, {"one\ntwo\n"}, ""},
        {"one has it", {"loss"}, {"one\nloss 3\ntwo\n"}, "[a0]:loss 3\n"},
        {"one of several texts", {"x", "two"}, {"one\ntwo\n"}, "[a0]:two\n"},
        {"a line comes in pieces",
         {"loss"},
         {"the lo", "ss is", " 3\nlo\nss\n"},
         "[a0]:the loss is 3\n"},
        {"the last line has no end", {"loss"}, {"a\nloss"}, "[a0]:loss\n"},
        {"a text does not reach over lines", {"ab"}, {"a\nb\n"}, ""},
        {"no text is in every line", {""}, {"a\n\n"}, "[a0]:a\n[a0]:\n"},
        {"letters count as they are", {"Loss"}, {"loss\n"}, ""},
        {"a line that is too long is two",
         {"end"},
         {half, half, "y the end\n"},
         "[a0]:y the end\n"},
    };
    for (const Case& c : cases) {
        LineFilter filter("[a0]:", c.texts);
        std::string given;
        for (const std::string& bytes : c.written) given += filter.add(bytes);
        given += filter.finish();
        EXPECT_EQ(given, c.given) << c.what;
    }
}

class LogFileTest : public ::testing::Test {
  protected:
    ~LogFileTest() override { fs::remove_all(directory_); }

    std::string path(const std::string& name) const { return directory_ / name; }
    std::string content(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(directory_ / name).rdbuf();
        return text.str();
    }

    fs::path directory_ = [] {
        std::string name = ::testing::TempDir() + "muster-log-XXXXXX";
        return fs::path(::mkdtemp(name.data()));
    }();
};

TEST_F(LogFileTest, GoesOnWhereItWas) {
    for (const char* text : {"one\n", "two\n"}) {
        LogFile file(path("a.log"), 0, 1);
        file.open();
        file.write(text);
    }
    EXPECT_EQ(content("a.log"), "one\ntwo\n");
}

TEST_F(LogFileTest, IsCutWhereLinesEnd) {
    LogFile file(path("a.log"), 10, 3);
    for (int i = 0; i < 9; ++i) file.write(std::to_string(i) + "23\n");
    EXPECT_EQ(content("a.log"), "823\n");
    EXPECT_EQ(content("a.log.1"), "623\n723\n");
    EXPECT_EQ(content("a.log.2"), "423\n523\n");
    EXPECT_FALSE(fs::exists(path("a.log.3")));
    file.write("a line that no file holds\n");
    EXPECT_EQ(content("a.log.2"), "a line tha");
    EXPECT_EQ(content("a.log.1"), "t no file ");
    EXPECT_EQ(content("a.log"), "holds\n");
    EXPECT_EQ(file.lost_bytes(), 0U);
}

TEST_F(LogFileTest, OneFileBeginsAnew) {
    LogFile file(path("a.log"), 8, 1);
    file.write("one two\n");
    file.write("three\n");
    EXPECT_EQ(content("a.log"), "three\n");
}

TEST_F(LogFileTest, AFullDiskIsCountedAndTold) {
    fs::create_symlink("/dev/full", path("a.log"));
    LogFile file(path("a.log"), 0, 1);
    file.open();
    EXPECT_EQ(file.first_error(), 0);
    file.write("lost\n");
    file.write("lost too\n");
    EXPECT_EQ(file.lost_bytes(), 14U);
    EXPECT_EQ(file.first_error(), ENOSPC);
}

TEST_F(LogFileTest, ALinkOfAnotherUserIsNotFollowed) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    {
        std::ofstream(path("mine")) << "mine\n";
    }
    fs::create_symlink(path("mine"), path("a.log"));
    ASSERT_EQ(::lchown(path("a.log").c_str(), 65534, 65534), 0);
    LogFile file(path("a.log"), 0, 1);
    file.write("lost\n");
    EXPECT_EQ(file.lost_bytes(), 5U);
    EXPECT_EQ(file.first_error(), EACCES);
    EXPECT_EQ(content("mine"), "mine\n");
}

TEST_F(LogFileTest, AMissingDirectoryIsALossUntilItIsThere) {
    LogFile file(path("late/a.log"), 0, 1);
    file.open();
    EXPECT_EQ(file.first_error(), ENOENT);
    file.write("lost\n");
    EXPECT_EQ(file.lost_bytes(), 5U);
    fs::create_directory(path("late"));
    file.write("kept\n");
    EXPECT_EQ(file.lost_bytes(), 5U);
    EXPECT_THAT(content("late/a.log"),
                HasSubstr("[muster: 5 bytes are missing here: No such file or directory]\nkept\n"));
}

}  // namespace
}  // namespace muster::workers::shim_parts_test
