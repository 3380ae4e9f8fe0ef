#include "cli/internal/run/event_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "cli/internal/run/line_splitter.h"
#include "cli/internal/run/run_history.h"

namespace muster::cli::event_text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PodView pod(std::string phase, ContainerView container = {}) {
    PodView view;
    view.namespace_ = "default";
    view.name = "d-worker-0";
    view.uid = "u1";
    view.owner_uid = "job";
    view.phase = std::move(phase);
    view.scheduled = true;
    container.name = "pytorch";
    view.containers = {std::move(container)};
    return view;
}
ContainerView running(int restarts = 0) {
    ContainerView view;
    view.running = true;
    view.restarts = restarts;
    return view;
}
ContainerView ended(int code, int restarts = 0, int signal = 0) {
    ContainerView view;
    view.terminated = TerminationView{code, signal, code == 0 ? "Completed" : "Error", ""};
    view.restarts = restarts;
    return view;
}
std::vector<std::string> texts(const std::vector<Told>& told) {
    std::vector<std::string> all;
    for (const Told& one : told) all.push_back(one.text);
    return all;
}

TEST(EventText, TellsEachStepOnce) {
    PodView created = pod("Pending");
    created.scheduled = false;
    PodView scheduled = pod("Pending");
    PodView started = pod("Running", running());
    PodView done = pod("Succeeded", ended(0));
    EXPECT_THAT(tell_pod(nullptr, &created), IsEmpty());
    EXPECT_THAT(texts(tell_pod(&created, &scheduled)), ElementsAre("pod d-worker-0 scheduled"));
    EXPECT_THAT(texts(tell_pod(&scheduled, &started)), ElementsAre("pod d-worker-0 started"));
    EXPECT_THAT(tell_pod(&started, &started), IsEmpty());
    EXPECT_THAT(texts(tell_pod(&started, &done)), ElementsAre("pod d-worker-0 finished"));
    EXPECT_THAT(tell_pod(&done, nullptr), IsEmpty());
}

TEST(EventText, SeveralStepsInOneUpdateComeInOrder) {
    PodView done = pod("Failed", ended(3));
    EXPECT_THAT(texts(tell_pod(nullptr, &done)),
                ElementsAre("pod d-worker-0 scheduled", "pod d-worker-0 started",
                            "pod d-worker-0 failed: it exited with code 3"));
}

TEST(EventText, RestartsSayWhy) {
    PodView before = pod("Running", running());
    ContainerView again = running(1);
    again.last_terminated = TerminationView{137, 9, "OOMKilled", ""};
    PodView after = pod("Running", again);
    EXPECT_THAT(
        texts(tell_pod(&before, &after)),
        ElementsAre("pod d-worker-0 restarted (restart 1): it was killed by SIGKILL (OOMKilled)"));
}

TEST(EventText, AnotherPodOfTheSameNameIsNew) {
    PodView before = pod("Failed", ended(1));
    PodView after = pod("Running", running());
    after.uid = "u2";
    EXPECT_THAT(texts(tell_pod(&before, &after)),
                ElementsAre("pod d-worker-0 scheduled", "pod d-worker-0 started"));
}

TEST(EventText, WaitsThatNeedAttentionAreTold) {
    ContainerView waiting;
    waiting.waiting_reason = "CreateContainerConfigError";
    waiting.waiting_message = "secret \"s\" not found";
    PodView before = pod("Pending");
    PodView after = pod("Pending", waiting);
    EXPECT_THAT(
        texts(tell_pod(&before, &after)),
        ElementsAre("pod d-worker-0 waits: CreateContainerConfigError: secret \"s\" not found"));
    EXPECT_THAT(tell_pod(&after, &after), IsEmpty());
}

TEST(EventText, AnImageThatCanNotBePulledIsToldOnce) {
    ContainerView waiting;
    waiting.waiting_reason = "ErrImagePull";
    waiting.waiting_message = "not found";
    const PodView tried = pod("Pending", waiting);
    waiting.waiting_reason = "ImagePullBackOff";
    waiting.waiting_message = "Back-off pulling image";
    const PodView waits = pod("Pending", waiting);
    const PodView before = pod("Pending");
    EXPECT_THAT(texts(tell_pod(&before, &tried)),
                ElementsAre("pod d-worker-0 waits: ErrImagePull: not found"));
    EXPECT_THAT(tell_pod(&tried, &waits), IsEmpty());
    EXPECT_THAT(tell_pod(&waits, &tried), IsEmpty());
    EXPECT_THAT(texts(tell_pod(&before, &waits)),
                ElementsAre("pod d-worker-0 waits: ImagePullBackOff: Back-off pulling image"));
}

TEST(EventText, Durations) {
    EXPECT_EQ(tell_duration(0.351), "0.35 s");
    EXPECT_EQ(tell_duration(12.34), "12.3 s");
    EXPECT_EQ(tell_duration(245.2), "4 min 5 s");
    EXPECT_EQ(tell_duration(7384), "2 h 3 min");
}

JobView job(std::string type) {
    JobView view;
    view.kind = "PyTorchJob";
    view.namespace_ = "default";
    view.name = "d";
    view.uid = "job";
    view.conditions = {{.type = std::move(type), .is_true = true, .reason = "R", .message = "m"}};
    return view;
}

TEST(RunHistory, TheFirstUnrepairedFailureIsTheCulprit) {
    RunHistory history;
    auto other = [](PodView view, std::string name) {
        view.name = view.uid = std::move(name);
        return view;
    };
    // a fails and is repaired by a restart; b fails for good, then c because of b.
    PodView a1 = other(pod("Running", running()), "a");
    PodView a2 = other(pod("Running", ended(7)), "a");
    ContainerView again = running(1);
    again.last_terminated = a2.containers[0].terminated;
    PodView a3 = other(pod("Running", again), "a");
    PodView b = other(pod("Failed", ended(3)), "b");
    PodView c = other(pod("Failed", ended(1)), "c");
    history.pod_changed(nullptr, &a1);
    history.pod_changed(&a1, &a2);
    history.pod_changed(&a2, &a3);
    history.pod_changed(nullptr, &b);
    history.pod_changed(nullptr, &c);
    history.event_changed({.namespace_ = "",
                           .kind = "Pod",
                           .name = "b",
                           .uid = "b",
                           .warning = true,
                           .reason = "W",
                           .message = "w"});
    Verdict verdict = history.verdict(job("Failed"));
    ASSERT_TRUE(verdict.failure);
    EXPECT_EQ(verdict.failure->pod, "b");
    EXPECT_EQ(verdict.exit_code, 3);
    EXPECT_EQ(verdict.restarts, 1);
    EXPECT_EQ(verdict.event, "W: w");
    EXPECT_THAT(
        texts(tell_verdict(verdict, {"last"})),
        ElementsAre("PyTorchJob default/d failed after 0.00 s, 1 restart", "  because: R: m",
                    "  first to fail: pod b, container pytorch exited with code 3",
                    "  its last lines:", "    | last", "  last warning: W: w"));
}

TEST(RunHistory, AnEndIsCountedOnceWhetherItIsSeenAsStateOrAsPause) {
    ContainerView waits = running(1);
    waits.running = false;
    waits.waiting_reason = "CrashLoopBackOff";
    waits.last_terminated = ended(3).terminated;
    ContainerView again = running(2);
    again.last_terminated = waits.last_terminated;
    ContainerView state = ended(3);
    state.restarts = 1;
    const std::vector<std::vector<ContainerView>> ways = {
        {running(1), waits, again}, {running(1), state, waits, again}, {running(1), state, again}};
    for (const std::vector<ContainerView>& way : ways) {
        RunHistory history;
        std::optional<PodView> before;
        for (const ContainerView& container : way) {
            const PodView now = pod("Running", container);
            history.pod_changed(before ? &*before : nullptr, &now);
            before = now;
        }
        EXPECT_TRUE(history.crash_loop(1)) << way.size();
        EXPECT_FALSE(history.crash_loop(2)) << way.size();
    }
    // Two ends in one change.
    RunHistory history;
    const PodView first = pod("Running", running());
    const PodView second = pod("Running", waits);
    history.pod_changed(nullptr, &first);
    history.pod_changed(&first, &second);
    EXPECT_TRUE(history.crash_loop(2));
}

/// A pod of two containers, the job's own first.
PodView two(std::string phase, ContainerView own, ContainerView other) {
    PodView view = pod(std::move(phase), std::move(own));
    view.restart_policy = "Never";
    view.containers[0].main = true;
    other.name = "shipper";
    view.containers.push_back(std::move(other));
    return view;
}

TEST(RunHistory, TheJobsOwnContainerDecides) {
    RunHistory history;
    PodView first = two("Running", running(), ended(1));
    PodView both = two("Failed", ended(3), ended(1));
    history.pod_changed(nullptr, &first);
    history.pod_changed(&first, &both);
    const Verdict verdict = history.verdict(job("Failed"));
    EXPECT_EQ(verdict.exit_code, 3);
    EXPECT_THAT(texts(tell_verdict(verdict, {})),
                ElementsAre(HasSubstr("failed after"), "  because: R: m",
                            "  first to fail: pod d-worker-0, container shipper exited with code 1",
                            "  decided by: pod d-worker-0, container pytorch exited with code 3"));
}

TEST(RunHistory, ARepairedContainerIsNotTheOneThatDecided) {
    RunHistory history;
    PodView start = two("Running", running(), ended(1));
    ContainerView again = running(1);
    again.last_terminated = ended(1).terminated;
    PodView repaired = two("Running", running(), again);
    PodView failed = two("Running", ended(4), again);
    history.pod_changed(nullptr, &start);
    history.pod_changed(&start, &repaired);
    history.pod_changed(&repaired, &failed);
    EXPECT_EQ(history.verdict(job("Failed")).exit_code, 4);
}

TEST(RunHistory, OfOneContainerTheLastFailureDecided) {
    RunHistory history;
    PodView first = pod("Running", ended(7));
    ContainerView again = running(1);
    again.last_terminated = ended(7).terminated;
    PodView between = pod("Running", again);
    PodView failed = pod("Failed", ended(3, 1));
    history.pod_changed(nullptr, &first);
    history.pod_changed(&first, &between);
    history.pod_changed(&between, &failed);
    const Verdict verdict = history.verdict(job("Failed"));
    EXPECT_EQ(verdict.exit_code, 3);
    EXPECT_EQ(verdict.failure->instance, 1);
    EXPECT_FALSE(verdict.earlier);
}

TEST(RunHistory, ASidecarThatIsStoppedAfterTheOthersHasNotFailed) {
    RunHistory history;
    PodView done = pod("Succeeded", ended(0));
    ContainerView sidecar = ended(143);
    sidecar.name = "side";
    sidecar.init = sidecar.sidecar = true;
    done.containers.insert(done.containers.begin(), sidecar);
    history.pod_changed(nullptr, &done);
    EXPECT_FALSE(history.verdict(job("Failed")).failure);
}

TEST(RunHistory, AWarningThatOnlyRepeatsTheFailureIsLeftOut) {
    RunHistory history;
    PodView failed = pod("Failed", ended(1));
    history.pod_changed(nullptr, &failed);
    const auto warn = [&](std::string reason, std::string message) {
        history.event_changed({.namespace_ = "",
                               .kind = "PyTorchJob",
                               .name = "d",
                               .uid = "job",
                               .warning = true,
                               .reason = std::move(reason),
                               .message = std::move(message)});
    };
    warn("Error", "Error pod d-worker-0 container pytorch exitCode: 1 terminated message: ");
    EXPECT_EQ(history.verdict(job("Failed")).event, "");
    // A condition says the same. ElasticJobs have upstream's reasons.
    warn("PyTorchJobUnschedulable", "1 of 2 Worker pods can't be scheduled");
    EXPECT_EQ(history.verdict(job("Failed")).event, "");
    warn("JobUnschedulable", "1 of 2 worker pods can't be scheduled");
    EXPECT_EQ(history.verdict(job("Failed")).event, "");
    warn("NotEnforced", "spec.hostPID");
    EXPECT_EQ(history.verdict(job("Failed")).event, "");
    warn("Alone", "");
    EXPECT_EQ(history.verdict(job("Failed")).event, "Alone");
}

EventView killed_for_memory(std::string uid, std::string container) {
    return {.namespace_ = "",
            .kind = "Pod",
            .name = "d-worker-0",
            .uid = std::move(uid),
            .warning = true,
            .reason = "OOMKilling",
            .message = "The kernel killed processes",
            .count = 1,
            .container = std::move(container)};
}

TEST(RunHistory, AKillForMemoryIsInTheVerdictWhoeverSurvivesIt) {
    RunHistory history;
    // A rank dies in a worker, which lives on; mpirun fails, and then the worker is deleted.
    PodView worker = pod("Running", running());
    worker.containers[0].memory_limit = "48Mi";
    PodView launcher = pod("Running", running());
    launcher.uid = "u2";
    launcher.name = "d-launcher";
    PodView failed = launcher;
    failed.phase = "Failed";
    failed.containers = pod("Failed", ended(1)).containers;
    history.pod_changed(nullptr, &worker);
    history.pod_changed(nullptr, &launcher);
    history.event_changed(killed_for_memory("u1", "pytorch"));
    history.event_changed(killed_for_memory("u1", "pytorch"));
    history.event_changed(killed_for_memory("of another job", "pytorch"));
    history.pod_changed(&launcher, &failed);
    history.pod_changed(&worker, nullptr);
    const std::string line =
        "  out of memory: pod d-worker-0, container pytorch (its limit is 48Mi)";
    const Verdict verdict = history.verdict(job("Failed"));
    EXPECT_EQ(verdict.exit_code, 1);
    EXPECT_THAT(texts(tell_verdict(verdict, {"said"})),
                ElementsAre(HasSubstr("failed after"), HasSubstr("because"),
                            "  first to fail: pod d-launcher, container pytorch exited with code 1",
                            "  its last lines:", "    | said", line));
    EXPECT_THAT(texts(tell_verdict(history.verdict(job("Succeeded")), {})),
                ElementsAre(HasSubstr("succeeded after"), line));
    EXPECT_THAT(texts(tell_verdict(history.verdict(worker), {})),
                ElementsAre(HasSubstr("Pod default/d-worker-0"), line));
}

TEST(RunHistory, AContainerThatEndedForMemoryIsToldOnce) {
    const auto out_of_memory = [](int restarts) {
        ContainerView view = ended(137, restarts);
        view.terminated->reason = "OOMKilled";
        view.terminated->memory_limit = view.memory_limit = "64Mi";
        return view;
    };
    RunHistory history;
    PodView runs = pod("Running", running());
    PodView failed = pod("Failed", out_of_memory(0));
    history.pod_changed(nullptr, &runs);
    history.event_changed(killed_for_memory("u1", "pytorch"));
    history.pod_changed(&runs, &failed);
    EXPECT_THAT(history.verdict(job("Failed")).out_of_memory, IsEmpty())
        << "the first to fail says it";
    // One that a restart made up for, and one that ended while its pod was deleted, are told.
    PodView leaving = failed;
    leaving.uid = "u2";
    leaving.name = "d-worker-1";
    leaving.deleting = true;
    PodView again = pod("Succeeded", ended(0, 1));
    again.uid = "u3";
    again.name = "d-worker-2";
    again.containers[0].last_terminated = out_of_memory(0).terminated;
    history.pod_changed(nullptr, &leaving);
    history.pod_changed(nullptr, &again);
    const std::vector<OutOfMemory> found = history.verdict(job("Failed")).out_of_memory;
    EXPECT_THAT(found, ElementsAre(OutOfMemory{"d-worker-1", "pytorch", "64Mi"},
                                   OutOfMemory{"d-worker-2", "pytorch", ""}));
}

TEST(RunHistory, ManyContainersThatRanOutOfMemoryAreCounted) {
    Verdict verdict;
    verdict.succeeded = true;
    for (int i = 0; i < 23; ++i) verdict.out_of_memory.push_back({fmt::format("p{}", i), "", ""});
    const std::vector<std::string> told = texts(tell_verdict(verdict, {}));
    ASSERT_EQ(told.size(), 22u);
    EXPECT_EQ(told[20], "  out of memory: pod p19");
    EXPECT_EQ(told[21], "  out of memory: 3 more");
}

TEST(EventView, KnowsTheContainerThatItIsAbout) {
    const auto container = [](std::string_view field) {
        return event_view(json::parse(fmt::format(
                              R"({{"involvedObject":{{"kind":"Pod","fieldPath":"{}"}}}})", field)))
            ->container;
    };
    EXPECT_EQ(container("spec.containers{main}"), "main");
    EXPECT_EQ(container("spec.initContainers{first}"), "first");
    for (const char* other : {"", "spec", "{", "}{", "spec.containers{main"})
        EXPECT_EQ(container(other), "") << other;
}

TEST(RunHistory, ASuccessHasNoCulprit) {
    RunHistory history;
    PodView failed = pod("Failed", ended(1));
    history.pod_changed(nullptr, &failed);
    Verdict verdict = history.verdict(job("Succeeded"));
    EXPECT_EQ(verdict.exit_code, 0);
    EXPECT_THAT(texts(tell_verdict(verdict, {})), ElementsAre(HasSubstr("succeeded after")));
}

// A deadline stops what runs; nothing failed.
TEST(RunHistory, WhatIsStoppedHasNotFailed) {
    RunHistory history;
    PodView before = pod("Running", running());
    PodView stopping = before;
    stopping.deleting = true;
    PodView stopped = pod("Failed", ended(143));
    stopped.deleting = true;
    history.pod_changed(nullptr, &before);
    history.pod_changed(&before, &stopping);
    history.pod_changed(&stopping, &stopped);
    const Verdict verdict = history.verdict(job("Failed"));
    EXPECT_FALSE(verdict.failure);
    EXPECT_EQ(verdict.exit_code, 1);
}

TEST(RunHistory, ARestartOfAllPodsIsOne) {
    JobView view = job("Succeeded");
    view.group_restarts = 2;
    EXPECT_THAT(texts(tell_verdict(RunHistory().verdict(view), {})),
                ElementsAre(HasSubstr(", 2 restarts of all its pods")));
}

TEST(RunHistory, APodMadeAgainIsARestart) {
    RunHistory history;
    PodView first = pod("Failed", ended(137, 0, 9));
    PodView second = pod("Running", running());
    second.uid = "u2";
    history.pod_changed(nullptr, &first);
    history.pod_changed(&first, nullptr);
    history.pod_changed(nullptr, &second);
    EXPECT_EQ(history.restarts("job"), 1);
    EXPECT_EQ(history.verdict(job("Failed")).exit_code, 137);
}

TEST(RunHistory, APodThatFailsWithoutAContainer) {
    RunHistory history;
    PodView evicted = pod("Failed");
    evicted.reason = "Evicted";
    history.pod_changed(nullptr, &evicted);
    Verdict verdict = history.verdict(job("Failed"));
    ASSERT_TRUE(verdict.failure);
    EXPECT_EQ(verdict.failure->reason, "Evicted");
    EXPECT_EQ(verdict.exit_code, 1);
}

TEST(TellPod, AFailedContainerComesBeforeTheSidecarThatWasStoppedForIt) {
    PodView runs = pod("Running", running());
    PodView failed = pod("Failed", ended(5));
    failed.containers[0].terminated->message = "said\n";
    ContainerView sidecar = ended(143);
    sidecar.name = "side";
    sidecar.init = true;
    failed.containers.insert(failed.containers.begin(), sidecar);
    EXPECT_EQ(tell_pod(&runs, &failed).back().text,
              "pod d-worker-0 failed: it exited with code 5: said");
}

TEST(TellPod, ContainersOfAPodThatIsDeletedAreNotToldToHaveFailed) {
    PodView runs = two("Running", running(), running());
    PodView leaves = runs;
    leaves.deleting = true;
    PodView ends = two("Failed", ended(143), ended(143));
    ends.deleting = true;
    EXPECT_THAT(texts(tell_pod(&runs, &leaves)), ElementsAre("pod d-worker-0 is being deleted"));
    EXPECT_THAT(texts(tell_pod(&leaves, &ends)), ElementsAre("pod d-worker-0 stopped"));
}

TEST(TellPod, APodThatOnlyAHelperKeepsAlive) {
    PodView runs = two("Running", running(), running());
    PodView done = two("Running", ended(0), running());
    const std::vector<std::string> told = texts(tell_pod(&runs, &done));
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0], "pod d-worker-0 container pytorch exited with code 0");
    EXPECT_THAT(told[1], HasSubstr("continues to run, and its job with it, until its container "
                                   "shipper ends too"));
    EXPECT_THAT(tell_pod(&done, &done), IsEmpty()) << "once";
    // One that is started again is not over.
    for (PodView* each : {&runs, &done}) each->restart_policy = "Always";
    EXPECT_EQ(tell_pod(&runs, &done).size(), 1u);
}

TEST(TellPod, TheJobsOwnContainerSaysWhyThePodFailed) {
    PodView runs = two("Running", running(), running());
    PodView failed = two("Failed", ended(3), ended(1));
    std::swap(failed.containers[0], failed.containers[1]);
    EXPECT_EQ(tell_pod(&runs, &failed).back().text,
              "pod d-worker-0 failed: container pytorch exited with code 3");
}

TEST(TellPod, ASidecarIsCalledOne) {
    PodView runs = pod("Running", running());
    ContainerView sidecar = running();
    sidecar.name = "side";
    sidecar.init = sidecar.sidecar = true;
    runs.containers.insert(runs.containers.begin(), sidecar);
    PodView again = runs;
    again.containers[0].restarts = 1;
    EXPECT_THAT(texts(tell_pod(&runs, &again)),
                ElementsAre("pod d-worker-0 sidecar side restarted (restart 1)"));
}

TEST(PodView, KnowsWhatTheSpecSaysOfContainers) {
    const std::optional<PodView> view = pod_view(json::parse(R"({
      "metadata": {"name": "d-worker-0", "ownerReferences": [
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "d", "controller": true}]},
      "spec": {"restartPolicy": "OnFailure",
        "initContainers": [{"name": "first"}, {"name": "side", "restartPolicy": "Always"}],
        "containers": [{"name": "shipper"},
                       {"name": "pytorch", "resources": {"limits": {"memory": "64Mi"}}}]},
      "status": {
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "R", "message": "m"}],
        "initContainerStatuses": [{"name": "first"}, {"name": "side"}],
        "containerStatuses": [{"name": "shipper"}, {"name": "pytorch", "state":
          {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled"}}}]}})"));
    ASSERT_TRUE(view);
    ASSERT_EQ(view->containers.size(), 4u);
    EXPECT_FALSE(view->containers[0].sidecar);
    EXPECT_TRUE(view->containers[1].sidecar);
    EXPECT_FALSE(view->containers[2].main);
    EXPECT_TRUE(view->containers[3].main);
    EXPECT_EQ(describe(*view->containers[3].terminated),
              "was killed by SIGKILL (OOMKilled: its limit is 64Mi)");
    EXPECT_EQ(view->not_scheduled, "R: m");
}

TEST(RunHistory, WhatANodeEndedSaysWhyBesideItsExitCode) {
    PodView runs = pod("Running", running());
    PodView late = pod("Failed", ended(143));
    late.reason = "DeadlineExceeded";
    late.message = "too long";
    const std::vector<Told> told = tell_pod(&runs, &late);
    ASSERT_FALSE(told.empty());
    EXPECT_THAT(told.back().text, ::testing::HasSubstr("failed: DeadlineExceeded: too long"));
    RunHistory history;
    history.pod_changed(nullptr, &runs);
    PodView ended_first = late;
    ended_first.phase = "Running";
    ended_first.reason.clear();
    ended_first.message.clear();
    history.pod_changed(&runs, &ended_first);
    history.pod_changed(&ended_first, &late);
    const Verdict verdict = history.verdict(late);
    ASSERT_TRUE(verdict.failure);
    EXPECT_EQ(verdict.failure->exit_code(), 143);
    EXPECT_EQ(verdict.failure->reason, "DeadlineExceeded: too long");
}

std::vector<std::string> split(const std::vector<std::string>& pieces) {
    std::vector<std::string> lines;
    LineSplitter splitter([&](std::string_view line, bool) { lines.emplace_back(line); });
    for (const std::string& piece : pieces) splitter.add(piece);
    splitter.finish();
    return lines;
}

TEST(LineSplitter, LinesAcrossPieces) {
    EXPECT_THAT(split({"a", "b\nc\n", "\nd"}), ElementsAre("ab", "c", "", "d"));
    EXPECT_THAT(split({"a\r\nb\r", "\nc\rd\n"}), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(split({}), IsEmpty());
}

TEST(LineSplitter, SaysWhichLinesAreWrittenOverOthers) {
    std::string lines;
    LineSplitter splitter([&](std::string_view line, bool overwrites) {
        lines += fmt::format("{}{};", overwrites ? "over " : "", line);
    });
    for (const char* piece : {"a\r", "b\r\nc\r", "\nd\re\n", "f\n"}) splitter.add(piece);
    EXPECT_EQ(lines, "a;over b;c;d;over e;f;");
}

TEST(LineSplitter, ALineWithoutEndIsCutAndNothingIsLost) {
    std::string whole;
    for (int i = 0; i < 20'000; ++i) whole += "\xC3\xBC";  // two bytes each
    std::string joined;
    for (const std::string& line : split({whole})) {
        EXPECT_LE(line.size(), LineSplitter::kLongest);
        EXPECT_NE(static_cast<unsigned char>(line[0]) & 0xC0, 0x80) << "a character was cut in two";
        joined += line;
    }
    EXPECT_EQ(joined, whole);
}

}  // namespace
}  // namespace muster::cli::event_text_test
