#include "cli/internal/run/log_follower.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "kube/transport/fake_transport.h"

namespace muster::cli {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/ml/pods/p/log";
const kube::Query kQuery = {{"container", "c"}, {"follow", "true"}};
const kube::Query kPrevious = {{"container", "c"}, {"previous", "true"}};

PodView pod_with(int restarts, bool running = true) {
    PodView pod;
    pod.namespace_ = "ml";
    pod.name = "p";
    pod.uid = "u";
    ContainerView container;
    container.name = "c";
    container.restarts = restarts;
    container.running = running;
    pod.containers.push_back(container);
    return pod;
}

class LogFollowerTest : public testing::Test, protected SimulatedLoop {
  protected:
    ~LogFollowerTest() override {
        await(tasks.stop());
        ::close(descriptor);
    }
    std::string shown() const {
        std::string text(100'000, '\0');
        const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
        return text;
    }

    /// One request whose answer is all of `log`.
    void answer(const kube::Query& query, std::string log) {
        const auto stream = server.expect_text(kPath, query);
        stream->send(std::move(log));
        stream->end();
    }

    int descriptor = ::memfd_create("console", MFD_CLOEXEC);
    kube::FakeTransport server{context.get_executor()};
    kube::Client client{server};
    Console console{{.descriptor = descriptor, .color = false, .live = false, .quiet = false}};
    Signal changed{context.get_executor()};
    TaskGroup tasks{context.get_executor()};
    LogFollower logs{client, clock, tasks, console, changed, {}};
};

TEST_F(LogFollowerTest, GoesOnBehindWhatWasShownWhenTheConnectionBreaks) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("one\ntwo\nthr");
    first->fail(Error(Code::kTimeout, "the connection broke"));
    server.expect_refused_text(kPath, kQuery, Error(Code::kUnavailable, "nobody answers"));
    const auto second = server.expect_text(kPath, kQuery);
    second->send("one\ntw");
    second->send("o\nthree\nfour\n");
    second->end();
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_EQ(
        shown(),
        "p | one\np | two\n"
        "muster: the log of pod p can't be read now, it is tried again: the connection broke\n"
        "p | three\np | four\n");
}

TEST_F(LogFollowerTest, WhatCanNotBeHadIsToldOnce) {
    for (int i = 0; i < 2; ++i)
        server.expect_refused_text(kPath, kQuery,
                                   Error(Code::kBadRequest, "pod p has no host assigned"));
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    logs.observe(pod_with(1));
    run_until([this] { return !logs.busy(); });
    EXPECT_TRUE(server.finished());
    EXPECT_EQ(shown(), "muster: the log of pod p can't be read: pod p has no host assigned\n");
}

TEST_F(LogFollowerTest, AFaultIsToldAndHoldsUpNothing) {
    const TaskFault fault("log of p");
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    EXPECT_EQ(fault.hits(), 1u);
    EXPECT_THAT(shown(), testing::HasSubstr("the log of pod p can't be read: an internal error"));
}

TEST_F(LogFollowerTest, ThePodThatIsGoneHasBeenToldAlready) {
    server.expect_refused_text(kPath, kQuery, Error(Code::kNotFound, "pods \"p\" not found"));
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    EXPECT_EQ(shown(), "");
}

TEST_F(LogFollowerTest, WhenItRestartsDuringABreakTheRestOfItsLogAndAllOfTheNextAreRead) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("one\n");
    first->fail(Error(Code::kUnavailable, "the connection broke"));
    answer(kPrevious, "one\ntwo\n");
    answer(kQuery, "again\n");
    logs.observe(pod_with(0));
    settle();
    logs.observe(pod_with(1));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_THAT(shown(), testing::StartsWith("p | one\n"));
    EXPECT_THAT(shown(), testing::EndsWith("\np | two\np | again\n"));
}

TEST_F(LogFollowerTest, WhenItRestartsTwiceDuringABreakTheLastTwoAreRead) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("one\n");
    first->fail(Error(Code::kUnavailable, "the connection broke"));
    answer(kPrevious, "two\n");
    answer(kQuery, "three\n");
    logs.observe(pod_with(0));
    settle();
    logs.observe(pod_with(2));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_THAT(shown(), testing::EndsWith("\np | two\np | three\n"));
}

PodView waiting_to_restart(int restarts) {
    PodView pod = pod_with(restarts, false);
    pod.containers[0].waiting_reason = "CrashLoopBackOff";
    pod.containers[0].last_terminated = TerminationView{3, 0, "Error", ""};
    return pod;
}

TEST_F(LogFollowerTest, TheInstanceThatIsYetToStartIsNotRead) {
    answer(kQuery, "one\n");
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    logs.observe(waiting_to_restart(0));
    EXPECT_FALSE(logs.busy());
    EXPECT_EQ(shown(), "p | one\n");
}

TEST_F(LogFollowerTest, AnInstanceThatNobodySawRunIsRead) {
    answer(kQuery, "one\n");
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    answer(kQuery, "two\n");
    logs.observe(waiting_to_restart(1));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_EQ(shown(), "p | one\np | two\n");
}

TEST_F(LogFollowerTest, AnInstanceThatEndedBeforeItWasSeenIsReadFirst) {
    answer(kPrevious, "one\n");
    answer(kQuery, "two\n");
    logs.observe(pod_with(1));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_EQ(shown(), "p | one\np | two\n");
    EXPECT_THAT(logs.last_lines("u", "c", 0), testing::ElementsAre("one"));
    EXPECT_THAT(logs.last_lines("u", "c", 1), testing::ElementsAre("two"));
}

TEST_F(LogFollowerTest, WhatIsGoneIsTold) {
    answer(kPrevious, "three\n");
    answer(kQuery, "four\n");
    logs.observe(pod_with(3));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_EQ(shown(),
              "muster: p started 2 more times than could be followed; what it wrote then isn't "
              "shown\np | three\np | four\n");
}

TEST_F(LogFollowerTest, TheLastLinesAreOfOneInstanceAndAsATerminalShowsThem) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("begin\n10%\r20%\r30%\nerror\n");
    first->end();
    logs.observe(pod_with(0));
    run_until([this] { return !logs.busy(); });
    const auto second = server.expect_text(kPath, kQuery);
    second->send("again\n");
    second->end();
    logs.observe(pod_with(1));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_THAT(logs.last_lines("u", "c", 0), testing::ElementsAre("begin", "30%", "error"));
    EXPECT_THAT(logs.last_lines("u", "c", 1), testing::ElementsAre("again"));
    EXPECT_THAT(logs.last_lines("u", "c", 2), testing::IsEmpty());
}

TEST_F(LogFollowerTest, AFileHasTheInstancesOfOneRunAndNothingOfTheRunBefore) {
    std::string directory = testing::TempDir() + "muster-logs-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::filesystem::path file = directory + "/ml_p.log";
    const auto instance = [&](LogFollower& follower, int restarts) {
        const auto log = server.expect_text(kPath, kQuery);
        log->send(fmt::format("instance {}\n", restarts));
        log->end();
        follower.observe(pod_with(restarts));
        run_until([&] { return !follower.busy() && server.finished(); });
    };
    for (const int runs : {1, 2}) {
        LogFollower follower(client, clock, tasks, console, changed, {.directory = directory});
        instance(follower, 0);
        instance(follower, 1);
        std::ifstream kept(file);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "instance 0\ninstance 1\n")
            << "run " << runs;
    }
    std::filesystem::remove_all(directory);
}

TEST_F(LogFollowerTest, AFileReplacesALinkAndDoesNotFollowIt) {
    std::string directory = testing::TempDir() + "muster-logs-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::filesystem::path mine = directory + "/mine";
    std::ofstream(mine) << "mine";
    std::filesystem::create_symlink(mine, directory + "/ml_p.log");
    LogFollower follower(client, clock, tasks, console, changed, {.directory = directory});
    const auto log = server.expect_text(kPath, kQuery);
    log->send("logged\n");
    log->end();
    follower.observe(pod_with(0));
    run_until([&] { return !follower.busy() && server.finished(); });
    std::ifstream kept(mine);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "mine");
    EXPECT_TRUE(
        std::filesystem::is_regular_file(std::filesystem::symlink_status(directory + "/ml_p.log")));
    std::filesystem::remove_all(directory);
}

const kube::Query kStamped = {{"container", "c"}, {"follow", "true"}, {"timestamps", "true"}};

kube::Query stamped_since(const char* time) {
    kube::Query query = kStamped;
    query.emplace_back("sinceTime", time);
    return query;
}

/// The logs of a step in a pipeline.
class StepLogs : public LogFollowerTest {
  protected:
    ~StepLogs() override { await(tasks.stop()); }
    LogFollower step_logs{client,  clock,   tasks,
                          console, changed, {.directory = {}, .bookmarks = true, .ranks = true}};
};

PodView ended(PodView pod) {
    pod.containers[0].running = false;
    pod.containers[0].terminated = TerminationView{};
    return pod;
}

TEST_F(StepLogs, ALogThatBreaksIsAskedForFromItsLastLinesOn) {
    const auto first = server.expect_text(kPath, kStamped);
    first->send(
        "2026-01-02T03:04:05.1Z one\n2026-01-02T03:04:06.1Z two\n2026-01-02T03:04:06.2Z th");
    first->fail(Error(Code::kUnavailable, "the connection broke"));
    const auto second = server.expect_text(kPath, stamped_since("2026-01-02T03:04:05Z"));
    second->send(
        "2026-01-02T03:04:05.1Z one\n2026-01-02T03:04:06.1Z two\n2026-01-02T03:04:06.2Z three\n");
    second->end();
    PodView pod = pod_with(0);
    pod.replica_type = "worker";
    pod.replica_index = "3";
    step_logs.observe(pod);
    run_until([this] { return server.finished(); });
    step_logs.observe(ended(pod));
    run_until([this] { return !step_logs.busy(); });
    EXPECT_EQ(shown(),
              "worker-3 | one\nworker-3 | two\n"
              "muster: the log of pod worker-3 can't be read now, it is tried again: the "
              "connection broke\n"
              "worker-3 | three\n");
}

TEST_F(StepLogs, ALogThatANodeClosesIsReadOnWhileItsContainerRuns) {
    const auto first = server.expect_text(kPath, kStamped);
    first->send("2026-01-02T03:04:05.1Z one\n");
    first->end();
    const auto second = server.expect_text(kPath, stamped_since("2026-01-02T03:04:04Z"));
    second->send("2026-01-02T03:04:05.1Z one\n2026-01-02T03:04:09Z two\n");
    second->end();
    step_logs.observe(pod_with(0));
    run_until([this] { return server.finished(); });
    settle();
    EXPECT_TRUE(step_logs.busy()) << "it may have been closed again";
    step_logs.observe(ended(pod_with(0)));
    run_until([this] { return !step_logs.busy(); });
    EXPECT_EQ(shown(), "p | one\np | two\n");
}

TEST_F(StepLogs, ALogOfAPodThatIsGoneHasEnded) {
    const auto first = server.expect_text(kPath, kStamped);
    first->end();
    step_logs.observe(pod_with(0));
    settle();
    EXPECT_TRUE(step_logs.busy());
    const Instant before = clock.now();
    step_logs.forget(pod_with(0));
    run_until([this] { return !step_logs.busy(); });
    EXPECT_LT(clock.now() - before, std::chrono::seconds(1));
}

}  // namespace
}  // namespace muster::cli
