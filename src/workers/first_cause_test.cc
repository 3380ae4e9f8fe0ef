#include "workers/first_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace muster::workers::first_cause_test {
namespace {

using ::testing::HasSubstr;

constexpr WallTime at(int milliseconds) {
    return WallTime{std::chrono::seconds(1'700'000'000) + std::chrono::milliseconds(milliseconds)};
}
WorkerEnd exited(int rank, int code, int milliseconds, std::string error = {}) {
    WorkerEnd end;
    end.rank = end.local_rank = rank;
    end.pid = 100 + rank;
    end.exit_code = code;
    end.error = std::move(error);
    end.when = at(milliseconds);
    return end;
}
WorkerEnd killed(int rank, int signal, int milliseconds, bool memory = false) {
    WorkerEnd end = exited(rank, 0, milliseconds);
    end.exit_code = std::nullopt;
    end.signal = signal;
    end.out_of_memory = memory;
    return end;
}

TEST(FirstCause, IsTheEarliestAndThenTheLikeliest) {
    const struct {
        const char* what;
        std::vector<WorkerEnd> ends;
        std::optional<std::size_t> expected;
    } cases[] = {
        {"nobody", {}, std::nullopt},
        {"all is well", {exited(0, 0, 1), exited(1, 0, 2)}, std::nullopt},
        {"one", {exited(0, 1, 1)}, 0},
        {"a good end is no cause", {exited(0, 0, 1), exited(1, 1, 9)}, 1},
        {"the earlier", {exited(0, 1, 5), exited(1, 1, 4)}, 1},
        {"the earlier, also of a signal", {exited(0, 1, 5, "E"), killed(1, SIGKILL, 4)}, 1},
        {"memory before all", {killed(0, SIGSEGV, 5), killed(1, SIGKILL, 5, true)}, 1},
        {"its own fault before an error", {exited(0, 1, 5, "E"), killed(1, SIGSEGV, 5)}, 1},
        {"an error before a code", {exited(0, 1, 5), exited(1, 1, 5, "E")}, 1},
        {"a code before a kill", {killed(0, SIGTERM, 5), exited(1, 1, 5)}, 1},
        {"an abort is what losing peers makes", {killed(0, SIGABRT, 5), exited(1, 1, 5, "E")}, 1},
        {"an error before an earlier code", {exited(0, 1, 4), exited(1, 1, 5, "E")}, 1},
        {"an error before an earlier abort", {killed(0, SIGABRT, 4), exited(1, 1, 5, "E")}, 1},
        {"an error before an earlier lost connection",
         {exited(0, 1, 4, "RuntimeError: [..] Connection closed by peer [127.0.0.1]:4711"),
          exited(1, 1, 5, "ValueError: no such column")},
         1},
        {"a fault before a later error", {killed(0, SIGSEGV, 4), exited(1, 1, 5, "E")}, 0},
        {"only lost connections: the earlier",
         {exited(0, 1, 5, "Broken pipe"), exited(1, 1, 4, "Connection reset by peer")},
         1},
        {"the lower rank of equals", {exited(1, 1, 5), exited(0, 1, 5)}, 1},
    };
    for (const auto& c : cases) EXPECT_EQ(first_cause(c.ends), c.expected) << c.what;
}

TEST(FirstCause, StatusesAreNamed) {
    EXPECT_EQ(describe_status(exited(0, 3, 0)), "exit code 3");
    EXPECT_EQ(describe_status(killed(0, SIGSEGV, 0)), "SIGSEGV (exit code 139)");
    EXPECT_EQ(describe_status(killed(0, SIGKILL, 0, true)),
              "SIGKILL, out of memory (exit code 137)");
}

TEST(FailureReport, TellsTheCauseBeforeItsVictims) {
    std::vector<Failure> failures;
    failures.push_back({.end = killed(0, SIGABRT, 900)});
    failures.push_back({.end = exited(1, 1, 250, "ValueError: no such column"),
                        .traceback = "Traceback\n  line\nValueError: no such column\n"});
    failures[1].end.error_file = "/logs/1/error.json";
    failures[1].end.steps = 17;
    failures.push_back({.end = exited(2, 0, 100)});
    EXPECT_EQ(failure_report("train.py", "node-a", failures),
              "train.py failed. The cause:\n"
              "  rank 1 (local rank 1) on node-a: exit code 1\n"
              "    time       2023-11-14 22:13:20.250 UTC\n"
              "    pid        101\n"
              "    error file /logs/1/error.json\n"
              "    steps      17\n"
              "    Traceback\n"
              "      line\n"
              "    ValueError: no such column\n"
              "Other failures, probably caused by it:\n"
              "  rank 0 (local rank 0) on node-a: SIGABRT (exit code 134)\n"
              "    time       2023-11-14 22:13:20.900 UTC\n"
              "    pid        100\n");
    EXPECT_THAT(failure_report("x", "h", std::vector<Failure>{{.end = exited(0, 1, 1)}}),
                HasSubstr("It left no error file"));
    EXPECT_EQ(failure_report("x", "h", std::vector<Failure>{{.end = exited(0, 0, 1)}}), "");
}

}  // namespace
}  // namespace muster::workers::first_cause_test
