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

namespace muster::cli::log_follower_test {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/ml/pods/p/log";
const kube::Query kQuery = {{"container", "c"}, {"follow", "true"}, {"timestamps", "true"}};
const kube::Query kPrevious = {{"container", "c"}, {"previous", "true"}, {"timestamps", "true"}};

kube::Query since(const char* time, kube::Query query = kQuery) {
    query.emplace_back("sinceTime", time);
    return query;
}

/// As a server sends them with stamps, which are all alike.
std::string stamped(std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
        text += "2026-01-02T03:04:05.1Z ";
        text += lines.substr(0, end);
        lines.remove_prefix(end);
    }
    return text;
}
constexpr const char* kSecondBefore = "2026-01-02T03:04:04Z";

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

PodView ended(PodView pod) {
    pod.containers[0].running = false;
    pod.containers[0].terminated = TerminationView{};
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

    /// One request whose answer is all of `log`, with stamps.
    void answer(const kube::Query& query, std::string_view log) {
        const auto stream = server.expect_text(kPath, query);
        stream->send(stamped(log));
        stream->end();
    }
    /// Reads the logs of a pod, and sees the end of its container.
    void follow_to_the_end(LogFollower& follower, const PodView& pod) {
        follower.observe(pod);
        run_until([this] { return server.finished(); });
        follower.observe(ended(pod));
        run_until([&] { return !follower.busy() && server.finished(); });
    }

    int descriptor = ::memfd_create("console", MFD_CLOEXEC);
    kube::FakeTransport server{context.get_executor()};
    kube::Client client{server};
    Console console{{.descriptor = descriptor, .color = false, .live = false, .quiet = false}};
    Signal changed{context.get_executor()};
    TaskGroup tasks{context.get_executor()};
    LogFollower logs{client, clock, tasks, console, changed, {}};
};

TEST_F(LogFollowerTest, ALogThatBreaksIsAskedForFromItsLastLinesOn) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send(
        "2026-01-02T03:04:05.1Z one\n2026-01-02T03:04:06.1Z two\n2026-01-02T03:04:06.2Z thr");
    first->fail(Error(Code::kTimeout, "the connection broke"));
    const kube::Query again = since("2026-01-02T03:04:05Z");
    server.expect_refused_text(kPath, again, Error(Code::kUnavailable, "it is away"));
    const auto second = server.expect_text(kPath, again);
    second->send("2026-01-02T03:04:05.1Z one\n2026-01-02T03:0");
    second->send("4:06.1Z two\n2026-01-02T03:04:06.2Z three\n2026-01-02T03:04:07Z four\n");
    second->end();
    follow_to_the_end(logs, pod_with(0));
    EXPECT_EQ(
        shown(),
        "p | one\np | two\n"
        "muster: the log of pod p can't be read now, it is tried again: the connection broke\n"
        "p | three\np | four\n");
}

TEST_F(LogFollowerTest, ALogThatANodeHasRotatedHidesNoNewLine) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("2026-01-02T03:04:05.1Z a long line\n2026-01-02T03:04:06.1Z and another\n");
    first->fail(Error(Code::kTimeout, "the connection broke"));
    const auto second = server.expect_text(kPath, since("2026-01-02T03:04:05Z"));
    second->send("2026-01-02T03:04:07Z new\n");
    second->end();
    follow_to_the_end(logs, pod_with(0));
    EXPECT_THAT(shown(), testing::EndsWith("\np | new\n"));
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
    first->send(stamped("one\n"));
    first->fail(Error(Code::kUnavailable, "the connection broke"));
    answer(since(kSecondBefore, kPrevious), "one\ntwo\n");
    answer(kQuery, "again\n");
    logs.observe(pod_with(0));
    settle();
    follow_to_the_end(logs, pod_with(1));
    EXPECT_THAT(shown(), testing::StartsWith("p | one\n"));
    EXPECT_THAT(shown(), testing::EndsWith("\np | two\np | again\n"));
}

TEST_F(LogFollowerTest, WhenItRestartsTwiceDuringABreakTheLastTwoAreRead) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send(stamped("one\n"));
    first->fail(Error(Code::kUnavailable, "the connection broke"));
    answer(kPrevious, "two\n");
    answer(kQuery, "three\n");
    logs.observe(pod_with(0));
    settle();
    follow_to_the_end(logs, pod_with(2));
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
    run_until([this] { return server.finished(); });
    logs.observe(waiting_to_restart(0));
    run_until([this] { return !logs.busy(); });
    logs.observe(waiting_to_restart(0));
    EXPECT_FALSE(logs.busy());
    EXPECT_EQ(shown(), "p | one\n");
}

TEST_F(LogFollowerTest, AnInstanceThatNobodySawRunIsRead) {
    answer(kQuery, "one\n");
    follow_to_the_end(logs, pod_with(0));
    answer(kQuery, "two\n");
    logs.observe(waiting_to_restart(1));
    run_until([this] { return !logs.busy() && server.finished(); });
    EXPECT_EQ(shown(), "p | one\np | two\n");
}

TEST_F(LogFollowerTest, AnInstanceThatEndedBeforeItWasSeenIsReadFirst) {
    answer(kPrevious, "one\n");
    answer(kQuery, "two\n");
    follow_to_the_end(logs, pod_with(1));
    EXPECT_EQ(shown(), "p | one\np | two\n");
    EXPECT_THAT(logs.last_lines("u", "c", 0), testing::ElementsAre("one"));
    EXPECT_THAT(logs.last_lines("u", "c", 1), testing::ElementsAre("two"));
}

TEST_F(LogFollowerTest, WhatIsGoneIsTold) {
    answer(kPrevious, "three\n");
    answer(kQuery, "four\n");
    follow_to_the_end(logs, pod_with(3));
    EXPECT_EQ(shown(),
              "muster: p started 2 more times than could be followed; what it wrote then isn't "
              "shown\np | three\np | four\n");
}

TEST_F(LogFollowerTest, TheLastLinesAreOfOneInstanceAndAsATerminalShowsThem) {
    answer(kQuery, "begin\n10%\r20%\r30%\nerror\n");
    follow_to_the_end(logs, pod_with(0));
    answer(kQuery, "again\n");
    follow_to_the_end(logs, pod_with(1));
    EXPECT_THAT(logs.last_lines("u", "c", 0), testing::ElementsAre("begin", "30%", "error"));
    EXPECT_THAT(logs.last_lines("u", "c", 1), testing::ElementsAre("again"));
    EXPECT_THAT(logs.last_lines("u", "c", 2), testing::IsEmpty());
}

TEST_F(LogFollowerTest, AFileHasTheInstancesOfOneRunAndNothingOfTheRunBefore) {
    std::string directory = testing::TempDir() + "muster-logs-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::filesystem::path file = directory + "/ml_p.log";
    const auto instance = [&](LogFollower& follower, int restarts) {
        answer(kQuery, fmt::format("instance {}\n", restarts));
        follow_to_the_end(follower, pod_with(restarts));
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
    answer(kQuery, "logged\n");
    follow_to_the_end(follower, pod_with(0));
    std::ifstream kept(mine);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "mine");
    EXPECT_TRUE(
        std::filesystem::is_regular_file(std::filesystem::symlink_status(directory + "/ml_p.log")));
    std::filesystem::remove_all(directory);
}

TEST_F(LogFollowerTest, PodsAreCalledByTheirRanks) {
    LogFollower ranks(client, clock, tasks, console, changed, {.directory = {}, .ranks = true});
    answer(kQuery, "one\n");
    PodView pod = pod_with(0);
    pod.replica_type = "worker";
    pod.replica_index = "3";
    follow_to_the_end(ranks, pod);
    EXPECT_EQ(shown(), "worker-3 | one\n");
}

TEST_F(LogFollowerTest, ALogThatANodeClosesIsReadOnWhileItsContainerRuns) {
    const auto first = server.expect_text(kPath, kQuery);
    first->send("2026-01-02T03:04:05.1Z one\n");
    first->end();
    const auto second = server.expect_text(kPath, since("2026-01-02T03:04:04Z"));
    second->send("2026-01-02T03:04:05.1Z one\n2026-01-02T03:04:09Z two\n");
    second->end();
    logs.observe(pod_with(0));
    run_until([this] { return server.finished(); });
    settle();
    EXPECT_TRUE(logs.busy()) << "it may have been closed again";
    logs.observe(ended(pod_with(0)));
    run_until([this] { return !logs.busy(); });
    EXPECT_EQ(shown(), "p | one\np | two\n");
}

TEST_F(LogFollowerTest, ALogOfAPodThatIsGoneHasEnded) {
    const auto first = server.expect_text(kPath, kQuery);
    first->end();
    logs.observe(pod_with(0));
    settle();
    EXPECT_TRUE(logs.busy());
    const Instant before = clock.now();
    logs.forget(pod_with(0));
    run_until([this] { return !logs.busy(); });
    EXPECT_LT(clock.now() - before, std::chrono::seconds(1));
}

}  // namespace
}  // namespace muster::cli::log_follower_test
