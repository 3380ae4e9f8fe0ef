#include "manifest/known_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>

namespace muster::manifest {

namespace {

std::vector<KnownKind> make_known_kinds() {
    std::vector<KnownKind> kinds;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        kinds.push_back({kind->resource, jobs::object_schema(*kind), kind});
    for (const kube::ResourceType* type :
         {&kube::types::kConfigMaps, &kube::types::kNamespaces, &kube::types::kPods,
          &kube::types::kSecrets, &kube::types::kServices})
        kinds.push_back({*type, kube::core_schema(type->kind), nullptr});
    return kinds;
}

/// Job kinds of other projects that people have manifests of and that jobs/ does not have yet.
struct Elsewhere {
    std::string_view kind;
    std::string_view group;  ///< empty: any
    std::string_view project;
    std::string_view instead;  ///< what does the same here
};
constexpr std::array<Elsewhere, 4> kElsewhere = {{
    {"ElasticJob", "elastic.pytorch.org", "TorchElastic",
     "write it as a PyTorchJob whose minReplicas and maxReplicas are in spec.elasticPolicy, and "
     "which needs no etcd (examples/pytorch-elastic.yaml)"},
    {"ElasticJob", "", "DLRover",
     "put its dlrover-run command into a PyTorchJob and start that with 'muster run --elastic' "
     "(docs/elastic.md, From DLRover)"},
    {"ScalePlan", "", "DLRover",
     "the nodes of an elastic PyTorchJob come and go within --nnodes or elasticPolicy "
     "(docs/elastic.md, From DLRover)"},
    {"TrainJob", "", "Kubeflow",
     "put the command of its trainer into a PyTorchJob (examples/pytorch-digits.yaml)"},
}};

/// Whether kinds of this API group are not Kubeflow's. Its first operators had groups of their own,
/// such as xgboostjob.kubeflow.org, with the same fields.
bool is_of_others(std::string_view group) {
    return group.find('.') != std::string_view::npos && group != "kubeflow.org" &&
           !group.ends_with(".kubeflow.org");
}

/// What to write instead of a kind of Kubernetes that only a cluster has a controller for; "" if the
/// kind is none of these.
std::string_view instead_of_controlled(std::string_view kind) {
    for (const std::string_view workload :
         {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"})
        if (kind == workload) return "write the template of its pods as a Pod";
    for (const std::string_view storage :
         {"PersistentVolume", "PersistentVolumeClaim", "StorageClass"})
        if (kind == storage) return "give the pods a volume of hostPath or emptyDir";
    return {};
}

std::string list_known() {
    std::vector<std::string> names;
    for (const KnownKind& known : known_kinds())
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
    const auto elsewhere = std::ranges::find_if(kElsewhere, [&](const Elsewhere& one) {
        return one.kind == kind && (one.group.empty() || one.group == group);
    });
    if (elsewhere != kElsewhere.end()) {
        found.message =
            fmt::format("{} is known in {}, but not served here yet: {}; the served kinds are {}",
                        kind, elsewhere->project, elsewhere->instead, list_known());
        return found;
    }
    if (const std::string_view instead = instead_of_controlled(kind); !instead.empty()) {
        found.message = fmt::format(
            "a {} is not created here: {}, or create it first where the job is for a cluster; the "
            "known kinds are {}",
            kind, instead, list_known());
        return found;
    }
    const std::string nearest = kube::nearest_name(kind, names);
    const std::string advice =
        nearest.empty()
            ? ": what a job needs on a cluster alone (rights, queues, priorities) can be left out "
              "here, and is created first where the job is for a cluster"
            : fmt::format(", did you mean {}?", nearest);
    found.message = fmt::format("the kind \"{}\" is not known{}; the known kinds are {}", kind,
                                advice, list_known());
    return found;
}

}  // namespace muster::manifest
