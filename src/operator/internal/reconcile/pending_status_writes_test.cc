#include "operator/internal/reconcile/pending_status_writes.h"

#include <gtest/gtest.h>

namespace muster::operators {
namespace {

PackedStatus status_of(const std::string& start_time) {
    jobs::JobStatus status;
    status.start_time = start_time;
    return PackedStatus(status);
}

/// The revision and the start time of what is known, or "-".
std::string known(const WrittenStatuses& written) {
    const WrittenStatus* found = written.find("j");
    return found == nullptr ? "-" : found->version + " " + found->status.unpack().start_time;
}

TEST(WrittenStatuses, CountUntilTheWatchShowsThem) {
    WrittenStatuses written;
    EXPECT_EQ(known(written), "-");
    written.add("j", "1", "1", "2", status_of("a"), "1");
    EXPECT_EQ(known(written), "2 a");
    written.shown("j", "1");
    EXPECT_EQ(known(written), "2 a") << "an old event, seen again";
    written.shown("j", "2");
    EXPECT_EQ(known(written), "-");
}

TEST(WrittenStatuses, OneUponAnotherHidesAllThatLieBelow) {
    WrittenStatuses written;
    written.add("j", "1", "1", "2", status_of("a"), "1");
    written.add("j", "1", "2", "3", status_of("b"), "1");
    EXPECT_EQ(known(written), "3 b");
    for (const char* below : {"1", "2"}) {
        written.shown("j", below);
        EXPECT_EQ(known(written), "3 b") << below;
    }
    written.shown("j", "3");
    EXPECT_EQ(known(written), "-");
}

TEST(WrittenStatuses, WhatTheWatchHasShownMeanwhileIsNewer) {
    struct Case {
        const char* about;
        const char* shown;
        const char* wanted;
    };
    for (const Case& c :
         {Case{"what was seen", "1", "3 b"}, Case{"what it was written over", "2", "3 b"},
          Case{"itself", "3", "-"}, Case{"of somebody else", "9", "-"},
          Case{"nothing: the job is gone", "", "-"}}) {
        WrittenStatuses written;
        written.add("j", "1", "2", "3", status_of("b"), c.shown);
        EXPECT_EQ(known(written), c.wanted) << c.about;
    }
}

TEST(WrittenStatuses, AChangeOfSomebodyElseEndsThem) {
    WrittenStatuses written;
    written.add("j", "1", "1", "2", status_of("a"), "1");
    written.shown("j", "7");
    EXPECT_EQ(known(written), "-");
    written.add("j", "7", "7", "8", status_of("b"), "7");
    written.forget("j");
    EXPECT_EQ(known(written), "-");
}

}  // namespace
}  // namespace muster::operators
