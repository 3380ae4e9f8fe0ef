#include "apiserver/internal/types/unset_objects.h"

#include <map>
#include <string>

#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

struct Row {
    std::string_view kind;  ///< with the apiVersion, where it has several
    std::string_view object;
};

constexpr std::string_view kSpec = R"({"spec":{}})";
constexpr std::string_view kRoleRef = R"({"roleRef":{"apiGroup":"","kind":"","name":""}})";
constexpr std::string_view kRules = R"({"rules":null})";
constexpr std::string_view kAutoscaler =
    R"({"spec":{"maxReplicas":0,"scaleTargetRef":{"kind":"","name":""}}})";

/// k8s.io/api v0.33: which fields have no `omitempty`, or are structs.
constexpr Row kRows[] = {
    {"ClusterRole", kRules},
    {"ClusterRoleBinding", kRoleRef},
    {"ControllerRevision", R"({"data":null,"revision":0})"},
    {"CronJob", R"({"spec":{"jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},
        "spec":{"containers":null}}}},"schedule":""}})"},
    {"CSIDriver", kSpec},
    {"CSINode", R"({"spec":{"drivers":null}})"},
    {"CSIStorageCapacity", R"({"storageClassName":""})"},
    {"DaemonSet", R"({"spec":{"selector":null,"template":{"metadata":{},
        "spec":{"containers":null}},"updateStrategy":{}}})"},
    {"Deployment", R"({"spec":{"selector":null,"strategy":{},"template":{"metadata":{},
        "spec":{"containers":null}}}})"},
    {"EndpointSlice", R"({"addressType":"","endpoints":null,"ports":null})"},
    {"events.k8s.io/v1 Event", R"({"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null,
        "deprecatedSource":{},"eventTime":null,"regarding":{}})"},
    {"HorizontalPodAutoscaler", kAutoscaler},
    {"Ingress", kSpec},
    {"IngressClass", kSpec},
    {"Job", R"({"spec":{"template":{"metadata":{},"spec":{"containers":null}}}})"},
    {"Lease", kSpec},
    {"LimitRange", R"({"spec":{"limits":null}})"},
    {"Namespace", kSpec},
    {"NetworkPolicy", R"({"spec":{"podSelector":{}}})"},
    {"Node", kSpec},
    {"PersistentVolume", kSpec},
    {"PersistentVolumeClaim", R"({"spec":{"resources":{}}})"},
    {"Pod", R"({"spec":{"containers":null}})"},
    {"PodDisruptionBudget", kSpec},
    {"PodTemplate", R"({"template":{"metadata":{},"spec":{"containers":null}}})"},
    {"PriorityClass", R"({"value":0})"},
    {"ReplicaSet", R"({"spec":{"selector":null,"template":{"metadata":{},
        "spec":{"containers":null}}}})"},
    {"ReplicationController", kSpec},
    {"ResourceQuota", kSpec},
    {"Role", kRules},
    {"RoleBinding", kRoleRef},
    {"RuntimeClass", R"({"handler":""})"},
    {"Service", kSpec},
    {"StatefulSet", R"({"spec":{"selector":null,"serviceName":"","template":{"metadata":{},
        "spec":{"containers":null}},"updateStrategy":{}}})"},
    {"StorageClass", R"({"provisioner":""})"},
    {"v1 Event", R"({"eventTime":null,"firstTimestamp":null,"involvedObject":{},
        "lastTimestamp":null,"reportingComponent":"","reportingInstance":"","source":{}})"},
    {"ValidatingAdmissionPolicy", kSpec},
    {"ValidatingAdmissionPolicyBinding", kSpec},
    {"VolumeAttachment", R"({"spec":{"attacher":"","nodeName":"","source":{}}})"},
    {"VolumeAttributesClass", R"({"driverName":""})"},
};

}  // namespace

const json::value* unset_object(std::string_view api_version, std::string_view kind) {
    static const auto kObjects = [] {
        std::map<std::string, json::value, std::less<>> objects;
        for (const Row& row : kRows) objects.emplace(row.kind, kube::read_json(row.object).value());
        return objects;
    }();
    auto found = kObjects.find(kind);
    if (found == kObjects.end())
        found = kObjects.find(std::string(api_version) + " " + std::string(kind));
    return found == kObjects.end() ? nullptr : &found->second;
}

}  // namespace muster::apiserver
