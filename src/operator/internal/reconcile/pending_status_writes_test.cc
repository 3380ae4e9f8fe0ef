#include "operator/internal/reconcile/pending_status_writes.h"

#include <gtest/gtest.h>

namespace muster::operators::pending_status_writes_test {
namespace {

PackedStatus status_of(const std::string& start_time) {
    jobs::JobStatus status;
    status.start_time = start_time;
    return PackedStatus(status);
}

/// The revision and the start time of what is known, or "-".
std::string known(const PendingStatusWrites& pending) {
    const PendingStatusWrite* found = pending.find("j");
    return found == nullptr ? "-" : found->version + " " + found->status.unpack().start_time;
}

TEST(PendingStatusWrites, CountUntilTheWatchShowsThem) {
    PendingStatusWrites pending;
    EXPECT_EQ(known(pending), "-");
    pending.add("j", "1", "1", "2", status_of("a"), "1");
    EXPECT_EQ(known(pending), "2 a");
    pending.shown("j", "1");
    EXPECT_EQ(known(pending), "2 a") << "an old event, seen again";
    pending.shown("j", "2");
    EXPECT_EQ(known(pending), "-");
}

TEST(PendingStatusWrites, OneUponAnotherHidesAllThatLieBelow) {
    PendingStatusWrites pending;
    pending.add("j", "1", "1", "2", status_of("a"), "1");
    pending.add("j", "1", "2", "3", status_of("b"), "1");
    EXPECT_EQ(known(pending), "3 b");
    for (const char* below : {"1", "2"}) {
        pending.shown("j", below);
        EXPECT_EQ(known(pending), "3 b") << below;
    }
    pending.shown("j", "3");
    EXPECT_EQ(known(pending), "-");
}

TEST(PendingStatusWrites, WhatTheWatchHasShownMeanwhileIsNewer) {
    struct Case {
        const char* about;
        const char* shown;
        const char* wanted;
    };
    for (const Case& c :
         {Case{"what was seen", "1", "3 b"}, Case{"what it was written over", "2", "3 b"},
          Case{"itself", "3", "-"}, Case{"of somebody else", "9", "-"},
          Case{"nothing: the job is gone", "", "-"}}) {
        PendingStatusWrites pending;
        pending.add("j", "1", "2", "3", status_of("b"), c.shown);
        EXPECT_EQ(known(pending), c.wanted) << c.about;
    }
}

TEST(PendingStatusWrites, AChangeOfSomebodyElseEndsThem) {
    PendingStatusWrites pending;
    pending.add("j", "1", "1", "2", status_of("a"), "1");
    pending.shown("j", "7");
    EXPECT_EQ(known(pending), "-");
    pending.add("j", "7", "7", "8", status_of("b"), "7");
    pending.forget("j");
    EXPECT_EQ(known(pending), "-");
}

}  // namespace
}  // namespace muster::operators::pending_status_writes_test
