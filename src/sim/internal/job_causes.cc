#include "sim/internal/job_causes.h"

#include <algorithm>

#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

bool by_operator(std::string_view who) { return who.starts_with("operator"); }
bool by_master(std::string_view who) { return who == "master"; }

std::string JobCauses::job_of(const store::StoreChange& change) {
    const json::value& object = change.object ? *change.object : *change.previous;
    if (jobs::is_job_resource(change.key.resource)) {
        std::string uid(text_at(object, {"metadata", "uid"}));
        const jobs::JobKind* const kind =
            jobs::find_kind(text_at(object, {"apiVersion"}), text_at(object, {"kind"}));
        if (kind != nullptr && kind->scale_plans)
            uids_[{change.key.namespace_, change.key.name}] = uid;
        last_.try_emplace(uid);
        return uid;
    }
    if (change.key.resource == "events")
        return std::string(text_at(object, {"involvedObject", "uid"}));
    static const std::string plans = jobs::kScalePlans.qualified();
    if (change.key.resource != plans) return std::string(controller_uid(object));
    const auto named =
        uids_.find({change.key.namespace_, std::string(text_at(object, {"spec", "ownerJob"}))});
    return named == uids_.end() ? std::string() : named->second;
}

std::string JobCauses::note(std::string_view who, const store::StoreChange& change, Instant now) {
    std::string uid = job_of(change);
    const auto known = last_.find(uid);
    if (known == last_.end()) return {};
    (by_operator(who) ? known->second.by_operators
     : by_master(who) ? known->second.by_masters
                      : known->second.by_others) = now;
    return uid;
}

Instant JobCauses::last_for(std::string_view who, const std::string& uid) const {
    const auto known = last_.find(uid);
    if (known == last_.end()) return {};
    const Last& last = known->second;
    return std::max(last.by_others, by_master(who) ? last.by_operators : last.by_masters);
}

}  // namespace muster::sim
