#include "runtime/internal/lifecycle/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::probe_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = Probe::Verdict;

constexpr Instant kStart{std::chrono::hours(1)};

TEST(Probe, BeginsAfterItsDelayAndCountsThePeriodFromStartToStart) {
    Probe probe({.initial_delay = 0s, .period = 10s}, kStart + 3s);
    EXPECT_EQ(probe.next_at(), kStart + 3s);
    probe.begin(kStart + 3s);
    EXPECT_EQ(probe.next_at(), std::nullopt) << "one attempt at a time";
    probe.ended(true, kStart + 4s);
    EXPECT_EQ(probe.next_at(), kStart + 13s);
    probe.begin(kStart + 13s);
    probe.ended(true, kStart + 30s);
    EXPECT_EQ(probe.next_at(), kStart + 30s)
        << "what took longer than the period is followed at once";
    probe.stop();
    EXPECT_EQ(probe.next_at(), std::nullopt);
}

TEST(Probe, AThresholdCountsResultsInARow) {
    struct Case {
        int success_threshold;
        int failure_threshold;
        const char* results;   ///< + success, - failure
        const char* verdicts;  ///< . undecided
    };
    const Case cases[] = {{1, 3, "---", "..-"},     {1, 3, "--+--", "..+.."},
                          {1, 3, "+---", "+..-"},   {1, 1, "-+-", "-+-"},
                          {3, 3, "+++", "..+"},     {3, 3, "++-+++", ".....+"},
                          {1, 3, "-----", "..---"}, {2, 2, "+-+-", "...."}};
    for (const Case& c : cases) {
        Probe probe(
            {.success_threshold = c.success_threshold, .failure_threshold = c.failure_threshold},
            kStart);
        std::string verdicts;
        for (const char* result = c.results; *result != '\0'; ++result) {
            probe.begin(kStart);
            const Verdict verdict = probe.ended(*result == '+', kStart);
            verdicts += verdict == Verdict::kPassed ? '+' : verdict == Verdict::kFailed ? '-' : '.';
        }
        EXPECT_EQ(verdicts, c.verdicts) << c.results;
    }
}

TEST(ContainerProbes, WithoutProbesItIsStartedAndReadyAtOnce) {
    ContainerProbes probes({}, kStart);
    EXPECT_TRUE(probes.started());
    EXPECT_TRUE(probes.ready());
    EXPECT_EQ(probes.next_at(), std::nullopt);
}

TEST(ContainerProbes, OnlyItsOwnProbeMakesItReadyAndUnready) {
    ContainerProbes probes({.startup = {}, .liveness = {}, .readiness = ProbeTiming{}}, kStart);
    EXPECT_TRUE(probes.started());
    EXPECT_FALSE(probes.ready());
    auto attempt = [&](bool success, Duration after) {
        EXPECT_THAT(probes.begin_due(kStart + after), ElementsAre(ProbeKind::kReadiness));
        EXPECT_FALSE(probes.ended(ProbeKind::kReadiness, success, kStart + after));
    };
    attempt(true, 0s);
    EXPECT_TRUE(probes.ready());
    attempt(false, 10s);
    attempt(false, 20s);
    EXPECT_TRUE(probes.ready());
    attempt(false, 30s);
    EXPECT_FALSE(probes.ready());
    attempt(true, 40s);
    EXPECT_TRUE(probes.ready());
}

TEST(ContainerProbes, TheStartupProbeGoesBeforeTheOthersAndThenStops) {
    ContainerProbes probes({.startup = ProbeTiming{.period = 1s},
                            .liveness = ProbeTiming{.initial_delay = 5s},
                            .readiness = ProbeTiming{}},
                           kStart);
    EXPECT_FALSE(probes.started());
    EXPECT_THAT(probes.begin_due(kStart), ElementsAre(ProbeKind::kStartup));
    EXPECT_FALSE(probes.ended(ProbeKind::kStartup, false, kStart));
    EXPECT_THAT(probes.begin_due(kStart + 1s), ElementsAre(ProbeKind::kStartup));
    EXPECT_FALSE(probes.ended(ProbeKind::kStartup, true, kStart + 2s));
    EXPECT_TRUE(probes.started());
    EXPECT_FALSE(probes.ready());
    EXPECT_THAT(probes.begin_due(kStart + 2s), ElementsAre(ProbeKind::kReadiness));
    EXPECT_EQ(probes.next_at(), kStart + 5s) << "the delay counts from the container's start";
    EXPECT_THAT(probes.begin_due(kStart + 5s), ElementsAre(ProbeKind::kLiveness));
}

TEST(ContainerProbes, LivenessAndStartupKillAndAskNoMore) {
    for (const ProbeKind kind : {ProbeKind::kStartup, ProbeKind::kLiveness}) {
        const ProbeTiming once{.period = 1s, .failure_threshold = 2};
        ProbeTimings timings;
        (kind == ProbeKind::kStartup ? timings.startup : timings.liveness) = once;
        ContainerProbes probes(timings, kStart);
        EXPECT_THAT(probes.begin_due(kStart), ElementsAre(kind));
        EXPECT_FALSE(probes.ended(kind, false, kStart));
        EXPECT_THAT(probes.begin_due(kStart + 1s), ElementsAre(kind));
        EXPECT_TRUE(probes.ended(kind, false, kStart + 1s));
        EXPECT_EQ(probes.next_at(), std::nullopt);
    }
}

TEST(ContainerProbes, WhileItIsEndedOnlyReadinessIsAsked) {
    ContainerProbes probes({.startup = {}, .liveness = ProbeTiming{}, .readiness = ProbeTiming{}},
                           kStart);
    EXPECT_THAT(probes.begin_due(kStart), ElementsAre(ProbeKind::kLiveness, ProbeKind::kReadiness));
    probes.stop_killing();
    for (int i = 0; i < 9; ++i)
        EXPECT_FALSE(probes.ended(ProbeKind::kLiveness, false, kStart)) << "it ends anyway";
    EXPECT_FALSE(probes.ended(ProbeKind::kReadiness, true, kStart));
    EXPECT_THAT(probes.begin_due(kStart + 10s), ElementsAre(ProbeKind::kReadiness));
}

}  // namespace
}  // namespace muster::runtime::probe_test
