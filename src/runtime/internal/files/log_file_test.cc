#include "runtime/internal/files/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>

#include "base/async/task_group.h"
#include "kube/values/time.h"
#include "pod_init/container_log.h"
#include "pod_init/cri_log.h"
#include "runtime/internal/files/log_reader.h"

namespace muster::runtime::log_file_test {
namespace {

namespace fs = std::filesystem;

class LogFileTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/muster-log-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        log = *LogFile::create(context.get_executor(), dir / "0.log");
        watch = *LogWatch::create(context.get_executor());
        tasks = std::make_unique<TaskGroup>(context.get_executor());
        tasks->spawn("watch", watch->run());
    }
    void TearDown() override {
        asio::co_spawn(context, tasks->stop(), asio::detached);
        context.restart();
        context.run();
        fs::remove_all(dir);
    }

    static WallTime at(int second) {
        return WallTime(std::chrono::seconds(1'700'000'000 + second));
    }
    void write(std::string_view line, int second = 0) {
        std::string lines;
        encoder.feed(pod_init::LogStream::kStdout, line, kube::format_nano_time(at(second)), lines);
        std::ofstream(log->path(), std::ios::app) << lines;
    }
    void finish(int second) {
        std::string lines;
        encoder.finish(kube::format_nano_time(at(second)), lines);
        std::ofstream(log->path(), std::ios::app) << lines;
        log->finish();
    }
    /// As a supervisor does when a file is full.
    void turn_over() {
        for (std::uint32_t age = 4; age > 0; --age)
            if (fs::exists(dir / pod_init::log_file_name("0.log", age - 1)))
                fs::rename(dir / pod_init::log_file_name("0.log", age - 1),
                           dir / pod_init::log_file_name("0.log", age));
        std::ofstream(log->path()).flush();
    }
    std::string read(kube::LogOptions options = {}) {
        auto opened = open_log(log, watch.get(), options, at(100));
        EXPECT_TRUE(opened);
        std::string all;
        bool done = false;
        asio::co_spawn(context, read_all(**opened, all, done), asio::detached);
        run_until([&] { return done; });
        return all;
    }
    /// Into `text`, until `ended`.
    bool follow() {
        kube::LogOptions options;
        options.follow = true;
        auto opened = open_log(log, watch.get(), options, at(0));
        if (!opened) return false;
        stream = *std::move(opened);
        asio::co_spawn(context, read_all(*stream, text, ended), asio::detached);
        return true;
    }
    template <class P>
    void run_until(P done) {
        context.restart();
        while (!done() && context.run_one() > 0) {
        }
    }
    static Task<void> read_all(kube::TextStream& from, std::string& into, bool& done) {
        for (;;) {
            auto piece = co_await from.read();
            if (!piece || !*piece) break;
            into += **piece;
        }
        done = true;
    }

    asio::io_context context;
    fs::path dir;
    std::shared_ptr<LogFile> log;
    std::unique_ptr<LogWatch> watch;
    std::unique_ptr<TaskGroup> tasks;
    pod_init::CriEncoder encoder;
    std::unique_ptr<kube::TextStream> stream;
    std::string text;
    bool ended = false;
};

TEST_F(LogFileTest, Options) {
    write("one\ntwo\n", 1);
    write("three\n", 50);
    write("part", 60);
    finish(61);
    struct Case {
        const char* name;
        kube::LogOptions options;
        std::string expected;
    };
    kube::LogOptions none;
    std::vector<Case> cases;
    auto add = [&](const char* name, auto set, std::string expected) {
        kube::LogOptions options;
        set(options);
        cases.push_back({name, options, std::move(expected)});
    };
    add("all", [](auto&) {}, "one\ntwo\nthree\npart");
    add("tail 0", [](auto& o) { o.tail_lines = 0; }, "");
    add("tail 1", [](auto& o) { o.tail_lines = 1; }, "part");
    add("tail 2", [](auto& o) { o.tail_lines = 2; }, "three\npart");
    add("tail 9", [](auto& o) { o.tail_lines = 9; }, "one\ntwo\nthree\npart");
    add("limit", [](auto& o) { o.limit_bytes = 5; }, "one\nt");
    add("since", [](auto& o) { o.since_seconds = 51; }, "three\npart");
    add("since all", [](auto& o) { o.since_seconds = 99; }, "one\ntwo\nthree\npart");
    add("tail and limit", [](auto& o) { o.tail_lines = 2, o.limit_bytes = 3; }, "thr");
    add(
        "timestamps", [](auto& o) { o.timestamps = true, o.tail_lines = 2; },
        "2023-11-14T22:14:10.000000000Z three\n2023-11-14T22:14:21.000000000Z part");
    for (const Case& c : cases) EXPECT_EQ(read(c.options), c.expected) << c.name;
}

TEST_F(LogFileTest, ATailCountsLongLinesOnceAndCrossesChunks) {
    const std::string longest(200'000, 'x');
    write("first\n" + longest + "\nlast\n");
    kube::LogOptions options;
    options.tail_lines = 2;
    EXPECT_EQ(read(options), longest + "\nlast\n");
    options.tail_lines = 3;
    EXPECT_EQ(read(options).size(), 6 + longest.size() + 6);
}

TEST_F(LogFileTest, FollowingEndsWithTheContainer) {
    write("a\n");
    ASSERT_TRUE(follow());
    run_until([&] { return text == "a\n"; });
    write("b\n");
    run_until([&] { return text == "a\nb\n"; });
    EXPECT_FALSE(ended);
    write("c");
    finish(1);
    run_until([&] { return ended; });
    EXPECT_EQ(text, "a\nb\nc");
}

TEST_F(LogFileTest, AllFilesOfALogAreRead) {
    write("one\ntwo\n");
    turn_over();
    write("three\n");
    turn_over();
    write("four\nfive\n");
    EXPECT_EQ(read(), "one\ntwo\nthree\nfour\nfive\n");
    const std::pair<int, const char*> tails[] = {{0, ""},
                                                 {1, "five\n"},
                                                 {2, "four\nfive\n"},
                                                 {3, "three\nfour\nfive\n"},
                                                 {4, "two\nthree\nfour\nfive\n"},
                                                 {9, "one\ntwo\nthree\nfour\nfive\n"}};
    for (const auto& [lines, expected] : tails) {
        kube::LogOptions options;
        options.tail_lines = lines;
        EXPECT_EQ(read(options), expected) << lines;
    }
    log->discard();
    EXPECT_TRUE(fs::is_empty(dir));
}

TEST_F(LogFileTest, FollowingGoesOverToTheNextFile) {
    write("a\n");
    ASSERT_TRUE(follow());
    run_until([&] { return text == "a\n"; });
    write("b\n");
    turn_over();
    write("c\n");
    turn_over();
    write("d\n");
    run_until([&] { return text == "a\nb\nc\nd\n"; });
    log->finish();
    run_until([&] { return ended; });
    EXPECT_EQ(text, "a\nb\nc\nd\n");
}

TEST_F(LogFileTest, AReaderThatIsTooSlowIsToldSo) {
    write("a\n");
    auto slow = open_log(log, watch.get(), {}, at(0));
    ASSERT_TRUE(slow);
    for (int i = 0; i < 9; ++i) {
        turn_over();
        write(fmt::format("{}\n", i));
    }
    asio::co_spawn(context, read_all(**slow, text, ended), asio::detached);
    run_until([&] { return ended; });
    EXPECT_THAT(text, testing::MatchesRegex(
                          "a\nmuster: a part of this log was removed [^\n]*\n4\n5\n6\n7\n8\n"));
}

}  // namespace
}  // namespace muster::runtime::log_file_test
