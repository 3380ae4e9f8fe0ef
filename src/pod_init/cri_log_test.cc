#include "pod_init/cri_log.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/test_growth.h"

namespace muster::pod_init::cri_log_test {
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

/// What a program writes, a few bytes at a time.
TEST(CriEncoder, TakesAsLongAsItsInputIs) {
    for (const char* piece : {"0123456789", "01234567\n", "\n\n\n"}) {
        EXPECT_LE(growth_by_ten(20'000,
                                [&](std::size_t size) {
                                    CriEncoder encoder;
                                    std::string out;
                                    for (std::size_t i = 0; i < size; ++i)
                                        encoder.feed(LogStream::kStdout, piece, "t", out);
                                    ASSERT_FALSE(out.empty());
                                }),
                  kLinearGrowth)
            << piece;
    }
}

TEST(CriLine, WhatIsNotALineIsRefused) {
    EXPECT_EQ(parse_cri_line("t stdout F a b"), (CriLine{"t", LogStream::kStdout, true, "a b"}));
    EXPECT_EQ(parse_cri_line("t stderr P "), (CriLine{"t", LogStream::kStderr, false, ""}));
    for (const char* bad : {"", "t", "t stdout", "t stdin F x", "t stdout X x", "t stdout Fx"})
        EXPECT_FALSE(parse_cri_line(bad)) << bad;
}

}  // namespace
}  // namespace muster::pod_init::cri_log_test
