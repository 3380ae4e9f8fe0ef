#include "cli/internal/step/step_exit.h"

#include <gtest/gtest.h>

#include <set>

namespace muster::cli::step_exit_test {
namespace {

using Stop = RunSession::Stop;

TEST(StepExit, EachCauseHasACodeOfItsOwn) {
    std::set<int> codes;
    for (const StepEndRow& row : step_ends()) codes.insert(static_cast<int>(row.end));
    EXPECT_EQ(codes.size(), step_ends().size());

    struct Case {
        RunOutcome outcome;
        StepEnd end;
    };
    const Case cases[] = {
        {{.posted = true, .succeeded = true}, StepEnd::kSucceeded},
        {{.posted = true, .condition = "PyTorchJobFailed: 1 Worker replica(s) failed"},
         StepEnd::kFailed},
        {{.posted = false}, StepEnd::kBadInput},
        {{.posted = false, .away = true}, StepEnd::kAway},
        {{.posted = true, .lost = true}, StepEnd::kLost},
        {{.posted = true, .lost = true, .succeeded = true}, StepEnd::kSucceeded},
        {{.posted = true,
          .condition = "PyTorchJobFailed: Job ml/x has failed because it was active longer than "
                       "specified deadline"},
         StepEnd::kTimedOut},
        {{.stopped = Stop::kTimeout, .posted = true}, StepEnd::kTimedOut},
        {{.stopped = Stop::kStuck, .posted = true}, StepEnd::kStuck},
        {{.stopped = Stop::kAway, .posted = true}, StepEnd::kAway},
        {{.stopped = Stop::kInterrupt, .posted = true}, StepEnd::kInterrupted},
        {{.stopped = Stop::kTerminate}, StepEnd::kTerminated},
        {{.stopped = Stop::kReaderGone, .posted = true}, StepEnd::kReaderGone},
    };
    for (const Case& one : cases) EXPECT_EQ(step_end(one.outcome), one.end);
}

}  // namespace
}  // namespace muster::cli::step_exit_test
