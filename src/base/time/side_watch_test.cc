#include "base/time/side_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <latch>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "base/async/task_group.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "base/time/loop_watch.h"

namespace muster::side_watch_test {
namespace {

using std::chrono::milliseconds;

SideComputation ended(std::string_view name, Duration waited, Duration computed) {
    return {.name = name,
            .work = "GET /api",
            .waited = waited,
            .took = {.passed = computed, .computed = computed}};
}

class SideWatchTest : public testing::Test {
  protected:
    SideWatchTest() {
        log::set_sink([this](log::Level, std::string_view line) { lines_.emplace_back(line); });
    }
    ~SideWatchTest() override { log::set_sink({}); }

    SimClock clock_;
    SideWatch watch_{clock_};
    std::vector<std::string> lines_;
};

TEST_F(SideWatchTest, CountsEachKindAndAllWaits) {
    watch_.add(ended("parse", milliseconds(0), milliseconds(30)));
    watch_.add(ended("parse", milliseconds(20), milliseconds(10)));
    watch_.add(ended("write", milliseconds(5), milliseconds(7)));
    ASSERT_EQ(watch_.kinds().size(), 2);
    const SideWatch::Kind& parse = watch_.kinds().at("parse");
    EXPECT_EQ(parse.ended, 2);
    EXPECT_EQ(parse.computed, milliseconds(40));
    EXPECT_EQ(parse.longest_computed, milliseconds(30));
    EXPECT_EQ(watch_.kinds().at("write").longest_computed, milliseconds(7));
    EXPECT_EQ(watch_.waited(), milliseconds(25));
    EXPECT_EQ(watch_.longest_waited(), milliseconds(20));
    EXPECT_TRUE(lines_.empty());
}

TEST_F(SideWatchTest, LogsThoseWhoseResultsComeLateAndFewOfMany) {
    watch_.add(ended("parse", milliseconds(200), SideWatch::kLongest - milliseconds(200)));
    EXPECT_TRUE(lines_.empty());
    watch_.add(ended("parse", milliseconds(200), milliseconds(400)));
    ASSERT_EQ(lines_.size(), 1);
    EXPECT_NE(lines_[0].find("computation=parse ms=400.0 passed_ms=400.0 waited_ms=200.0 "
                             "worked_for=\"GET /api\""),
              std::string::npos)
        << lines_[0];
    for (int more = 0; more < 5; ++more)
        watch_.add(ended("write", milliseconds(600), milliseconds(1)));
    EXPECT_EQ(lines_.size(), 1);
    clock_.advance_to(clock_.now() + LoggedDurations::kInterval);
    watch_.add(ended("write", milliseconds(600), milliseconds(1)));
    ASSERT_EQ(lines_.size(), 2);
    EXPECT_NE(lines_[1].find("not_logged_before=5"), std::string::npos) << lines_[1];
}

TEST_F(SideWatchTest, MeasuresThoseOfItsThread) {
    asio::io_context context(1);
    LoopWatch loop(clock_);
    std::vector<SideComputation> seen;
    SideThread thread({.current_work = current_work,
                       .ended = [&](const SideComputation& one) { seen.push_back(one); }});
    TaskGroup tasks(context.get_executor());
    std::latch both_begun(1);
    const auto compute = [](SideThread& side, const char* name, std::latch& begin) -> Task<void> {
        works_for("GET", name);
        std::ignore = co_await side.run(name, [&begin] {
            begin.wait();
            const ThreadTime start = thread_time();
            while ((thread_time() - start).computed < milliseconds(5)) {
            }
            return true;
        });
    };
    tasks.spawn("first", compute(thread, "one", both_begun));
    tasks.spawn("second", compute(thread, "two", both_begun));
    asio::post(context, [&] { asio::post(context, [&] { both_begun.count_down(); }); });
    loop.run(context);
    ASSERT_EQ(seen.size(), 2);
    EXPECT_EQ(seen[0].name, "one");
    EXPECT_EQ(seen[0].work, "GET one");
    EXPECT_GE(seen[0].took.computed, milliseconds(5));
    EXPECT_EQ(seen[1].name, "two");
    EXPECT_EQ(seen[1].work, "GET two");
    EXPECT_GE(seen[1].waited, milliseconds(5)) << "while the first computed";
    EXPECT_GE(seen[1].took.passed, milliseconds(5));
}

TEST_F(SideWatchTest, WhatFollowsAComputationIsWorkedForTheSame) {
    asio::io_context context(1);
    LoopWatch loop(clock_);
    SideThread thread(watch_.hooks());
    TaskGroup tasks(context.get_executor());
    std::string work;
    tasks.spawn("compute", [](SideThread& side, std::string& before_and_after) -> Task<void> {
        works_for("GET", "/api");
        before_and_after = current_work();
        std::ignore = co_await side.run("test", [] { return true; });
        before_and_after += ", " + current_work();
    }(thread, work));
    loop.run(context);
    EXPECT_EQ(work, "GET /api, GET /api");
}

TEST_F(SideWatchTest, IsToldOfAComputationThatThrows) {
    RealLoop loop;
    SideThread thread(watch_.hooks());
    EXPECT_THROW(
        loop.await(thread.run("fault", []() -> int { throw std::runtime_error("a fault"); })),
        std::runtime_error);
    EXPECT_EQ(watch_.kinds().at("fault").ended, 1);
}

}  // namespace
}  // namespace muster::side_watch_test
