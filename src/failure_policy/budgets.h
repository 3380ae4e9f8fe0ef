#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/time/clock.h"
#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"

namespace muster::failure_policy {

/// What was spent, and whether there is more. Each incident is charged once; whoever calls this
/// says what an incident is. In calendar time, since it outlives the master. Pure.
class Budgets {
  public:
    explicit Budgets(std::array<job_protocol::Budget, job_protocol::kCharges> limits)
        : limits_(limits) {}

    /// False, and nothing is charged: the budget is used up.
    bool spend(job_protocol::Charge charge, WallTime now);
    /// How many count now.
    int spent(job_protocol::Charge charge, WallTime now) const;
    const job_protocol::Budget& limit(job_protocol::Charge charge) const {
        return limits_[static_cast<std::size_t>(charge)];
    }

    /// As a master's records keep it: charged at that time by an earlier master.
    void remember(job_protocol::Charge charge, WallTime when);

  private:
    std::array<job_protocol::Budget, job_protocol::kCharges> limits_;
    std::array<std::deque<WallTime>, job_protocol::kCharges> charged_;
};

}  // namespace muster::failure_policy
