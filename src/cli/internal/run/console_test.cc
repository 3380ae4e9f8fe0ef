#include "cli/internal/run/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "base/unique_fd.h"

namespace muster::cli::console_test {
namespace {

/// What a console with these options writes.
std::string written(ConsoleOptions options, const std::function<void(Console&)>& work) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const UniqueFd reader(pipe[0]);
    options.descriptor = pipe[1];
    {
        const UniqueFd writer(pipe[1]);
        Console console(options);
        work(console);
    }
    std::array<char, 65536> text{};
    const ssize_t size = ::read(reader.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

constexpr const char* kHostile =
    "pulled\x1b]0;title\x07\x1b[2J\xc2\x9b"
    "H\nmuster: job a succeeded";

TEST(Console, ATerminalObeysNothingThatIsTold) {
    for (const bool live : {false, true}) {
        EXPECT_EQ(written({.live = live},
                          [](Console& console) { console.tell({Tone::kPlain, kHostile}); }),
                  "muster: pulled\\x1b]0;title\\x07\\x1b[2J\\u009bH\n  muster: job a succeeded\n");
    }
    EXPECT_EQ(written({}, [](Console& console) { console.progress("1 of 2\r\x1b[A"); }),
              "muster: 1 of 2\\x0d\\x1b[A\n");
    EXPECT_EQ(written({},
                      [](Console& console) {
                          console.tell({Tone::kPlain, "last line: \x1b[31mred\x1b[0m"});
                      }),
              "muster: last line: red\n");
}

TEST(Console, ATerminalGetsTheColoursOfPodsLines) {
    constexpr const char* kLines = "a | \x1b[31mred\x1b[2J\nb | plain\x07\n";
    const auto block = [](Console& console) { console.write_block(kLines); };
    EXPECT_EQ(written({.color = true, .live = true}, block), "a | \x1b[31mred\x1b[0m\nb | plain\n");
    EXPECT_EQ(written({.color = false, .live = true}, block), "a | red\nb | plain\n");
    EXPECT_EQ(written({.color = true, .live = true, .raw = true}, block), kLines);
    EXPECT_EQ(written({.live = false}, block), kLines) << "a file or a pipe";
}

TEST(Console, WhatIsGatheredComesBeforeWhatIsToldAfterIt) {
    const auto lines = [](Console& console) {
        console.write_block(console.log_prefix("worker-0") + "one\n");
        console.tell({Tone::kPlain, "told"});
        console.write_block("two\n");
    };
    EXPECT_EQ(written({.gathers = true, .brackets = true}, lines),
              "[worker-0] one\nmuster: told\ntwo\n");
}

}  // namespace
}  // namespace muster::cli::console_test
