#include "runtime/internal/usage/process_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"

namespace muster::runtime::process_table_test {
namespace {

TEST(ProcessTableTest, ReadsWhatTheKernelTellsOfAProcess) {
    const std::string tail = " S 7 42 42 0 -1 4194560 10 20 0 0 30 4 500 60 20 0 1 0 99 1 2";
    for (const char* name : {"sh", "a b", "x) S 1 1", "()"})
        EXPECT_EQ(parse_process_stat("42 (" + std::string(name) + ")" + tail),
                  (ProcessStat{.parent = 7, .own_ticks = 34, .waited_ticks = 560}))
            << name;
    for (const char* line :
         {"", "42 (sh)", "42 (sh) S 7", "42 (sh) S x 42 42 0 -1 1 1 1 1 1 1 1 1 1"})
        EXPECT_EQ(parse_process_stat(line), std::nullopt) << line;
}

TEST(ProcessTableTest, ReadsMemoryAndBusyTime) {
    EXPECT_EQ(
        parse_memory("Name:\tsh\nRssAnon:\t     200 kB\nRssFile:\t 999 kB\nRssShmem:\t 8 kB\n"),
        208 * 1024);
    EXPECT_EQ(parse_memory("Name:\tkthreadd\n"), 0);
    EXPECT_EQ(parse_busy_ticks("cpu  10 1 20 1000 500 2 3 4 9 9\ncpu0 1 1 1 1\n"), 40u);
    EXPECT_EQ(parse_busy_ticks("intr 1\n"), 0u);
    EXPECT_EQ(parse_memory_in_use("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   400 kB\n"),
              600 * 1024);
}

TEST(ProcessTableTest, FindsThisProcessAndWhatItHolds) {
    const ProcessTable table = read_process_table();
    const auto own = table.find(::getpid());
    ASSERT_NE(own, table.end());
    EXPECT_EQ(own->second.parent, ::getppid());
    const std::int64_t before = usage_of_tree(table, ::getpid()).memory_bytes;
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    void* const memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memset(memory, 1, kBytes);
    EXPECT_GT(usage_of_tree(table, ::getpid()).memory_bytes, before + 60 * 1024 * 1024);
    ::munmap(memory, kBytes);
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    EXPECT_EQ(process_of(pidfd.get()), ::getpid());
    EXPECT_EQ(process_of(-1), 0);
}

TEST(ProcessTableTest, ATreeHasWhatItsMembersHaveAndHaveWaitedFor) {
    // Ids beyond any real one: no memory is read.
    const ProcessTable table{{1'000'000'001, {.parent = 1, .own_ticks = 1, .waited_ticks = 10}},
                             {1'000'000'002, {.parent = 1'000'000'001, .own_ticks = 100}},
                             {1'000'000'003, {.parent = 1'000'000'002, .own_ticks = 1000}},
                             {1'000'000'004, {.parent = 1, .own_ticks = 10'000}}};
    const Duration tick = std::chrono::nanoseconds(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
    EXPECT_EQ(usage_of_tree(table, 1'000'000'001).cpu, 1111 * tick);
    EXPECT_EQ(usage_of_tree(table, 1'000'000'003).cpu, 1000 * tick);
    EXPECT_EQ(usage_of_tree(table, 1'000'000'009).cpu, Duration{});
}

}  // namespace
}  // namespace muster::runtime::process_table_test
