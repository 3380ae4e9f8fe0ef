#include "cli/internal/run/log_bookmark.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/rng.h"
#include "kube/values/time.h"

namespace muster::cli::log_bookmark_test {
namespace {

struct Line {
    WallTime at;
    std::string text;
};

/// A log that grows, of which a server shows what is not older than is asked for.
std::string served(const std::vector<Line>& log, std::size_t from, const std::string& since) {
    const WallTime wanted = since.empty() ? WallTime::min() : *kube::parse_time(since);
    std::string text;
    for (std::size_t i = from; i < log.size(); ++i)
        if (log[i].at >= wanted)
            text += kube::format_nano_time(log[i].at) + " " + log[i].text + "\n";
    return text;
}

constexpr WallTime kStart{std::chrono::seconds(1'700'000'000)};

std::string all_text(const std::vector<Line>& log) {
    std::string text;
    for (const Line& line : log) text += line.text + "\n";
    return text;
}

TEST(LogBookmark, TakesTheStampsAway) {
    LogBookmark log;
    EXPECT_EQ(log.resume(), "");
    EXPECT_EQ(log.add("2026-01-02T03:04:05.5Z one\n2026-01-02T03:04:05.6Z \n2026-01-02T03:"),
              "one\n\n");
    EXPECT_EQ(log.add("04:06Z two"), "two");
    EXPECT_EQ(log.add(" words\n2026-01-02T03:04:06.1Z\n"), " words\n\n");
}

TEST(LogBookmark, WhatHasNoStampIsShownAsItIs) {
    LogBookmark log;
    log.resume();
    EXPECT_EQ(log.add("unable to retrieve container logs\n"),
              "unable to retrieve container logs\n");
    EXPECT_EQ(log.add(std::string(100, 'x')), std::string(100, 'x'));
    EXPECT_EQ(log.add("\n\n2026-01-02T03:04:05Z a\n"), "\n\na\n");
}

TEST(LogBookmark, AsksForTheSecondBeforeTheLastLineAndDropsWhatItKnows) {
    LogBookmark log;
    log.resume();
    EXPECT_EQ(log.add("2026-01-02T03:04:04.9Z a\n2026-01-02T03:04:05.1Z b\n2026-01-02T03:04:05.1Z "
                      "b\n2026-01-02T03:04:05.2Z hal"),
              "a\nb\nb\nhal");
    EXPECT_EQ(log.resume(), "2026-01-02T03:04:04Z");
    EXPECT_EQ(log.add("2026-01-02T03:04:03.1Z older than was asked for\n"
                      "2026-01-02T03:04:04.9Z a\n2026-01-02T03:04:05.1Z b\n2026-01-02T03:04:05.1Z "
                      "b\n2026-01-02T03:04:05.2Z half\n2026-01-02T03:04:05.2Z half\n"),
              "f\nhalf\n");
}

TEST(LogBookmark, AFileThatWasReplacedHidesNothingNew) {
    LogBookmark log;
    log.resume();
    log.add(
        "2026-01-02T03:04:05.1Z a\n2026-01-02T03:04:05.2Z b\n2026-01-02T03:04:05.3Z c\n"
        "2026-01-02T03:04:05.4Z hal");
    log.resume();
    EXPECT_EQ(log.add("2026-01-02T03:04:05.3Z c\n2026-01-02T03:04:05.5Z d\n"), "\nd\n");
}

/// Lines of one moment, of moments that go back a little, and long ones; breaks at any byte.
TEST(LogBookmark, ALogThatBreaksAnywhereIsReadOnce) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Rng rng(seed);
        std::vector<Line> log;
        WallTime now = kStart;
        for (std::size_t i = 0; i < 60; ++i) {
            now += std::chrono::milliseconds(rng.below(4) * rng.below(300));
            const WallTime at = now - std::chrono::milliseconds(rng.below(10) == 0 ? 200 : 0);
            log.push_back({at, fmt::format("{} {}", i, std::string(rng.below(30), 'x'))});
        }
        LogBookmark bookmark;
        std::string read;
        for (int breaks = 0; breaks < 8; ++breaks) {
            const std::string stream = served(log, 0, bookmark.resume());
            std::string_view part =
                std::string_view(stream).substr(0, rng.below(stream.size() + 1));
            while (!part.empty()) {
                const std::size_t size = std::min<std::size_t>(part.size(), 1 + rng.below(40));
                read += bookmark.add(part.substr(0, size));
                part.remove_prefix(size);
            }
        }
        read += bookmark.add(served(log, 0, bookmark.resume()));
        ASSERT_EQ(read, all_text(log)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace muster::cli::log_bookmark_test
