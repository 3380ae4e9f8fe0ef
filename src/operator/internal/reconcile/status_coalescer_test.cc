#include "operator/internal/reconcile/status_coalescer.h"

#include <gtest/gtest.h>

namespace muster::operators::status_coalescer_test {
namespace {

using namespace std::chrono_literals;

const Instant kStart = Instant() + 1h;

struct Case {
    const char* about;
    bool status, only_counts, ensure_owned_objects, owned_objects_ensured_before, events, pods;
    bool waits;
};

Plan plan_of(const Case& c) {
    Plan plan;
    if (c.status) plan.status.emplace();
    plan.only_counts = c.only_counts;
    plan.ensure_owned_objects = c.ensure_owned_objects;
    if (c.events) plan.events.emplace_back();
    if (c.pods) plan.create_pods.emplace_back();
    return plan;
}

TEST(StatusCoalescer, CountsAndNewsOfRunningPodsWaitAndNothingElse) {
    for (const Case& c : {
             Case{"counts", true, true, false, true, false, false, true},
             Case{"a condition", true, false, false, true, false, false, false},
             Case{"counts and an event", true, true, false, true, true, false, false},
             Case{"owned objects", false, false, true, true, false, false, true},
             Case{"the first owned objects", false, false, true, false, false, false, false},
             Case{"owned objects for a pod", false, false, true, true, false, true, false},
             Case{"a condition and owned objects", true, false, true, true, false, false, false},
             Case{"nothing", false, false, false, true, false, false, false},
         }) {
        StatusCoalescer coalescer(1s);
        Plan plan = plan_of(c);
        const auto due = coalescer.counts("j", plan, c.owned_objects_ensured_before, kStart);
        EXPECT_EQ(due.has_value(), c.waits) << c.about;
        EXPECT_EQ(plan.status.has_value(), c.status && !c.waits) << c.about;
        EXPECT_EQ(plan.ensure_owned_objects, c.ensure_owned_objects && !c.waits) << c.about;
        if (due) {
            EXPECT_EQ(*due, kStart + 1s) << c.about;
        }
    }
}

TEST(StatusCoalescer, CountsAreDueByTheFirstThatWaited) {
    StatusCoalescer coalescer(1s);
    const auto look = [&](Duration after) {
        Plan plan = plan_of({"", true, true, false, true, false, false, true});
        const auto due = coalescer.counts("j", plan, true, kStart + after);
        EXPECT_EQ(due.has_value(), !plan.status.has_value());
        return due ? *due - kStart : Duration();
    };
    EXPECT_EQ(look(0ms), 1s);
    EXPECT_EQ(look(900ms), 1s);
    EXPECT_EQ(look(1s), 0s) << "now they are written";
    EXPECT_EQ(look(1100ms), 2100ms) << "and the next wait anew";
    Plan told = plan_of({"", true, false, false, true, false, false, false});
    coalescer.counts("j", told, true, kStart + 1200ms);
    EXPECT_EQ(look(1300ms), 2300ms) << "a condition took them along";
    coalescer.forget("j");
    EXPECT_EQ(look(1400ms), 2400ms);
}

TEST(StatusCoalescer, TheFirstStatusWaitsForAFewPodsAndOnce) {
    struct Row {
        bool status;
        std::size_t pods;
        std::size_t services;
        bool waits;
    };
    for (const Row& row : {Row{true, 1, 1, true}, Row{true, 16, 16, true}, Row{true, 17, 16, false},
                           Row{true, 0, 0, false}, Row{false, 1, 1, false}}) {
        StatusCoalescer coalescer(1s);
        Plan plan;
        if (row.status) plan.status.emplace();
        plan.events.emplace_back();
        plan.create_pods.resize(row.pods);
        plan.create_services.resize(row.services);
        EXPECT_EQ(coalescer.first_status("j", plan), row.waits) << row.pods;
        EXPECT_EQ(plan.status.has_value(), row.status && !row.waits) << row.pods;
        EXPECT_EQ(plan.events.empty(), row.waits) << row.pods;
        if (!row.waits) continue;
        plan.status.emplace();
        EXPECT_FALSE(coalescer.first_status("j", plan)) << "a creation failed: it is told now";
    }
}

}  // namespace
}  // namespace muster::operators::status_coalescer_test
