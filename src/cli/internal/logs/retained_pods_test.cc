#include "cli/internal/logs/retained_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/kind.h"

namespace muster::cli::retained_pods_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

runtime::RetainedPod kept(std::string name, std::string uid, std::string job, std::string owner,
                          int written) {
    runtime::RetainedPod pod;
    pod.namespace_ = "default";
    pod.name = std::move(name);
    pod.uid = std::move(uid);
    pod.owner_uid = std::move(owner);
    if (!job.empty()) pod.labels[std::string(jobs::labels::kJobName)] = std::move(job);
    pod.written = WallTime(std::chrono::seconds(written));
    return pod;
}

std::vector<runtime::RetainedPod> some() {
    return {kept("a-worker-0", "1", "a", "old", 10),
            kept("a-worker-0", "2", "a", "new", 20),
            kept("a-worker-0", "3", "a", "new", 30),
            kept("a-worker-1", "4", "a", "new", 25),
            kept("b-worker-0", "5", "b", "other", 40),
            kept("alone", "6", "", "", 15),
            kept("alone", "7", "", "", 16)};
}

std::vector<std::string> chosen(const KeptSubject& subject, const std::vector<LogPod>& present) {
    std::vector<std::string> uids;
    for (const runtime::RetainedPod& pod : choose_kept(some(), subject, present))
        uids.push_back(pod.uid);
    return uids;
}

LogPod present(std::string name) {
    LogPod pod;
    pod.view.name = std::move(name);
    return pod;
}

TEST(ChooseKept, TheNewestOfEachNameOfOneJob) {
    EXPECT_THAT(chosen({.name = "a", .uid = "new"}, {}), ElementsAre("3", "4"));
    EXPECT_THAT(chosen({.name = "a", .uid = "old"}, {}), ElementsAre("1"));
    EXPECT_THAT(chosen({.name = "a", .uid = "newer"}, {}), IsEmpty())
        << "another job of that name had them";
}

TEST(ChooseKept, OfAJobThatIsGoneTheLastOneOfThatName) {
    EXPECT_THAT(chosen({.name = "a"}, {}), ElementsAre("3", "4"));
    EXPECT_THAT(chosen({.name = "c"}, {}), IsEmpty());
}

TEST(ChooseKept, WhoIsThereIsReadWhereItIs) {
    EXPECT_THAT(chosen({.name = "a", .uid = "new"}, {present("a-worker-0")}), ElementsAre("4"));
}

TEST(ChooseKept, APodByItsNameIsTheLastOne) {
    EXPECT_THAT(chosen({.name = "alone", .pod = true}, {}), ElementsAre("7"));
    EXPECT_THAT(chosen({.name = "a", .pod = true}, {}), IsEmpty());
    EXPECT_THAT(chosen({.name = "alone", .pod = true}, {present("alone")}), IsEmpty());
}

TEST(EarlierPods, AreThoseOfTheSameReplicaOldestFirst) {
    LogPod latest;
    latest.view.namespace_ = "default";
    latest.view.name = "a-worker-0";
    latest.view.uid = "9";
    latest.view.owner_uid = "new";
    const auto earlier = [&latest](const std::vector<runtime::RetainedPod>& pods) {
        std::string uids;
        for (const runtime::RetainedPod& pod : earlier_pods(pods, latest)) uids += pod.uid;
        return uids;
    };
    std::vector<runtime::RetainedPod> pods = some();
    std::swap(pods[1], pods[2]);
    EXPECT_EQ(earlier(pods), "23");
    latest.view.uid = "3";
    EXPECT_EQ(earlier(pods), "2") << "it is kept itself";
    latest.view.namespace_ = "other";
    EXPECT_EQ(earlier(pods), "");
    latest.view.namespace_ = "default";
    latest.view.name = "alone";
    latest.view.owner_uid = "";
    EXPECT_EQ(earlier(pods), "") << "pods that somebody made by hand do not follow each other";
}

TEST(RetainedPods, ARetainedPodIsChosenFromLikeOneThatIsThere) {
    runtime::RetainedPod pod = kept("a-worker-3", "9", "a", "new", 1);
    pod.labels[std::string(jobs::labels::kReplicaType)] = "worker";
    pod.labels[std::string(jobs::labels::kReplicaIndex)] = "3";
    pod.containers = {"pytorch"};
    const LogPod shown = log_pod(pod);
    EXPECT_EQ(shown.view.replica_type, "worker");
    EXPECT_EQ(shown.index, 3);
    EXPECT_EQ(shown.job, "a");
    ASSERT_EQ(shown.view.containers.size(), 1u);
    EXPECT_EQ(shown.view.containers[0].name, "pytorch");
    EXPECT_FALSE(shown.view.containers[0].terminated) << "no instance left a log";
}

}  // namespace
}  // namespace muster::cli::retained_pods_test
