#include <fmt/format.h>

#include <algorithm>

#include "apiserver/internal/conversions/autoscaler_versions.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/types/builtin_types.h"

namespace muster::apiserver {

namespace {

/// A kind as its clients see it. Differences between kinds are here and in their strategies.
struct StoredKind {
    kube::ResourceType type;
    std::vector<std::string> short_names = {};
    bool of_all = false;  ///< `kubectl get all` has it
    Strategy (*strategy)() = nullptr;
    bool has_status = false;
    bool scales = false;  ///< its spec says how many replicas it has
    bool tracks_generation = false;
    bool unconditional_update = true;
    bool create_on_update = false;
    bool returns_deleted = false;
    const VersionConversion* conversion = nullptr;
    std::string_view stored_in = {};  ///< apiVersion, if it is another one
    std::string_view schema = {};     ///< of core_schema(), if it is not the kind's name
    /// What does not happen with an object unless a controller of the user acts on it. Empty:
    /// nothing needs to be done about one.
    std::string_view missing = {};
    bool of_volumes = false;    ///< binding claims to volumes is to do with it
    bool of_workloads = false;  ///< see Attended::workloads
};

constexpr std::string_view kNoPods = "no pods are made for it";
constexpr std::string_view kNotScaled = "nothing is scaled by it";

const std::vector<StoredKind>& stored_kinds() {
    constexpr bool kClusterWide = false;
    static const std::vector<StoredKind> kKinds = {
        {.type = {"apps", "v1", "deployments", "Deployment"},
         .short_names = {"deploy"},
         .of_all = true,
         .strategy = deployment_strategy,
         .has_status = true,
         .scales = true,
         .tracks_generation = true,
         .missing = kNoPods,
         .of_workloads = true},
        {.type = {"apps", "v1", "replicasets", "ReplicaSet"},
         .short_names = {"rs"},
         .of_all = true,
         .strategy = replica_set_strategy,
         .has_status = true,
         .scales = true,
         .tracks_generation = true,
         .missing = kNoPods,
         .of_workloads = true},
        {.type = {"apps", "v1", "statefulsets", "StatefulSet"},
         .short_names = {"sts"},
         .of_all = true,
         .strategy = stateful_set_strategy,
         .has_status = true,
         .scales = true,
         .tracks_generation = true,
         .missing = kNoPods},
        {.type = {"apps", "v1", "daemonsets", "DaemonSet"},
         .short_names = {"ds"},
         .of_all = true,
         .strategy = daemon_set_strategy,
         .has_status = true,
         .tracks_generation = true,
         .missing = kNoPods},
        {.type = {"apps", "v1", "controllerrevisions", "ControllerRevision"},
         .strategy = controller_revision_strategy},
        {.type = {"batch", "v1", "jobs", "Job"},
         .of_all = true,
         .strategy = job_strategy,
         .has_status = true,
         .tracks_generation = true,
         .missing = kNoPods,
         .of_workloads = true},
        {.type = {"batch", "v1", "cronjobs", "CronJob"},
         .short_names = {"cj"},
         .of_all = true,
         .strategy = cron_job_strategy,
         .has_status = true,
         .tracks_generation = true,
         .missing = "no jobs are made for it",
         .of_workloads = true},
        {.type = {"", "v1", "replicationcontrollers", "ReplicationController"},
         .short_names = {"rc"},
         .of_all = true,
         .strategy = replication_controller_strategy,
         .has_status = true,
         .scales = true,
         .tracks_generation = true,
         .missing = kNoPods},
        {.type = {"", "v1", "podtemplates", "PodTemplate"},
         .strategy = pod_template_strategy,
         .tracks_generation = true,
         .returns_deleted = true},
        {.type = {"", "v1", "endpoints", "Endpoints"},
         .short_names = {"ep"},
         .strategy = endpoints_strategy,
         .create_on_update = true,
         .missing = "no traffic goes where it says"},
        {.type = {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"},
         .strategy = endpoint_slice_strategy,
         .tracks_generation = true,
         .missing = "no traffic goes where it says"},
        {.type = {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
         .short_names = {"pvc"},
         .strategy = claim_strategy,
         .has_status = true,
         .returns_deleted = true,
         .missing = "it gets no volume",
         .of_volumes = true},
        {.type = {"", "v1", "persistentvolumes", "PersistentVolume", kClusterWide},
         .short_names = {"pv"},
         .strategy = volume_strategy,
         .has_status = true,
         .returns_deleted = true,
         .missing = "no claim is bound to it",
         .of_volumes = true},
        {.type = {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kClusterWide},
         .short_names = {"sc"},
         .strategy = storage_class_strategy,
         .returns_deleted = true,
         .missing = "no volumes are made with it",
         .of_volumes = true},
        {.type = {"", "v1", "resourcequotas", "ResourceQuota"},
         .short_names = {"quota"},
         .strategy = resource_quota_strategy,
         .has_status = true,
         .returns_deleted = true},
        {.type = {"", "v1", "limitranges", "LimitRange"},
         .short_names = {"limits"},
         .strategy = limit_range_strategy,
         .create_on_update = true},
        {.type = {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kClusterWide},
         .short_names = {"pc"},
         .strategy = priority_class_strategy,
         .tracks_generation = true},
        {.type = {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kClusterWide},
         .strategy = runtime_class_strategy,
         .unconditional_update = false,
         .create_on_update = true,
         .missing = "pods that name it run like all other pods"},
        {.type = {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"},
         .short_names = {"netpol"},
         .strategy = network_policy_strategy,
         .tracks_generation = true,
         .missing = "no traffic is blocked"},
        {.type = {"networking.k8s.io", "v1", "ingresses", "Ingress"},
         .short_names = {"ing"},
         .strategy = ingress_strategy,
         .has_status = true,
         .tracks_generation = true,
         .missing = "nothing is reached by it"},
        {.type = {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kClusterWide},
         .strategy = ingress_class_strategy,
         .tracks_generation = true},
        {.type = {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
         .short_names = {"hpa"},
         .of_all = true,
         .strategy = autoscaler_strategy,
         .has_status = true,
         .conversion = &kAutoscalerConversion,
         .missing = kNotScaled},
        {.type = {"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
         .short_names = {"hpa"},
         .of_all = true,
         .strategy = autoscaler_v1_strategy,
         .has_status = true,
         .conversion = &kAutoscalerV1Conversion,
         .stored_in = "autoscaling/v2",
         .schema = "HorizontalPodAutoscalerV1",
         .missing = kNotScaled},
    };
    return kKinds;
}

ResourceDef as_resource(const StoredKind& kind) {
    ResourceDef def = builtin(kind.type);
    def.short_names = kind.short_names;
    if (kind.of_all) def.categories = {"all"};
    if (kind.strategy != nullptr) def.strategy = kind.strategy();
    def.has_status = kind.has_status;
    if (kind.scales) def.scale = ScalePaths{"spec.replicas", "status.replicas", "spec.selector"};
    def.tracks_generation = kind.tracks_generation;
    def.unconditional_update = kind.unconditional_update;
    def.create_on_update = kind.create_on_update;
    def.returns_deleted = kind.returns_deleted;
    def.conversion = kind.conversion;
    if (!kind.stored_in.empty()) {
        def.storage_version = false;
        def.storage_api_version = kind.stored_in;
    }
    if (!kind.schema.empty()) def.schema = kube::core_schema(kind.schema);
    return def;
}

}  // namespace

std::vector<DefPtr> stored_types() {
    std::vector<DefPtr> types;
    for (const StoredKind& kind : stored_kinds())
        types.push_back(std::make_shared<const ResourceDef>(as_resource(kind)));
    return types;
}

std::string creation_warning(const ResourceDef& def, const Attended& attended) {
    const auto kind = std::ranges::find(stored_kinds(), def.type, &StoredKind::type);
    if (kind == stored_kinds().end() || kind->missing.empty()) return {};
    if (kind->of_volumes && attended.volumes) return {};
    if (kind->of_workloads && attended.workloads) return {};
    return fmt::format(
        "{} {} is stored, but this server has no controller for it: {}, unless a controller of "
        "yours acts on it",
        def.type.api_version(), def.type.kind, kind->missing);
}

}  // namespace muster::apiserver
