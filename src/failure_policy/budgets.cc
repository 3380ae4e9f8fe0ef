#include "failure_policy/budgets.h"

#include <algorithm>

namespace muster::failure_policy {

bool Budgets::spend(job_protocol::Charge charge, WallTime now) {
    if (charge == job_protocol::Charge::kNothing) return true;
    const job_protocol::Budget& budget = limit(charge);
    if (budget.incidents && spent(charge, now) >= *budget.incidents) return false;
    remember(charge, now);
    return true;
}

int Budgets::spent(job_protocol::Charge charge, WallTime now) const {
    const auto& charged = charged_[static_cast<std::size_t>(charge)];
    const Duration window = limit(charge).window;
    if (window == Duration::zero()) return static_cast<int>(charged.size());
    return static_cast<int>(
        std::ranges::count_if(charged, [&](WallTime when) { return when > now - window; }));
}

void Budgets::remember(job_protocol::Charge charge, WallTime when) {
    charged_[static_cast<std::size_t>(charge)].push_back(when);
}

}  // namespace muster::failure_policy
