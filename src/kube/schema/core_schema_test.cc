#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

#include "kube/objects/codec_impl.h"
#include "kube/schema/schema.h"

namespace muster::kube::core_schema_test {
namespace {

using ::testing::IsEmpty;
using Type = Schema::Type;
using ListType = Schema::ListType;

constexpr const char* kKinds[] = {"Pod",
                                  "PodTemplateSpec",
                                  "Service",
                                  "ConfigMap",
                                  "Secret",
                                  "Event",
                                  "Namespace",
                                  "Node",
                                  "ServiceAccount",
                                  "Lease",
                                  "Role",
                                  "ClusterRole",
                                  "RoleBinding",
                                  "ClusterRoleBinding",
                                  "SubjectAccessReview",
                                  "TokenRequest",
                                  "ObjectMeta",
                                  "CustomResourceDefinition",
                                  "MutatingWebhookConfiguration",
                                  "ValidatingWebhookConfiguration",
                                  "Deployment",
                                  "ReplicaSet",
                                  "StatefulSet",
                                  "DaemonSet",
                                  "ControllerRevision",
                                  "Job",
                                  "CronJob",
                                  "PodTemplate",
                                  "ReplicationController",
                                  "HorizontalPodAutoscaler",
                                  "HorizontalPodAutoscalerV1",
                                  "PersistentVolumeClaim",
                                  "PersistentVolume",
                                  "StorageClass",
                                  "Endpoints",
                                  "EndpointSlice",
                                  "NetworkPolicy",
                                  "Ingress",
                                  "IngressClass",
                                  "ResourceQuota",
                                  "LimitRange",
                                  "PriorityClass",
                                  "RuntimeClass"};

/// Calls `visit(path, schema)` for everything below a schema.
template <class Visit>
void walk(const Schema& schema, const std::string& path, const Visit& visit) {
    visit(path, schema);
    for (const auto& [name, property] : schema.properties)
        walk(*property, path + "." + name, visit);
    if (schema.items) walk(*schema.items, path + "[]", visit);
    if (schema.additional) walk(*schema.additional, path + "{}", visit);
}

/// The schema at `a.b[].c`.
const Schema* at(std::string_view kind, std::string_view path) {
    const Schema* schema = core_schema(kind).get();
    while (schema != nullptr && !path.empty()) {
        std::string_view word = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(word.size() + 1, path.size()));
        const bool item = word.ends_with("[]");
        if (item) word.remove_suffix(2);
        schema = schema->property(word);
        if (schema != nullptr && item) schema = schema->items.get();
    }
    return schema;
}

TEST(CoreSchema, KnowsTheKindsAndNothingElse) {
    for (const char* kind : kKinds) {
        ASSERT_TRUE(core_schema(kind)) << kind;
        EXPECT_EQ(core_schema(kind)->type, Type::kObject) << kind;
        EXPECT_EQ(core_schema(kind), core_schema(kind)) << "built once: " << kind;
    }
    EXPECT_FALSE(core_schema("Gadget"));
    EXPECT_FALSE(core_schema(""));
}

TEST(CoreSchema, KindsHaveTypeAndMetadata) {
    for (const char* kind : kKinds) {
        const std::string name = kind;
        if (name == "PodTemplateSpec" || name == "ObjectMeta") continue;
        for (const char* field : {"apiVersion", "kind", "metadata"})
            EXPECT_TRUE(core_schema(kind)->property(field)) << kind << "." << field;
        EXPECT_EQ(core_schema(kind)->property("metadata"), core_schema("ObjectMeta").get());
    }
}

// Every table: what it says must make sense by itself.
TEST(CoreSchema, TablesAreConsistent) {
    for (const char* kind : kKinds) {
        walk(*core_schema(kind), kind, [](const std::string& path, const Schema& schema) {
            for (const std::string& name : schema.required)
                EXPECT_TRUE(schema.property(name)) << path << " requires " << name;
            if (schema.type == Type::kArray)
                EXPECT_TRUE(schema.items) << path;
            else
                EXPECT_EQ(schema.list_type, ListType::kAtomic) << path;
            EXPECT_EQ(schema.list_type == ListType::kMap, !schema.list_map_keys.empty()) << path;
            for (const std::string& key : schema.list_map_keys)
                EXPECT_TRUE(schema.items->property(key)) << path << " has key " << key;
            if (!schema.patch_merge_key.empty())
                EXPECT_TRUE(schema.items->property(schema.patch_merge_key)) << path;
            if (schema.patch_merge_primitive) EXPECT_EQ(schema.items->type, Type::kString) << path;
            if (schema.patch_retain_keys) EXPECT_EQ(schema.type, Type::kArray) << path;
            if (schema.repeats) EXPECT_NE(schema.list_type, ListType::kAtomic) << path;
            if (!schema.default_value.is_null())
                EXPECT_THAT(validate(schema, schema.default_value), IsEmpty()) << path;
            EXPECT_TRUE(schema.description.empty()) << path;
        });
    }
}

// kubernetes v1.33, the patchMergeKey and patchStrategy tags of k8s.io/api/core/v1.
TEST(CoreSchema, StrategicMergeTable) {
    struct Row {
        const char* kind;
        const char* path;
        const char* key;  ///< "": a union of scalars
        bool retain;
    };
    const Row kRows[] = {
        {"ObjectMeta", "ownerReferences", "uid", false},
        {"ObjectMeta", "finalizers", "", false},
        {"Pod", "spec.containers", "name", false},
        {"Pod", "spec.initContainers", "name", false},
        {"Pod", "spec.ephemeralContainers", "name", false},
        {"Pod", "spec.volumes", "name", true},
        {"Pod", "spec.imagePullSecrets", "name", false},
        {"Pod", "spec.hostAliases", "ip", false},
        {"Pod", "spec.topologySpreadConstraints", "topologyKey", false},
        {"Pod", "spec.schedulingGates", "name", false},
        {"Pod", "spec.resourceClaims", "name", true},
        {"Pod", "spec.containers[].ports", "containerPort", false},
        {"Pod", "spec.containers[].env", "name", false},
        {"Pod", "spec.containers[].volumeMounts", "mountPath", false},
        {"Pod", "spec.containers[].volumeDevices", "devicePath", false},
        {"Pod", "spec.ephemeralContainers[].ports", "containerPort", false},
        {"Pod", "spec.ephemeralContainers[].env", "name", false},
        {"Pod", "spec.ephemeralContainers[].volumeMounts", "mountPath", false},
        {"Pod", "spec.ephemeralContainers[].volumeDevices", "devicePath", false},
        {"Pod", "status.conditions", "type", false},
        {"Pod", "status.podIPs", "ip", false},
        {"Pod", "status.hostIPs", "ip", false},
        {"Pod", "status.resourceClaimStatuses", "name", true},
        {"Pod", "status.containerStatuses[].volumeMounts", "mountPath", false},
        {"Pod", "status.containerStatuses[].allocatedResourcesStatus", "name", false},
        {"Service", "spec.ports", "port", false},
        {"Service", "status.conditions", "type", false},
        {"ServiceAccount", "secrets", "name", false},
        {"Node", "status.conditions", "type", false},
        {"Node", "status.addresses", "type", false},
        {"Node", "spec.podCIDRs", "", false},
        {"Namespace", "status.conditions", "type", false},
        {"Deployment", "status.conditions", "type", false},
        {"Deployment", "spec.template.spec.containers", "name", false},
        {"StatefulSet", "status.conditions", "type", false},
        {"Job", "status.conditions", "type", false},
        {"ReplicationController", "status.conditions", "type", false},
        {"HorizontalPodAutoscaler", "status.conditions", "type", false},
        {"PersistentVolumeClaim", "status.conditions", "type", false},
        {"MutatingWebhookConfiguration", "webhooks", "name", false},
        {"MutatingWebhookConfiguration", "webhooks[].matchConditions", "name", false},
        {"ValidatingWebhookConfiguration", "webhooks", "name", false},
        {"ValidatingWebhookConfiguration", "webhooks[].matchConditions", "name", false},
    };
    std::set<std::string> merged;
    for (const Row& row : kRows) {
        const Schema* schema = at(row.kind, row.path);
        ASSERT_TRUE(schema) << row.kind << " " << row.path;
        EXPECT_EQ(schema->patch_merge_key, row.key) << row.kind << " " << row.path;
        EXPECT_EQ(schema->patch_merge_primitive, *row.key == '\0') << row.kind << " " << row.path;
        EXPECT_EQ(schema->patch_retain_keys, row.retain) << row.kind << " " << row.path;
        std::string name = row.path;
        merged.insert(name.substr(name.rfind('.') + 1));
    }
    // And no other list merges.
    for (const char* kind : kKinds) {
        walk(*core_schema(kind), kind, [&](const std::string& path, const Schema& schema) {
            if (schema.patch_merge_key.empty() && !schema.patch_merge_primitive) return;
            EXPECT_TRUE(merged.contains(path.substr(path.rfind('.') + 1))) << path;
        });
    }
    for (const char* atomic :
         {"spec.containers[].envFrom", "spec.tolerations", "spec.containers[].args",
          "spec.containers[].command", "status.containerStatuses"}) {
        EXPECT_TRUE(at("Pod", atomic)->patch_merge_key.empty()) << atomic;
    }
}

TEST(CoreSchema, SubstructuresAreShared) {
    EXPECT_EQ(at("Pod", "spec.initContainers[]"), at("Pod", "spec.containers[]"));
    EXPECT_EQ(at("PodTemplateSpec", "spec"), at("Pod", "spec"));
    EXPECT_EQ(at("Pod", "spec.containers[].livenessProbe"),
              at("Pod", "spec.containers[].readinessProbe"));
}

// A CRD object with this inside must stay far below the 256 KiB that client-side apply can carry.
TEST(CoreSchema, PodTemplateIsASmallStructuralSchema) {
    const json::value openapi = core_schema("PodTemplateSpec")->to_openapi();
    EXPECT_LT(json::serialize(openapi).size(), 100'000u);
    RecordProperty("bytes", static_cast<int>(json::serialize(openapi).size()));
    auto [schema, causes] = Schema::from_openapi(openapi, "");
    for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
    ASSERT_TRUE(schema);
    EXPECT_EQ(schema->property("spec")->to_openapi(), openapi.at("properties").at("spec"));
}

TEST(CoreSchema, AnOrdinaryPodIsValid) {
    const json::value pod = json::parse(R"({
      "apiVersion":"v1","kind":"Pod",
      "metadata":{"name":"a","creationTimestamp":null,"labels":{"x":"y"},
                  "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u",
                                      "controller":true}]},
      "spec":{
        "containers":[{"name":"c","image":"i","command":["sh"],"args":["-c","true"],
          "env":[{"name":"A","value":"1"},{"name":"A","value":"2"},
                 {"name":"B","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu",
                                                              "divisor":"1m"}}}],
          "ports":[{"containerPort":80},{"containerPort":80,"name":"again"}],
          "resources":{"limits":{"cpu":0.5,"memory":"1.5Gi","nvidia.com/gpu":1}},
          "volumeMounts":[{"name":"v","mountPath":"/v"}],
          "livenessProbe":{"httpGet":{"port":"http"},"periodSeconds":5},
          "securityContext":{"runAsUser":1000,"capabilities":{"drop":["ALL"]}}}],
        "volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi","medium":"Memory"}}],
        "tolerations":[{"operator":"Exists"},{"operator":"Exists"}],
        "nodeSelector":{"a/b":"c"}},
      "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True",
                "lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"}]}})");
    for (const Cause& cause : validate(*core_schema("Pod"), pod))
        ADD_FAILURE() << cause.field << ": " << cause.message;
    EXPECT_THAT(find_unknown(*core_schema("Pod"), pod), IsEmpty());
}

TEST(CoreSchema, ABadPodGetsEveryProblem) {
    const json::value pod = json::parse(R"({
      "spec":{
        "restartPolicy":1,
        "containers":[
          {"image":"i"},
          {"name":"c","env":[{"value":"1"},{"name":"N","value":1}],
           "ports":[{"name":"x"},{"containerPort":"80"}],
           "resources":{"limits":{"cpu":"lots","nvidia.com/gpu":true}},
           "volumeMounts":[{"name":"v"}]},
          {"name":"c"}]}})");
    std::set<std::string> found;
    for (const Cause& cause : validate(*core_schema("Pod"), pod))
        found.insert(cause.reason + " " + cause.field);
    EXPECT_EQ(found,
              (std::set<std::string>{
                  "FieldValueTypeInvalid spec.restartPolicy",
                  "FieldValueRequired spec.containers[0].name",
                  "FieldValueRequired spec.containers[1].env[0].name",
                  "FieldValueTypeInvalid spec.containers[1].env[1].value",
                  "FieldValueRequired spec.containers[1].ports[0].containerPort",
                  "FieldValueTypeInvalid spec.containers[1].ports[1].containerPort",
                  "FieldValueInvalid spec.containers[1].resources.limits.cpu",
                  "FieldValueTypeInvalid spec.containers[1].resources.limits[nvidia.com/gpu]",
                  "FieldValueRequired spec.containers[1].volumeMounts[0].mountPath",
                  "FieldValueDuplicate spec.containers[2]"}));
}

// --- the structs that C++ code reads must be part of the schema, with types that fit

template <class T>
void expect_fits(const Schema& schema, const std::string& path);

template <class T>
void expect_struct_fits(const Schema& schema, const std::string& path) {
    EXPECT_EQ(schema.type, Type::kObject) << path;
    boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto D) {
        using M = codec::Member<T, decltype(D)>;
        if constexpr (!M::kIsRest) {
            const Schema* property = schema.property(M::name());
            if (property == nullptr) {
                ADD_FAILURE() << path << "." << M::name() << " is not in the schema";
                return;
            }
            using Field = std::remove_cvref_t<decltype(std::declval<T>().*D.pointer)>;
            expect_fits<Field>(*property, path + "." + std::string(M::name()));
        }
    });
}

template <class T>
void expect_fits(const Schema& schema, const std::string& path) {
    if constexpr (codec::kIsOptional<T>) {
        expect_fits<typename T::value_type>(schema, path);
    } else if constexpr (codec::kIsVector<T>) {
        EXPECT_EQ(schema.type, Type::kArray) << path;
        if (schema.items) expect_fits<typename T::value_type>(*schema.items, path + "[]");
    } else if constexpr (codec::kIsMap<T>) {
        EXPECT_EQ(schema.type, Type::kObject) << path;
        ASSERT_TRUE(schema.additional) << path;
        expect_fits<typename T::mapped_type>(*schema.additional, path + "{}");
    } else if constexpr (codec::kIsStruct<T>) {
        expect_struct_fits<T>(schema, path);
    } else if constexpr (std::is_same_v<T, std::string>) {
        EXPECT_EQ(schema.type, Type::kString) << path;
    } else if constexpr (std::is_same_v<T, bool>) {
        EXPECT_EQ(schema.type, Type::kBoolean) << path;
    } else if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(schema.type, Type::kInteger) << path;
        EXPECT_EQ(schema.format, sizeof(T) == 4 ? "int32" : "int64") << path;
    } else {
        static_assert(std::is_same_v<T, json::value>);
        EXPECT_TRUE(schema.type == Type::kIntOrString || schema.type == Type::kAny) << path;
    }
}

TEST(CoreSchema, StructuresKnowTheirNames) {
    const Schema::Ptr pod = core_schema("Pod");
    EXPECT_EQ(core_schema_name(*pod), "Pod");
    EXPECT_EQ(core_schema_name(*pod->property("spec")->property("containers")->items), "Container");
    EXPECT_EQ(core_schema_name(*pod->property("spec")->property("containers")), "") << "a list";
    EXPECT_EQ(core_schema_name(*pod->property("kind")), "") << "a text";
    EXPECT_EQ(core_schema_name(Schema(*pod)), "") << "a copy";
}

TEST(CoreSchema, HasEveryMemberOfTheStructs) {
    expect_fits<Pod>(*core_schema("Pod"), "Pod");
    expect_fits<PodTemplateSpec>(*core_schema("PodTemplateSpec"), "PodTemplateSpec");
    expect_fits<Service>(*core_schema("Service"), "Service");
    expect_fits<ConfigMap>(*core_schema("ConfigMap"), "ConfigMap");
    expect_fits<Secret>(*core_schema("Secret"), "Secret");
    expect_fits<Event>(*core_schema("Event"), "Event");
    expect_fits<Node>(*core_schema("Node"), "Node");
    expect_fits<ObjectMeta>(*core_schema("ObjectMeta"), "ObjectMeta");
}

}  // namespace
}  // namespace muster::kube::core_schema_test
