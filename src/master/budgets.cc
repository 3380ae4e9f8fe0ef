#include "master/budgets.h"

#include <algorithm>

namespace muster::master {

std::string_view to_string(Charge charge) {
    switch (charge) {
        case Charge::kNothing:
            return "nothing";
        case Charge::kWorker:
            return "worker failures (--max-restarts)";
        case Charge::kMemory:
            return "kills for memory (--max-oom-restarts)";
        case Charge::kNode:
            return "lost nodes (--max-node-losses)";
    }
    return "";
}

bool Budgets::spend(Charge charge, WallTime now) {
    if (charge == Charge::kNothing) return true;
    const Budget& budget = limit(charge);
    if (budget.incidents && spent(charge, now) >= *budget.incidents) return false;
    remember(charge, now);
    return true;
}

int Budgets::spent(Charge charge, WallTime now) const {
    const auto& charged = charged_[static_cast<std::size_t>(charge)];
    const Duration window = limit(charge).window;
    if (window == Duration::zero()) return static_cast<int>(charged.size());
    return static_cast<int>(
        std::ranges::count_if(charged, [&](WallTime when) { return when > now - window; }));
}

void Budgets::remember(Charge charge, WallTime when) {
    charged_[static_cast<std::size_t>(charge)].push_back(when);
}

}  // namespace muster::master
