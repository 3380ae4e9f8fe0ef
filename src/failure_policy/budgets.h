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

/// What was spent of each budget, and what is left. Each incident is charged once; the caller
/// decides what an incident is. Uses calendar time, because budgets outlive the master. Pure.
class Budgets {
  public:
    explicit Budgets(std::array<job_protocol::Budget, job_protocol::kCharges> limits)
        : limits_(limits) {}

    /// False, without charging anything, if the budget is used up.
    bool spend(job_protocol::Charge charge, WallTime now);
    /// How many incidents count at that time.
    int spent(job_protocol::Charge charge, WallTime now) const;
    const job_protocol::Budget& limit(job_protocol::Charge charge) const {
        return limits_[static_cast<std::size_t>(charge)];
    }

    /// From now on; what was charged stays.
    void limit_to(std::array<job_protocol::Budget, job_protocol::kCharges> limits) {
        limits_ = limits;
    }

    /// Restores an incident that an earlier master charged at that time.
    void remember(job_protocol::Charge charge, WallTime when);

  private:
    std::array<job_protocol::Budget, job_protocol::kCharges> limits_;
    std::array<std::deque<WallTime>, job_protocol::kCharges> charged_;
};

}  // namespace muster::failure_policy
