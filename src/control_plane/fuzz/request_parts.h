#pragma once

#include <array>
#include <string_view>

namespace muster::control_plane::fuzzed {

// What requests are made of in request_fuzz.cc: bytes of an input choose among them, so new ones go
// to the ends.

inline constexpr auto kMethods = std::to_array<std::string_view>(
    {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"});

inline constexpr auto kCollections = std::to_array<std::string_view>(
    {"/api/v1/namespaces/default/configmaps",
     "/api/v1/namespaces/default/pods",
     "/api/v1/namespaces/default/secrets",
     "/api/v1/namespaces/default/services",
     "/api/v1/namespaces/default/events",
     "/api/v1/namespaces/default/serviceaccounts",
     "/api/v1/namespaces",
     "/api/v1/nodes",
     "/apis/apps/v1/namespaces/default/deployments",
     "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
     "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
     "/apis/coordination.k8s.io/v1/namespaces/default/leases",
     "/apis/events.k8s.io/v1/namespaces/default/events",
     "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
     "/apis/rbac.authorization.k8s.io/v1/clusterroles",
     "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
     "/apis/scheduling.k8s.io/v1/priorityclasses",
     "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
     "/apis/example.org/v1/namespaces/default/widgets",
     "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
     "/apis/authorization.k8s.io/v1/subjectaccessreviews",
     "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
     "/apis/authentication.k8s.io/v1/tokenreviews"});

inline constexpr auto kNames =
    std::to_array<std::string_view>({"a", "b", "widgets.example.org", "default"});

inline constexpr auto kSubresources = std::to_array<std::string_view>(
    {"", "", "/status", "/scale", "/log", "/eviction", "/binding", "/token", "/exec", "/finalize",
     "/ephemeralcontainers", "/resize"});

inline constexpr auto kDocuments =
    std::to_array<std::string_view>({"/",
                                     "/api",
                                     "/apis",
                                     "/api/v1",
                                     "/apis/apps/v1",
                                     "/apis/nothing",
                                     "/openapi/v2",
                                     "/openapi/v3",
                                     "/openapi/v3/api/v1",
                                     "/version",
                                     "/healthz",
                                     "/readyz?verbose",
                                     "/livez/ping",
                                     "/metrics",
                                     "/%ff",
                                     "/api/v1/%zz",
                                     "//api/v1",
                                     "/api/v1/../v1/pods",
                                     "/.well-known/openid-configuration",
                                     "/logs",
                                     "/apis/metrics.k8s.io/v1beta1/nodes"});

inline constexpr auto kAccepts = std::to_array<std::string_view>(
    {"application/json", "application/yaml",
     "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
     "application/yaml;as=Table;v=v1;g=meta.k8s.io",
     "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
     "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
     "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf",
     "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "text/plain", "*/*",
     "application/json;stream=watch", ""});

inline constexpr auto kContentTypes = std::to_array<std::string_view>(
    {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
     "application/merge-patch+json", "application/json-patch+json",
     "application/strategic-merge-patch+json", "application/apply-patch+yaml",
     "application/json; charset=utf-8", "application/cbor", ""});

inline constexpr auto kQueries = std::to_array<std::string_view>({"watch=true&timeoutSeconds=1",
                                                                  "limit=1",
                                                                  "continue=",
                                                                  "labelSelector=",
                                                                  "fieldSelector=",
                                                                  "dryRun=All",
                                                                  "fieldManager=",
                                                                  "fieldValidation=Strict",
                                                                  "fieldValidation=Warn",
                                                                  "resourceVersion=",
                                                                  "resourceVersionMatch=Exact",
                                                                  "includeObject=Metadata",
                                                                  "pretty=true",
                                                                  "propagationPolicy=",
                                                                  "gracePeriodSeconds=",
                                                                  "force=true",
                                                                  "allowWatchBookmarks=true",
                                                                  "sendInitialEvents=true",
                                                                  "timeoutSeconds=1",
                                                                  "command=",
                                                                  "container=",
                                                                  "tailLines=",
                                                                  "sinceSeconds="});

inline constexpr auto kValues =
    std::to_array<std::string_view>({"1", "-1", "0", "9223372036854775807", "1e400", "a", "a=b,!c",
                                     "metadata.name=a", "%00", "%ff", "Foreground", "[]"});

/// What clients send; requests change parts of it.
inline constexpr auto kObjects = std::to_array<std::string_view>(
    {R"({"metadata":{"name":"a"},"data":{"k":"v"}})",
     R"({"metadata":{"generateName":"a-","labels":{"a":"b"},"annotations":{"c":"d"},"finalizers":["x/y"],)"
     R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"}]},"stringData":{"k":"v"}})",
     R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i",)"
     R"("command":["x"],"env":[{"name":"A","value":"b"}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})",
     R"({"metadata":{"name":"a"},"spec":{"selector":{"a":"b"},"ports":[{"port":80,"targetPort":"web"}]}})",
     R"({"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":)"
     R"({"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
     R"({"metadata":{"name":"a"},"rules":[{"apiGroups":["*"],"resources":["pods"],"verbs":["get"]}]})",
     R"({"metadata":{"name":"a"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"a"},)"
     R"("subjects":[{"kind":"User","name":"ada"}]})",
     R"({"metadata":{"name":"widgets.example.org"},"spec":{"group":"example.org","scope":"Namespaced","names":)"
     R"({"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":)"
     R"({"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"subresources":{"status":{}}}]}})",
     R"({"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"n":1}})",
     R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"},"user":"ada","groups":["g"],"token":"t"}})",
     R"([{"op":"replace","path":"/data/k","value":"w"},{"op":"test","path":"/metadata/name","value":"a"}])",
     R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":1,"preconditions":{"uid":"u"}})",
     R"({"metadata":{"name":"a"},"value":1,"globalDefault":false,"spec":{"minReplicas":1,"maxReplicas":2,)"
     R"("scaleTargetRef":{"kind":"Deployment","name":"a"},"minAvailable":"50%"}})",
     "{}"});

/// YAML that JSON does not have.
inline constexpr auto kYaml = std::to_array<std::string_view>(
    {"metadata: &m {name: a}\ndata: {k: v}\nother: *m\n",
     "metadata:\n  name: a\ndata:\n  k: |\n    v\n", "a: &a [*a]\n",
     "---\nmetadata: {name: a}\n---\n{}\n", "metadata: {name: !!binary aGk=}\n", "? [a]\n: b\n",
     "<<: {metadata: {name: a}}\n", "data: {on: yes, n: 0x1F, t: 2001-12-14}\n"});

}  // namespace muster::control_plane::fuzzed
