#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>

#include "jobs/internal/converter.h"
#include "jobs/internal/text.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"

// TFJob and PyTorchJob, v1beta1 and v1beta2 (tf-operator v0.4 and v0.5, pytorch-operator v0.4 and
// v0.5): the fields of the run policy were in the spec itself.

namespace muster::jobs {
namespace {

constexpr std::string_view kRunPolicy = "runPolicy";
constexpr std::string_view kCleanPodPolicy = "cleanPodPolicy";
constexpr std::array<std::string_view, 4> kMoved = {"cleanPodPolicy", "ttlSecondsAfterFinished",
                                                    "activeDeadlineSeconds", "backoffLimit"};

bool is_moved(std::string_view field) { return std::ranges::find(kMoved, field) != kMoved.end(); }

std::string in_policy(std::string_view field) { return fmt::format("spec.runPolicy.{}", field); }

/// What differs between the kinds.
struct Old {
    std::string_view kind;
    std::string_view replicas;
    std::string_view clean_pod_policy;   ///< the default, if it differs from v1's
    std::vector<std::string_view> gone;  ///< fields that v1 does not have
};

const std::array<Old, 2>& old_kinds() {
    static const std::array<Old, 2> kinds = {
        Old{.kind = "PyTorchJob",
            .replicas = "pytorchReplicaSpecs",
            .clean_pod_policy = "",
            .gone = {}},
        Old{.kind = "TFJob",
            .replicas = "tfReplicaSpecs",
            .clean_pod_policy = "Running",
            .gone = {"tfRpcLayer"}},
    };
    return kinds;
}

/// A field that is in both places must have the same value in both.
bool put(json::object& policy, std::string_view field, const json::value& value,
         ConversionNotes& notes) {
    const auto [there, fresh] = policy.emplace(field, value);
    if (fresh || kube::equal(there->value(), value)) return true;
    notes.refused(
        forbidden(in_spec(field),
                  fmt::format("{} says something else; keep only one of them", in_policy(field))));
    return false;
}

void up(const Old& old, json::object& spec, ConversionNotes& notes) {
    const json::value* written = spec.if_contains(kRunPolicy);
    if (written != nullptr && !written->is_object()) return;
    json::object policy = written == nullptr ? json::object() : written->get_object();
    json::object made;
    bool placed = false;
    const auto place = [&] {
        if (!std::exchange(placed, true)) made[kRunPolicy] = json::object();
    };
    for (const auto& [key, value] : spec) {
        if (key == kRunPolicy) {
            place();
        } else if (is_moved(key)) {
            place();
            if (!put(policy, key, value, notes)) continue;
            notes.changed(in_spec(key), fmt::format("is {} in {}", in_policy(key), notes.to()));
            notes.moved(in_spec(key), in_policy(key));
        } else if (std::ranges::find(old.gone, std::string_view(key)) != old.gone.end()) {
            notes.dropped(in_spec(key));
        } else {
            made[key] = value;
        }
    }
    if (!old.clean_pod_policy.empty() && !policy.contains(kCleanPodPolicy)) {
        place();
        policy[kCleanPodPolicy] = old.clean_pod_policy;
        notes.changed("spec",
                      fmt::format("{} is \"{}\", which was the default of {}",
                                  in_policy(kCleanPodPolicy), old.clean_pod_policy, notes.from()));
        notes.moved("spec", in_policy(kCleanPodPolicy));
    }
    if (placed) made[kRunPolicy] = std::move(policy);
    spec = std::move(made);
}

void down(const Old& old, json::object& spec, ConversionNotes& notes) {
    json::object made;
    const auto lift = [&](const json::object& policy) {
        for (const auto& [key, value] : policy) {
            if (!is_moved(key)) {
                notes.dropped(in_policy(key));
                continue;
            }
            made[key] = value;
            notes.changed(in_policy(key), fmt::format("is {} in {}", in_spec(key), notes.to()));
            notes.moved(in_policy(key), in_spec(key));
        }
    };
    for (const auto& [key, value] : spec) {
        if (key == old.replicas)
            made[key] = value;
        else if (key == kRunPolicy && value.is_object())
            lift(value.get_object());
        else
            notes.dropped(in_spec(key));
    }
    if (!old.clean_pod_policy.empty() && !made.contains(kCleanPodPolicy)) {
        made[kCleanPodPolicy] = "None";
        notes.changed("spec", fmt::format("{} is \"None\", the default of {}",
                                          in_spec(kCleanPodPolicy), notes.from()));
    }
    spec = std::move(made);
}

}  // namespace

std::vector<Converter> run_policy_converters() {
    std::vector<Converter> all;
    for (const Old& old : old_kinds())
        for (const char* version : {"v1beta1", "v1beta2"})
            all.push_back(
                {.kind = std::string(old.kind),
                 .old_version = version,
                 .version = "v1",
                 .up = [&old](json::object& spec, ConversionNotes& notes) { up(old, spec, notes); },
                 .down = [&old](json::object& spec,
                                ConversionNotes& notes) { down(old, spec, notes); }});
    return all;
}

}  // namespace muster::jobs
