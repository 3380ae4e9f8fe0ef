#include "runtime/internal/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>

namespace muster::runtime {
namespace {

TEST(CriEncoder, LinesAreCompletedPerStream) {
    CriEncoder encoder;
    std::string out;
    encoder.feed(LogStream::kStdout, "a\nb", "t1", out);
    encoder.feed(LogStream::kStderr, "e\n", "t2", out);
    encoder.feed(LogStream::kStdout, "c\n\n", "t3", out);
    EXPECT_EQ(out, "t1 stdout F a\nt2 stderr F e\nt3 stdout F bc\nt3 stdout F \n");
    out.clear();
    encoder.feed(LogStream::kStderr, "rest", "t4", out);
    encoder.finish("t5", out);
    EXPECT_EQ(out, "t5 stderr P rest\n");
}

TEST(CriEncoder, LongLinesAreCutAt16KiB) {
    const std::string piece(CriEncoder::kPiece, 'x');
    const std::pair<std::string, std::string> cases[] = {
        {piece + "\n", "t stdout F " + piece + "\n"},
        {piece + "y\n", "t stdout P " + piece + "\nt stdout F y\n"},
        {piece + piece + "\n", "t stdout P " + piece + "\nt stdout F " + piece + "\n"},
    };
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, std::size_t{100'000}}) {
        for (const auto& [text, expected] : cases) {
            CriEncoder encoder;
            std::string out;
            for (std::size_t at = 0; at < text.size(); at += step)
                encoder.feed(LogStream::kStdout, std::string_view(text).substr(at, step), "t", out);
            EXPECT_EQ(out, expected) << "in steps of " << step;
        }
    }
}

TEST(CriLine, WhatIsNotALineIsRefused) {
    EXPECT_EQ(parse_cri_line("t stdout F a b"), (CriLine{"t", LogStream::kStdout, true, "a b"}));
    EXPECT_EQ(parse_cri_line("t stderr P "), (CriLine{"t", LogStream::kStderr, false, ""}));
    for (const char* bad : {"", "t", "t stdout", "t stdin F x", "t stdout X x", "t stdout Fx"})
        EXPECT_FALSE(parse_cri_line(bad)) << bad;
}

class LogFileTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/muster-log-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        log = *LogFile::create(context.get_executor(), dir / "0.log");
    }
    void TearDown() override { std::filesystem::remove_all(dir); }

    static WallTime at(int second) {
        return WallTime(std::chrono::seconds(1'700'000'000 + second));
    }
    void write(std::string_view text, int second = 0) {
        log->write(LogStream::kStdout, text, at(second));
    }
    std::string read(kube::LogOptions options = {}) {
        auto stream = open_log(log, options, at(100));
        EXPECT_TRUE(stream);
        std::string text;
        bool ended = false;
        asio::co_spawn(context, read_all(**stream, text, ended), asio::detached);
        context.restart();
        context.poll();
        return text + (ended ? "" : "...");
    }
    static Task<void> read_all(kube::TextStream& stream, std::string& text, bool& ended) {
        for (;;) {
            auto piece = co_await stream.read();
            if (!piece || !*piece) break;
            text += **piece;
        }
        ended = true;
    }

    asio::io_context context;
    std::filesystem::path dir;
    std::shared_ptr<LogFile> log;
};

TEST_F(LogFileTest, Options) {
    write("one\ntwo\n", 1);
    write("three\n", 50);
    write("part", 60);
    log->finish(at(61));
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
    kube::LogOptions options;
    options.follow = true;
    write("a\n");
    auto stream = open_log(log, options, at(0));
    ASSERT_TRUE(stream);
    std::string text;
    bool ended = false;
    asio::co_spawn(context, read_all(**stream, text, ended), asio::detached);
    context.poll();
    EXPECT_EQ(text, "a\n");
    write("b\n");
    context.restart();
    context.poll();
    EXPECT_EQ(text, "a\nb\n");
    EXPECT_FALSE(ended);
    write("c");
    log->finish(at(1));
    context.restart();
    context.poll();
    EXPECT_EQ(text, "a\nb\nc");
    EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace muster::runtime
