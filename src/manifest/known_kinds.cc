#include "manifest/known_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "apiserver/object_rules.h"
#include "jobs/scale_plan.h"

namespace muster::manifest {

namespace {

/// A kind of the API that a manifest may have beside its jobs.
struct Taken {
    std::string_view kind;
    std::string_view note;  ///< what it does not do on one machine
};
constexpr Taken kTaken[] = {
    {"ClusterRole", ""},
    {"ClusterRoleBinding", ""},
    {"CustomResourceDefinition", ""},
    {"Endpoints", "no traffic goes where it says on one machine"},
    {"EndpointSlice", "no traffic goes where it says on one machine"},
    {"Ingress", "nothing is reached by it on one machine"},
    {"IngressClass", ""},
    {"LimitRange", ""},
    {"NetworkPolicy", "no traffic is blocked by it on one machine"},
    {"PersistentVolume", ""},
    {"PersistentVolumeClaim", ""},
    {"PodDisruptionBudget", ""},
    {"PriorityClass", ""},
    {"ResourceQuota", ""},
    {"Role", ""},
    {"RoleBinding", ""},
    {"RuntimeClass", "pods that name it run like all other pods on one machine"},
    {"ServiceAccount", ""},
    {"StorageClass", ""},
};

const Taken* taken(std::string_view kind) {
    const auto* const found = std::ranges::find(kTaken, kind, &Taken::kind);
    return found == std::end(kTaken) ? nullptr : found;
}

/// A kind that nothing here acts on, and what to do about it.
struct PassedOver {
    std::string_view kind;
    std::string_view why;
};
constexpr std::string_view kNoController =
    "nothing here makes its pods; write their template as a Pod";
constexpr std::string_view kOfServers =
    "it runs on 'muster up' only; for 'muster run' write the template of its pods as a Pod";
constexpr std::string_view kNoServer = "the server that it is about does not run here";
constexpr PassedOver kPassedOver[] = {
    {"APIService", kNoServer},
    {"CronJob", kOfServers},
    {"DaemonSet", kNoController},
    {"Deployment", kOfServers},
    {"HorizontalPodAutoscaler", "nothing here scales what it names"},
    {"Job", kOfServers},
    {"Kustomization", "it is an input of kustomize; pass the output of 'kubectl kustomize DIR'"},
    {"MutatingWebhookConfiguration", kNoServer},
    {"ReplicaSet", kOfServers},
    {"ReplicationController", kNoController},
    {"StatefulSet", kNoController},
    {"ValidatingWebhookConfiguration", kNoServer},
};

std::vector<KnownKind> make_known_kinds() {
    std::vector<KnownKind> kinds;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        kinds.push_back({kind->resource, jobs::object_schema(*kind), kind});
    kinds.push_back({jobs::kScalePlans, jobs::scale_plan_schema(), nullptr});
    for (const kube::ResourceType* type :
         {&kube::types::kConfigMaps, &kube::types::kNamespaces, &kube::types::kPods,
          &kube::types::kSecrets, &kube::types::kServices})
        kinds.push_back({*type, kube::core_schema(type->kind), nullptr});
    for (apiserver::BuiltInKind& built_in : apiserver::built_in_kinds())
        if (const Taken* how = taken(built_in.type.kind))
            kinds.push_back(
                {std::move(built_in.type), std::move(built_in.schema), nullptr, false, how->note});
    return kinds;
}

/// Job kinds of other projects that people have manifests of and that jobs/ does not have yet.
struct Elsewhere {
    std::string_view kind;
    std::string_view group;  ///< empty: any
    std::string_view project;
    std::string_view instead;  ///< what does the same here
};
constexpr std::array<Elsewhere, 2> kElsewhere = {{
    {"ElasticJob", "elastic.pytorch.org", "TorchElastic",
     "write it as a PyTorchJob whose minReplicas and maxReplicas are in spec.elasticPolicy, and "
     "which needs no etcd (examples/pytorch-elastic.yaml)"},
    {"TrainJob", "", "Kubeflow",
     "put the command of its trainer into a PyTorchJob (examples/pytorch-digits.yaml)"},
}};

bool is_of_kubeflow(std::string_view group) {
    return group == "kubeflow.org" || group.ends_with(".kubeflow.org");
}

/// Whether kinds of this API group are not Kubeflow's. Its first operators had groups of their own,
/// such as xgboostjob.kubeflow.org, with the same fields.
bool is_of_others(std::string_view group) {
    return group.find('.') != std::string_view::npos && !is_of_kubeflow(group);
}

/// Why a kind is passed over; "" if it is not: what was meant is one of ours.
std::string why_passed_over(std::string_view group, std::string_view kind,
                            const std::string& nearest) {
    const auto* const known = std::ranges::find(kPassedOver, kind, &PassedOver::kind);
    if (known != std::end(kPassedOver))
        return fmt::format("the {} is passed over: {}", kind, known->why);
    const bool of_ours = group.find('.') == std::string_view::npos || is_of_kubeflow(group);
    if (kind.empty() || (of_ours && !nearest.empty())) return {};
    return fmt::format("the {} is passed over: nothing here acts on one", kind);
}

std::string list_known() {
    std::vector<std::string> names;
    for (const KnownKind& known : known_kinds())
        if (known.listed)
            names.push_back(fmt::format("{} ({})", known.type.kind, known.type.api_version()));
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const std::vector<KnownKind>& known_kinds() {
    static const std::vector<KnownKind> kinds = make_known_kinds();
    return kinds;
}

Lookup look_up(std::string_view api_version, std::string_view kind) {
    Lookup found;
    std::vector<std::string> versions;
    std::vector<std::string> names;
    bool other_operator = false;
    const std::string_view group = api_version.substr(0, api_version.find('/'));
    for (const KnownKind& known : known_kinds()) {
        names.push_back(known.type.kind);
        if (known.type.kind != kind) continue;
        versions.push_back(known.type.api_version());
        if (known.type.api_version() == api_version) found.known = &known;
        other_operator = known.job_kind != nullptr && is_of_others(group);
    }
    if (found.known != nullptr) return found;
    const auto elsewhere = std::ranges::find_if(kElsewhere, [&](const Elsewhere& one) {
        return one.kind == kind && (one.group.empty() || one.group == group);
    });
    if (elsewhere != kElsewhere.end()) {
        found.message =
            fmt::format("{} is known in {}, but not served here yet: {}; the served kinds are {}",
                        kind, elsewhere->project, elsewhere->instead, list_known());
        return found;
    }
    if (!versions.empty()) {
        found.kind_is_known = true;
        if (other_operator) {
            found.message = fmt::format(
                "the {} of {} is another operator's; the one that runs here has apiVersion: {}, "
                "and its fields may differ",
                kind, group, fmt::join(versions, " or "));
            return found;
        }
        found.message = fmt::format("{} is not served in version \"{}\"; write apiVersion: {}",
                                    kind, api_version, fmt::join(versions, " or "));
        return found;
    }
    const std::string nearest = kube::nearest_name(kind, names);
    found.message = why_passed_over(group, kind, nearest);
    found.passed_over = !found.message.empty();
    if (found.passed_over) return found;
    const std::string advice =
        nearest.empty() ? std::string() : fmt::format(", did you mean {}?", nearest);
    found.message = fmt::format("the kind \"{}\" is not known{}; the known kinds are {}", kind,
                                advice, list_known());
    return found;
}

}  // namespace muster::manifest
