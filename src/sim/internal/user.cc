#include "sim/internal/user.h"

#include <fmt/format.h>

#include <array>

#include "jobs/kind.h"
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
            if (!std::string_view(key).ends_with("ReplicaSpecs")) continue;
            json::value* workers = specs.get_object().if_contains("Worker");
            if (workers == nullptr) return false;
            workers->get_object()["replicas"] = replicas;
            return true;
        }
        return false;
    });
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
