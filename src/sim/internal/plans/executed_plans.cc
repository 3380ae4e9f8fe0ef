#include "sim/internal/plans/executed_plans.h"

#include <fmt/format.h>

#include "jobs/scale_plan.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

std::map<std::string, std::int64_t> numbers_of(const json::value& executed) {
    std::map<std::string, std::int64_t> numbers;
    const json::value* const types = find_at(executed, {"replicas"});
    if (types == nullptr || !types->is_object()) return numbers;
    for (const auto& [type, asked] : types->get_object())
        if (find_at(asked, {"replicas"}) != nullptr)
            numbers.emplace(type, number_at(asked, {"replicas"}));
    return numbers;
}

/// As a master's plan is made, and as it is when the master wishes nothing any more. It has no end.
bool asks_nothing(const json::value& plan) {
    if (label_of(plan, jobs::scale_labels::kType) != jobs::scale_labels::kAuto) return false;
    return jobs::review_scale_plan(plan).plan.spec.asks_nothing();
}

}  // namespace

bool ExecutedPlans::Plan::ended(std::int64_t of_generation) const {
    return (phase == "Succeeded" || phase == "Failed") && told >= of_generation;
}

std::string ExecutedPlans::title_of(const Id& plan) const {
    const auto known = plans_.find(plan.first);
    return fmt::format("ScalePlan {} of generation {}",
                       known == plans_.end() ? plan.first : known->second.title, plan.second);
}

std::vector<std::string> ExecutedPlans::plan_changed(const store::StoreChange& change) {
    std::vector<std::string> wrong;
    const json::value& object = change.object ? *change.object : *change.previous;
    const std::string uid(text_at(object, {"metadata", "uid"}));
    Plan& plan = plans_[uid];
    if (plan.title.empty())
        plan.title = fmt::format("{}/{}", change.key.namespace_, change.key.name);
    if (change.object == nullptr) {
        plan.gone = true;
        return wrong;
    }
    plan.generation = number_at(object, {"metadata", "generation"});
    plan.idle = asks_nothing(object);
    const std::string_view phase = text_at(object, {"status", "phase"});
    const std::int64_t told = number_at(object, {"status", "observedGeneration"});
    if (plan.ended(plan.told) && told == plan.told && phase != plan.phase)
        wrong.push_back(fmt::format("{} had ended as {} and is {} now", title_of({uid, told}),
                                    plan.phase, phase));
    if (phase == "Succeeded" && !executed_.contains({uid, told}))
        wrong.push_back(
            fmt::format("{} has succeeded, and was not executed", title_of({uid, told})));
    plan.phase = phase;
    plan.told = told;
    return wrong;
}

/// It is not the one that the job's status had named.
std::vector<std::string> ExecutedPlans::begun(const Id& plan,
                                              const std::optional<Execution>& before) {
    std::vector<std::string> wrong;
    if (!executed_.insert(plan).second)
        wrong.push_back(fmt::format("{} was executed twice", title_of(plan)));
    else if (const auto known = plans_.find(plan.first);
             known != plans_.end() && known->second.ended(plan.second))
        wrong.push_back(fmt::format("{} was executed after its end", title_of(plan)));
    if (!before) return wrong;
    const auto last = plans_.find(before->plan.first);
    if (last != plans_.end() && !last->second.gone && !last->second.ended(before->plan.second))
        wrong.push_back(fmt::format("{} was executed before the end of {}", title_of(plan),
                                    title_of(before->plan)));
    return wrong;
}

std::vector<std::string> ExecutedPlans::job_changed(const json::value& job) {
    std::vector<std::string> wrong;
    const json::value* const executed = find_at(job, {"status", "plan"});
    if (executed == nullptr) return wrong;
    std::optional<Execution>& last = now_[std::string(text_at(job, {"metadata", "uid"}))];
    Execution next{
        .plan = {std::string(text_at(*executed, {"uid"})), number_at(*executed, {"generation"})},
        .numbers = numbers_of(*executed)};
    if (!last || last->plan != next.plan) {
        wrong = begun(next.plan, last);
    } else {
        for (const auto& [type, number] : next.numbers) {
            const auto asked = last->numbers.find(type);
            if (asked == last->numbers.end() || asked->second != number)
                wrong.push_back(
                    fmt::format("{} asks for {} of {} now", title_of(next.plan), number, type));
        }
    }
    last = std::move(next);
    return wrong;
}

std::vector<std::string> ExecutedPlans::open() const {
    std::vector<std::string> found;
    for (const auto& [uid, plan] : plans_)
        if (!plan.gone && !plan.idle && !plan.ended(plan.generation)) found.push_back(plan.title);
    return found;
}

}  // namespace muster::sim
