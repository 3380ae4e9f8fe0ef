#include "workloads/internal/deployments/rollout_set.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/parse_number.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/deployments/app_types.h"
#include "workloads/internal/pods/controlled.h"

namespace muster::workloads {

namespace {

json::object without_hash(const json::object& template_) {
    json::object copy = kube::copy_of(template_);
    if (json::object* metadata = kube::object_at(copy, "metadata")) {
        if (json::object* labels = kube::object_at(*metadata, "labels")) labels->erase(kHashLabel);
        for (const char* key : {"labels", "annotations", "creationTimestamp"}) {
            const json::value* value = metadata->if_contains(key);
            const bool nothing =
                value != nullptr &&
                (value->is_null() || (value->is_object() && value->get_object().empty()));
            if (nothing) metadata->erase(key);
        }
        if (metadata->empty()) copy.erase("metadata");
    }
    return copy;
}

}  // namespace

RolloutSet::RolloutSet(json::object object)
    : object_(std::move(object)),
      replicas_(kube::int_at(kube::child(object_, "spec"), "replicas").value_or(1)),
      created_(kube::parse_time(kube::string_at(kube::metadata_of(object_), "creationTimestamp"))
                   .value_or(WallTime::max())) {}

std::string_view RolloutSet::name() const { return kube::name_of(object_); }

std::int64_t RolloutSet::count(std::string_view key) const {
    return kube::int_at(kube::child(object_, "status"), key).value_or(0);
}

std::string_view RolloutSet::annotation(std::string_view key) const {
    return kube::string_at(kube::child(kube::metadata_of(object_), "annotations"), key);
}

std::optional<std::int64_t> RolloutSet::number(std::string_view key) const {
    const auto read = parse_number<std::int64_t>(annotation(key));
    constexpr std::int64_t kMost = 2147483647;
    return read && *read >= 0 && *read <= kMost ? read : std::nullopt;
}

bool RolloutSet::idle() const {
    const auto generation = kube::int_at(kube::metadata_of(object_), "generation").value_or(0);
    return replicas_ == 0 && actual() == 0 && count("observedGeneration") >= generation;
}

void RolloutSet::annotate(std::string_view key, std::string_view value) {
    if (annotation(key) == value) return;
    object_in(object_in(object_, "metadata"), "annotations")[key] = value;
    changed_ = true;
}

void RolloutSet::scale(std::int64_t replicas) {
    if (replicas == replicas_) return;
    replicas_ = replicas;
    object_in(object_, "spec")["replicas"] = replicas;
    changed_ = true;
}

void RolloutSet::set_least_ready_seconds(std::int64_t seconds) {
    if (kube::int_at(kube::child(object_, "spec"), "minReadySeconds").value_or(0) == seconds)
        return;
    object_in(object_, "spec")["minReadySeconds"] = seconds;
    changed_ = true;
}

bool same_template(const json::object& one, const json::object& other) {
    return kube::equal(without_hash(one), without_hash(other));
}

std::string template_hash(const json::object& template_, std::int64_t collisions) {
    std::uint32_t hash = 2166136261U;
    const auto add = [&](std::string_view text) {
        for (const char c : text) {
            hash ^= static_cast<unsigned char>(c);
            hash *= 16777619U;
        }
    };
    add(json::serialize(template_));
    if (collisions > 0) add(fmt::format("{}", collisions));
    constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    std::string text = fmt::format("{}", hash);
    for (char& c : text) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
    return text;
}

json::object new_replica_set(const json::object& deployment) {
    const json::object& spec = kube::child(deployment, "spec");
    json::object template_ = kube::copy_of(kube::child(spec, "template"));
    const std::string hash = template_hash(
        template_, kube::int_at(kube::child(deployment, "status"), "collisionCount").value_or(0));
    json::object& labels = object_in(object_in(template_, "metadata"), "labels");
    labels[kHashLabel] = hash;
    json::object selector = kube::copy_of(kube::child(spec, "selector"));
    object_in(selector, "matchLabels")[kHashLabel] = hash;
    const Owner owner = owner_of(kDeployments, deployment);
    json::object made{{"apiVersion", kReplicaSets.api_version()},
                      {"kind", kReplicaSets.kind},
                      {"metadata",
                       {{"name", fmt::format("{}-{}", owner.name.name, hash)},
                        {"namespace", owner.name.namespace_},
                        {"labels", labels},
                        {"ownerReferences", json::array{owner.owner_reference()}}}}};
    json::object set_spec{{"replicas", 0}, {"selector", std::move(selector)}};
    if (const auto seconds = kube::int_at(spec, "minReadySeconds"))
        set_spec["minReadySeconds"] = *seconds;
    set_spec["template"] = std::move(template_);
    made["spec"] = std::move(set_spec);
    return made;
}

}  // namespace muster::workloads
