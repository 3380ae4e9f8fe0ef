#include "sim/internal/user.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/parse_number.h"
#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "kube/values/document.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

bool set_suspend(json::object& job, bool suspend) {
    json::value* policy = job.at("spec").get_object().if_contains("runPolicy");
    if (policy == nullptr) {
        job["spec"].get_object()["runPolicy"] = json::object{{"suspend", suspend}};
        return suspend;
    }
    const json::value* before = policy->get_object().if_contains("suspend");
    const bool was = before != nullptr && *before == true;
    policy->get_object()["suspend"] = suspend;
    return was != suspend;
}

}  // namespace

Task<Result<void>> User::post(json::object object) {
    const json::value shown(object);
    const std::string api_version(text_at(shown, {"apiVersion"}));
    const std::string kind(text_at(shown, {"kind"}));
    std::string ns(text_at(shown, {"metadata", "namespace"}));
    if (ns.empty()) ns = "default";
    std::optional<kube::ResourceType> type;
    const jobs::JobKind* job_kind = jobs::find_kind(api_version, kind);
    if (job_kind != nullptr) type = job_kind->resource;
    for (const kube::ResourceType& core :
         {kube::types::kConfigMaps, kube::types::kSecrets, kube::types::kServices,
          kube::types::kPods, kube::types::kNamespaces, kube::types::kServiceAccounts})
        if (core.kind == kind && core.api_version() == api_version) type = core;
    if (!type)
        co_return Error(Code::kInvalid, fmt::format("{} {} can't be simulated", api_version, kind));
    const std::string where = type->namespaced ? ns : std::string();
    CO_TRY(kube::Written written, co_await client_.create(*type, where, json::value(object)));
    if (job_kind != nullptr)
        posted_.push_back({*type, ns, std::string(text_at(*written.object, {"metadata", "name"}))});
    co_return Result<void>();
}

std::optional<PostedJob> User::any_job() {
    if (posted_.empty()) return std::nullopt;
    return posted_[rng_.below(posted_.size())];
}

Task<bool> User::edit(PostedJob job, std::function<bool(json::object&)> change) {
    auto found = co_await client_.get(job.type, job.namespace_, job.name);
    if (!found) co_return false;
    json::value object = kube::copy_of(**found);
    if (deleting(object) || !change(object.get_object())) co_return false;
    auto written = co_await client_.update(job.type, job.namespace_, job.name, std::move(object));
    co_return written.has_value();
}

Task<void> User::scale_a_job() {
    const auto job = any_job();
    const auto replicas = static_cast<std::int64_t>(1 + rng_.below(4));
    if (!job) co_return;
    (void)co_await edit(*job, [replicas](json::object& object) {
        for (auto& [key, specs] : object.at("spec").get_object()) {
            if (!std::string_view(key).ends_with("eplicaSpecs")) continue;
            json::value* workers = specs.get_object().if_contains("Worker");
            if (workers == nullptr) workers = specs.get_object().if_contains("worker");
            if (workers == nullptr) return false;
            workers->get_object()["replicas"] = replicas;
            return true;
        }
        return false;
    });
}

/// The oldest first.
Task<std::vector<WorkerPod>> User::workers_of(PostedJob job) {
    std::vector<WorkerPod> workers;
    kube::ListOptions options;
    options.namespace_ = job.namespace_;
    options.label_selector = fmt::format("{}={},{}=worker", jobs::labels::kJobName, job.name,
                                         jobs::labels::kReplicaType);
    auto listed = co_await client_.list(kube::types::kPods, std::move(options));
    if (!listed) co_return workers;
    for (const kube::ObjectPtr& pod : listed->items)
        if (!deleting(*pod))
            workers.push_back(
                {.name = std::string(text_at(*pod, {"metadata", "name"})),
                 .id = parse_number<int>(label_of(*pod, jobs::labels::kReplicaIndex)).value_or(0)});
    std::ranges::sort(workers, {}, &WorkerPod::id);
    co_return workers;
}

Task<void> User::change_plan(PostedJob plan, json::object spec) {
    if (rng_.chance(0.3)) {
        (void)co_await client_.remove(plan.type, plan.namespace_, plan.name);
        co_return;
    }
    (void)co_await edit(std::move(plan), [spec = std::move(spec)](json::object& object) {
        object["spec"] = spec;
        return true;
    });
}

Task<void> User::plan_a_change() {
    const auto job = any_job();
    if (!job) co_return;
    const jobs::JobKind* const kind = jobs::find_kind(job->type.api_version(), job->type.kind);
    if (kind == nullptr || !kind->scale_plans) co_return;
    json::object spec = draw_scale_plan(job->name, co_await workers_of(*job), rng_);
    const auto last = last_plans_.find(job->name);
    if (last != last_plans_.end() && rng_.chance(0.2)) {
        co_await change_plan(last->second, std::move(spec));
        co_return;
    }
    const PostedJob plan{jobs::kScalePlans, job->namespace_, fmt::format("plan-{}", ++plans_made_)};
    last_plans_.insert_or_assign(job->name, plan);
    (void)co_await client_.create(
        plan.type, plan.namespace_,
        json::object{{"apiVersion", plan.type.api_version()},
                     {"kind", plan.type.kind},
                     {"metadata",
                      {{"name", plan.name},
                       {"labels", {{jobs::scale_labels::kType, jobs::scale_labels::kManual}}}}},
                     {"spec", std::move(spec)}});
}

Task<std::optional<PostedJob>> User::suspend_a_job() {
    const auto job = any_job();
    if (!job) co_return std::nullopt;
    const bool done =
        co_await edit(*job, [](json::object& object) { return set_suspend(object, true); });
    co_return done ? job : std::nullopt;
}

Task<void> User::resume(PostedJob job) {
    (void)co_await edit(std::move(job),
                        [](json::object& object) { return set_suspend(object, false); });
}

Task<void> User::delete_any(kube::ResourceType type) {
    auto listed = co_await client_.list(type, kube::ListOptions{});
    if (!listed || listed->items.empty()) co_return;
    const kube::ObjectPtr chosen = listed->items[rng_.below(listed->items.size())];
    const std::string ns(text_at(*chosen, {"metadata", "namespace"}));
    const std::string name(text_at(*chosen, {"metadata", "name"}));
    (void)co_await client_.remove(std::move(type), ns, name);
}

Task<void> User::delete_a_pod() { return delete_any(kube::types::kPods); }

Task<void> User::delete_a_service() { return delete_any(kube::types::kServices); }

Task<void> User::delete_a_job() {
    const auto job = any_job();
    if (!job) co_return;
    kube::DeleteOptions how;
    constexpr std::array kWays{kube::Propagation::kDefault, kube::Propagation::kForeground,
                               kube::Propagation::kBackground};
    how.propagation = kWays[rng_.below(kWays.size())];
    (void)co_await client_.remove(job->type, job->namespace_, job->name, std::move(how));
}

Task<void> User::annotate_a_job() {
    const auto job = any_job();
    const auto note = fmt::to_string(rng_.below(1000));
    if (!job) co_return;
    (void)co_await edit(*job, [note](json::object& object) {
        json::value& annotations = object["metadata"].get_object()["annotations"];
        if (!annotations.is_object()) annotations.emplace_object();
        annotations.get_object()["example.com/note"] = note;
        return true;
    });
}

Task<void> User::set_right() {
    for (std::size_t i = 0; i < posted_.size(); ++i) {
        const PostedJob job = posted_[i];
        co_await resume(job);
    }
    auto listed = co_await client_.list(kube::types::kPods, kube::ListOptions{});
    if (!listed) co_return;
    for (std::size_t i = 0; i < listed->items.size(); ++i) {
        const kube::ObjectPtr pod = listed->items[i];
        if (text_at(*pod, {"status", "phase"}) != "Pending" || deleting(*pod)) continue;
        const std::string ns(text_at(*pod, {"metadata", "namespace"}));
        const std::string name(text_at(*pod, {"metadata", "name"}));
        (void)co_await client_.remove(kube::types::kPods, ns, name);
    }
}

}  // namespace muster::sim
