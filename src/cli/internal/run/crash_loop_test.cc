#include "cli/internal/run/crash_loop.h"

#include <gmock/gmock.h>

namespace muster::cli::crash_loop_test {
namespace {

PodView pod_named(std::string name, std::string uid = "1") {
    PodView pod;
    pod.namespace_ = "default";
    pod.name = std::move(name);
    pod.uid = std::move(uid);
    return pod;
}

TerminationView exited(int code, double seconds = 1) {
    TerminationView end;
    end.exit_code = code;
    end.reason = "Error";
    end.seconds = seconds;
    return end;
}

TEST(CrashLoops, TheSameFailureAgainAndAgain) {
    CrashLoops loops;
    loops.note(pod_named("a", "1"), "main", exited(3));
    loops.note(pod_named("a", "2"), "main", exited(3, 5));
    EXPECT_EQ(loops.find(3), std::nullopt);
    // A pod that was made again is the same replica.
    loops.note(pod_named("a", "3"), "main", exited(3));
    const auto loop = loops.find(3);
    ASSERT_TRUE(loop);
    EXPECT_EQ(loop->pod, "a");
    EXPECT_EQ(loop->times, 3);
    EXPECT_EQ(loop->seconds, 5);
}

TEST(CrashLoops, WhatIsNoSuchLoop) {
    struct Case {
        const char* name;
        std::vector<TerminationView> ends;
    };
    TerminationView killed = exited(137);
    TerminationView lost;
    lost.signal = 9;
    const std::vector<Case> cases = {
        {"another failure", {exited(3), exited(3), exited(4), exited(3)}},
        {"one that made progress", {exited(3), exited(3), exited(3, 601), exited(3)}},
        {"killed by others", {killed, killed, killed, killed}},
        {"killed by others, as a signal", {lost, lost, lost}},
        {"killed in between", {exited(1), exited(1), killed, exited(1)}},
    };
    for (const Case& one : cases) {
        CrashLoops loops;
        for (const TerminationView& end : one.ends) loops.note(pod_named("a"), "main", end);
        EXPECT_EQ(loops.find(3), std::nullopt) << one.name;
    }
    CrashLoops apart;
    for (const char* name : {"a", "b", "c"}) apart.note(pod_named(name), "main", exited(1));
    for (const char* name : {"x", "y"}) apart.note(pod_named("a"), name, exited(1));
    EXPECT_EQ(apart.find(3), std::nullopt);
}

TEST(CrashLoops, MemoryThatRunsOutIsOne) {
    CrashLoops loops;
    TerminationView end = exited(137);
    end.reason = "OOMKilled";
    for (int i = 0; i < 3; ++i) loops.note(pod_named("a"), "main", end);
    EXPECT_TRUE(loops.find(3));
}

TEST(CrashLoops, AProgramThatCrashesIsOne) {
    CrashLoops loops;
    for (int i = 0; i < 3; ++i) loops.note(pod_named("a"), "main", exited(139));
    EXPECT_TRUE(loops.find(3));
}

}  // namespace
}  // namespace muster::cli::crash_loop_test
