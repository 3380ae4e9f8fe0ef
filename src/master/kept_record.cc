#include "master/kept_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/time/rfc3339.h"

namespace muster::master {
namespace {

/// Keeps incidents that can still count, and the newest one, by which a master knows that it was
/// charged.
void drop_old(std::vector<Incident>& incidents, const std::array<Budget, kCharges>& budgets,
              WallTime wall) {
    if (incidents.empty()) return;
    const Incident newest = incidents.back();
    incidents.pop_back();
    std::erase_if(incidents, [&](const Incident& incident) {
        const Budget& budget = budgets[static_cast<std::size_t>(incident.charge)];
        return !budget.incidents ||
               (budget.window > Duration::zero() && incident.when <= wall - budget.window);
    });
    incidents.push_back(newest);
}

}  // namespace

std::optional<WallTime> counts_until(const Budget& budget, WallTime when) {
    if (budget.window <= Duration::zero()) return std::nullopt;
    return when + budget.window;
}

void KeptRecord::charge(const Incident& incident, const std::array<Budget, kCharges>& budgets,
                        WallTime wall) {
    record_.incidents.push_back(incident);
    drop_old(record_.incidents, budgets, wall);
    changed();
}

void KeptRecord::exclude(const std::string& incarnation) {
    record_.excluded.push_back(incarnation);
    changed();
}

void KeptRecord::end(Verdict verdict) {
    record_.end = std::move(verdict);
    changed();
}

void KeptRecord::terms(Terms terms) {
    record_.terms = std::move(terms);
    changed();
}

Result<void> KeptRecord::set_section(const std::string& name, std::string bytes) {
    if (record_.end) return Error(Code::kGone, "the job has ended, and its record is final");
    const auto found = record_.sections.find(name);
    if (bytes == (found == record_.sections.end() ? std::string() : found->second)) return {};
    if (bytes.empty())
        record_.sections.erase(found);
    else
        record_.sections[name] = std::move(bytes);
    changed();
    return {};
}

void KeptRecord::changed() {
    ++version_;
    shared_ = std::make_shared<const JobRecord>(record_);
}

std::string charged_before(const JobRecord& record, const std::array<Budget, kCharges>& budgets,
                           WallTime now) {
    Budgets charged(budgets);
    std::array<const Incident*, kCharges> last{};
    for (const Incident& incident : record.incidents) {
        charged.remember(incident.charge, incident.when);
        last[static_cast<std::size_t>(incident.charge)] = &incident;
    }
    std::string text;
    for (const Incident* const incident : last) {
        if (incident == nullptr) continue;
        const int spent = charged.spent(incident->charge, now);
        const std::optional<int>& limit = charged.limit(incident->charge).incidents;
        if (spent == 0 || !limit) continue;
        text += fmt::format("{}{} of {} {}, the last at {}{}{}",
                            text.empty() ? "charged before this master: " : "; ", spent, *limit,
                            to_string(incident->charge), format_rfc3339(incident->when),
                            incident->error.empty() ? "" : ": ", incident->error);
    }
    return text;
}

}  // namespace muster::master
