#include "runtime/internal/pod/recovered_starts.h"

#include <gtest/gtest.h>

#include "runtime/internal/run_id.h"

namespace muster::runtime::recovered_starts_test {
namespace {

using State = RecoveredContainer::State;

pod_init::Report report(pod_init::Report::Kind kind, std::size_t container, std::uint32_t launch) {
    pod_init::Report made;
    made.kind = kind;
    made.id = RunId{.container = container, .launch = launch}.number();
    return made;
}

TEST(RunId, IsOneNumber) {
    const RunId id = RunId::of(RunId{.container = 5, .launch = 300}.number());
    EXPECT_EQ(id.container, 5u);
    EXPECT_EQ(id.launch, 300u);
    EXPECT_EQ(id.log(), 299);
}

TEST(RecoveredStarts, TheNewestStartOfEachContainerCounts) {
    RecoveredStarts starts(3);
    starts.take(report(pod_init::Report::Kind::kExited, 0, 1));
    starts.take(report(pod_init::Report::Kind::kStarted, 1, 1));
    starts.take(report(pod_init::Report::Kind::kStarted, 0, 2));
    starts.take(report(pod_init::Report::Kind::kExited, 0, 1));
    EXPECT_EQ(starts.newest()[0].state, State::kRunning);
    EXPECT_EQ(RunId::of(starts.newest()[0].report.id).launch, 2u);
    EXPECT_EQ(starts.newest()[1].state, State::kRunning);
    EXPECT_EQ(starts.newest()[2].state, State::kNone);
    starts.take(report(pod_init::Report::Kind::kStarting, 2, 1));
    EXPECT_EQ(starts.newest()[2].state, State::kStarting);
    starts.take(report(pod_init::Report::Kind::kStartFailed, 2, 1));
    EXPECT_EQ(starts.newest()[2].state, State::kFailed);
}

TEST(RecoveredStarts, WhatIsNobodysIsIgnored) {
    RecoveredStarts starts(1);
    starts.take(report(pod_init::Report::Kind::kStarted, 1, 1));
    starts.take(report(pod_init::Report::Kind::kExecEnded, 0, 1));
    EXPECT_EQ(starts.newest()[0].state, State::kNone);
}

}  // namespace
}  // namespace muster::runtime::recovered_starts_test
