#include "cli/internal/fault_injection/fault_protocol.h"

#include <gmock/gmock.h>

#include <csignal>

namespace muster::cli::fault_protocol_test {
namespace {

using testing::HasSubstr;

RunPod pod(std::string job, std::string replica, std::string phase = "Running",
           std::string ns = "default", std::size_t run = 0) {
    return {.run = run,
            .namespace_ = std::move(ns),
            .job = job,
            .replica = replica,
            .type = replica.substr(0, replica.rfind('-')),
            .name = job + "-" + replica,
            .phase = std::move(phase)};
}

const std::vector<RunPod> kPods = {
    pod("digits", "master-0"),
    pod("digits", "worker-0"),
    pod("digits", "worker-1"),
    pod("digits", "worker-2", "Succeeded"),
    pod("solo", "worker-0"),
    pod("mpi", "launcher-a", "Failed"),
    pod("mpi", "launcher-b"),
    pod("mpi", "worker-0"),
    pod("over", "master-0", "Succeeded"),
    pod("twice", "worker-0", "Running", "ml"),
    pod("twice", "worker-0", "Running", "web"),
    pod("same", "worker-0", "Running", "default", 0),
    pod("same", "worker-0", "Running", "default", 1),
};

TEST(FaultProtocol, ThePodThatIsMeant) {
    struct Row {
        FaultTarget target;
        std::size_t place;
    };
    const Row kRows[] = {
        {{"", "digits", "worker-1"}, 2},
        {{"default", "digits", "worker-1"}, 2},
        {{"", "digits", "Worker-1"}, 2},
        {{"", "digits", "digits-worker-0"}, 1},
        {{"", "digits", "master"}, 0},
        {{"", "solo", ""}, 4},
        // A launcher that failed was followed by another.
        {{"", "mpi", "launcher"}, 6},
        {{"ml", "twice", "worker-0"}, 9},
    };
    for (const Row& row : kRows) {
        const auto chosen = choose_pod(kPods, row.target);
        ASSERT_TRUE(chosen) << row.target.job << ": " << chosen.error().message();
        EXPECT_EQ(*chosen, row.place) << row.target.job << " " << row.target.replica;
    }
}

TEST(FaultProtocol, WhatCantBeMeantSaysWhatThereIs) {
    struct Row {
        FaultTarget target;
        Code code;
        const char* told;
    };
    const Row kRows[] = {
        {{"", "digit", "worker-1"}, Code::kNotFound, "did you mean \"digits\"?"},
        {{"", "zebra", "worker-1"}, Code::kNotFound, "there are: digits, mpi, over, same, solo"},
        {{"ml", "digits", ""}, Code::kNotFound, "in namespace ml; there are: twice"},
        {{"none", "digits", ""}, Code::kNotFound, "no 'muster run' has a job here in namespace"},
        {{"", "digits", "worker-9"},
         Code::kNotFound,
         "no replica \"worker-9\"; it has: master-0, worker-0, worker-1, worker-2"},
        {{"", "digits", ""}, Code::kInvalid, "say which of master-0, worker-0, worker-1"},
        {{"", "digits", "worker"}, Code::kInvalid, "say which of worker-0, worker-1"},
        {{"", "digits", "worker-2"}, Code::kUnavailable, "worker-2 of job digits has ended (Succ"},
        {{"", "over", ""}, Code::kUnavailable, "has ended (Succeeded)"},
        {{"", "twice", ""}, Code::kInvalid, "namespaces ml, web: say which with --namespace"},
        {{"", "same", ""}, Code::kInvalid, "2 runs have a job \"same\""},
    };
    for (const Row& row : kRows) {
        const auto chosen = choose_pod(kPods, row.target);
        ASSERT_FALSE(chosen) << row.target.job;
        EXPECT_EQ(chosen.error().code(), row.code) << chosen.error().message();
        EXPECT_THAT(chosen.error().message(), HasSubstr(row.told));
    }
    EXPECT_THAT(choose_pod({}, {"", "digits", ""}).error().message(), HasSubstr("same TMPDIR"));
}

TEST(FaultProtocol, PodsAreKnownByTheirLabels) {
    const auto labelled = [](const char* name, json::object labels) {
        labels["training.kubeflow.org/job-name"] = "digits";
        return run_pod(json::object{
            {"metadata", {{"name", name}, {"namespace", "ml"}, {"labels", std::move(labels)}}},
            {"status", {{"phase", "Running"}}}});
    };
    const auto worker =
        labelled("digits-worker-1", {{"training.kubeflow.org/replica-type", "worker"},
                                     {"training.kubeflow.org/replica-index", "1"}});
    ASSERT_TRUE(worker);
    EXPECT_EQ(*worker, pod("digits", "worker-1", "Running", "ml"));
    const auto launcher =
        labelled("digits-launcher", {{"training.kubeflow.org/replica-type", "launcher"}});
    EXPECT_EQ(launcher->replica, "launcher");
    EXPECT_EQ(launcher->type, "launcher");
    const auto renamed = labelled("other", {{"training.kubeflow.org/replica-type", "worker"},
                                            {"training.kubeflow.org/replica-index", "4"}});
    EXPECT_EQ(renamed->replica, "worker-4");
    EXPECT_FALSE(run_pod(json::object{{"metadata", {{"name", "alone"}}}}));
}

TEST(FaultProtocol, Signals) {
    const std::pair<const char*, std::optional<int>> kRows[] = {
        {"KILL", SIGKILL},
        {"SIGTERM", SIGTERM},
        {"sigstop", SIGSTOP},
        {"9", 9},
        {"64", 64},
        {"0", std::nullopt},
        {"65", std::nullopt},
        {"-9", std::nullopt},
        {"", std::nullopt},
        {"SIG", std::nullopt},
        {"LOUD", std::nullopt},
        {"rtmin+1", SIGRTMIN + 1},
    };
    for (const auto& [text, signal] : kRows) EXPECT_EQ(parse_signal(text), signal) << text;
}

TEST(FaultProtocol, WhatIsSaidIsUnderstood) {
    EXPECT_EQ(*read_request(list_line()), std::nullopt);
    for (const FaultKind kind : {FaultKind::kKill, FaultKind::kPause, FaultKind::kPartition}) {
        const auto read = read_request(order_line({.kind = kind,
                                                   .namespace_ = "ml",
                                                   .pod = "digits-worker-1",
                                                   .signal = {.number = SIGTERM, .rank = 3}}));
        ASSERT_TRUE(read && *read);
        EXPECT_EQ((*read)->kind, kind);
        EXPECT_EQ((*read)->namespace_ + "/" + (*read)->pod, "ml/digits-worker-1");
        EXPECT_EQ((*read)->signal.rank, 3);
        if (kind == FaultKind::kKill) EXPECT_EQ((*read)->signal.number, SIGTERM);
    }
    EXPECT_EQ(read_answer(pods_line(kPods))->pods.at(9), kPods.at(9));
    EXPECT_EQ(read_answer(done_line(4711))->process, 4711);
    const auto refused = read_answer(error_line(Error(Code::kNotFound, "not here")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "not here");
}

TEST(FaultProtocol, WhatIsNotUnderstoodIsRefused) {
    for (const char* line : {"", "kill", "[]", "{}", R"({"verb":"hug"})"})
        EXPECT_FALSE(read_request(line)) << line;
    for (const char* line : {"", "1", R"({"pods":[1]})"}) EXPECT_FALSE(read_answer(line)) << line;
}

}  // namespace
}  // namespace muster::cli::fault_protocol_test
