#include "cli/internal/fault_injection/line_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/async/task_group.h"
#include "base/test_growth.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::cli::line_stream_test {
namespace {

class LineStreamTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    static Task<void> send(net::ByteStream& stream, std::string text) {
        (void)co_await stream.write(asio::buffer(text));
        (void)co_await stream.shut_down_write();
    }
    /// What is read from a connection over which that text comes: its lines.
    std::vector<std::string> lines_of(std::string text) {
        auto [ours, theirs] = net::make_memory_streams(context.get_executor());
        LineStream stream(std::move(ours));
        TaskGroup tasks(context.get_executor());
        tasks.spawn("send", send(*theirs, std::move(text)));
        std::vector<std::string> lines;
        for (;;) {
            auto line = await(stream.read());
            EXPECT_TRUE(line) << line.error().message();
            if (!line || !*line) break;
            lines.push_back(**std::move(line));
        }
        await(tasks.stop());
        return lines;
    }
};

TEST_F(LineStreamTest, ReadsWholeLines) {
    EXPECT_EQ(lines_of("one\n\nthree\nno line"), (std::vector<std::string>{"one", "", "three"}));
    const std::string longer(100'000, 'x');
    EXPECT_EQ(lines_of(longer + "\n" + longer + "\nend\n"),
              (std::vector<std::string>{longer, longer, "end"}));
}

TEST_F(LineStreamTest, LooksAtNoByteOfALongLineTwice) {
    EXPECT_LE(growth_by_ten(1'000'000,
                            [&](std::size_t size) {
                                ASSERT_EQ(lines_of(std::string(size, 'x') + "\n").size(), 1u);
                            }),
              kLinearGrowth);
}

TEST_F(LineStreamTest, ManyShortLinesAreNotMovedForEach) {
    EXPECT_LE(
        growth_by_ten(
            20'000,
            [&](std::size_t size) {
                ASSERT_EQ(
                    lines_of(repeated(size, [](std::size_t) { return std::string("x\n"); })).size(),
                    size);
            }),
        kLinearGrowth);
}

}  // namespace
}  // namespace muster::cli::line_stream_test
