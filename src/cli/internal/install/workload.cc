#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <set>

#include "cli/internal/install/installation.h"
#include "jobs/kind.h"

namespace muster::cli {

namespace {

constexpr std::int64_t kNobody = 65532;  ///< as images without users have it
constexpr std::int64_t kMetricsPort = 8080;
constexpr std::int64_t kHealthPort = 8081;

json::object metadata(const Installation& installation) {
    return {{"name", kOperatorName},
            {"namespace", installation.namespace_},
            {"labels", common_labels()}};
}

json::object selector() { return {{"matchLabels", pod_labels()}}; }

json::object from_field(std::string_view name, std::string_view path) {
    return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

json::object probe(std::string_view path, std::int64_t delay, std::int64_t period) {
    return {{"httpGet", {{"path", path}, {"port", "health"}}},
            {"initialDelaySeconds", delay},
            {"periodSeconds", period},
            {"timeoutSeconds", 3}};
}

/// The flag by which it leaves MPIJobs alone.
std::string all_but_mpi() {
    std::set<std::string> kinds;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (kind->resource.kind != "MPIJob") kinds.insert(kind->resource.kind);
    return fmt::format("--enable-scheme={}", fmt::join(kinds, ","));
}

json::object container(const Installation& installation) {
    json::array arguments{"operator", "--leader-elect", "--log-format=json"};
    if (!installation.mpi) arguments.push_back(json::string(all_but_mpi()));
    if (installation.agent_tokens) arguments.push_back(json::string("--agent-tokens"));
    if (!installation.watched.empty())
        arguments.push_back(json::string("--namespace=" + installation.watched));
    return {
        {"name", "operator"},
        {"image", installation.image},
        {"args", std::move(arguments)},
        {"env", json::array{from_field("MY_POD_NAME", "metadata.name"),
                            from_field("MY_POD_NAMESPACE", "metadata.namespace"),
                            // For pods that need our program.
                            json::object{{"name", "MUSTER_IMAGE"}, {"value", installation.image}}}},
        {"ports", json::array{json::object{{"name", "metrics"}, {"containerPort", kMetricsPort}},
                              json::object{{"name", "health"}, {"containerPort", kHealthPort}}}},
        {"livenessProbe", probe("/healthz", 15, 20)},
        {"readinessProbe", probe("/readyz", 1, 5)},
        // Far above what it needs for ten thousand pods; without a limit a leak would harm the node.
        {"resources",
         {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}}, {"limits", {{"memory", "1Gi"}}}}},
        {"securityContext",
         {{"allowPrivilegeEscalation", false},
          {"readOnlyRootFilesystem", true},
          {"capabilities", {{"drop", json::array{"ALL"}}}}}}};
}

/// Spreads replicas over nodes if there are several, and over zones.
json::object pod(const Installation& installation) {
    return {{"serviceAccountName", kOperatorName},
            {"securityContext",
             {{"runAsNonRoot", true},
              {"runAsUser", kNobody},
              {"runAsGroup", kNobody},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
            {"affinity",
             {{"podAntiAffinity",
               {{"preferredDuringSchedulingIgnoredDuringExecution",
                 json::array{json::object{{"weight", 100},
                                          {"podAffinityTerm",
                                           {{"topologyKey", "kubernetes.io/hostname"},
                                            {"labelSelector", selector()}}}}}}}}}},
            {"topologySpreadConstraints",
             json::array{json::object{{"maxSkew", 1},
                                      {"topologyKey", "topology.kubernetes.io/zone"},
                                      {"whenUnsatisfiable", "ScheduleAnyway"},
                                      {"labelSelector", selector()}}}},
            {"containers", json::array{container(installation)}}};
}

json::value deployment(const Installation& installation) {
    return json::object{
        {"apiVersion", "apps/v1"},
        {"kind", "Deployment"},
        {"metadata", metadata(installation)},
        {"spec",
         {{"replicas", installation.replicas},
          {"selector", selector()},
          {"template",
           {{"metadata",
             {{"labels", pod_labels()}, {"annotations", {{"sidecar.istio.io/inject", "false"}}}}},
            {"spec", pod(installation)}}}}}};
}

json::value budget(const Installation& installation) {
    return json::object{{"apiVersion", "policy/v1"},
                        {"kind", "PodDisruptionBudget"},
                        {"metadata", metadata(installation)},
                        {"spec", {{"maxUnavailable", 1}, {"selector", selector()}}}};
}

json::value metrics_service(const Installation& installation) {
    json::object meta = metadata(installation);
    meta["annotations"] = {{"prometheus.io/scrape", "true"},
                           {"prometheus.io/path", "/metrics"},
                           {"prometheus.io/port", std::to_string(kMetricsPort)}};
    return json::object{{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", std::move(meta)},
                        {"spec",
                         {{"selector", pod_labels()},
                          {"ports", json::array{json::object{{"name", "metrics"},
                                                             {"port", kMetricsPort},
                                                             {"targetPort", "metrics"}}}}}}};
}

}  // namespace

/// Scrapes and probes; nothing else has a reason to connect to it. What it connects to is not
/// limited: a policy can't name the API server in a way that every cluster understands.
Part network_policy(const Installation& installation) {
    json::array ports;
    for (const std::int64_t port : {kMetricsPort, kHealthPort})
        ports.push_back(json::object{{"port", port}, {"protocol", "TCP"}});
    return {.name = "network-policy",
            .objects = {json::object{
                {"apiVersion", "networking.k8s.io/v1"},
                {"kind", "NetworkPolicy"},
                {"metadata", metadata(installation)},
                {"spec",
                 {{"podSelector", selector()},
                  {"policyTypes", json::array{"Ingress"}},
                  {"ingress", json::array{json::object{{"ports", std::move(ports)}}}}}}}}};
}

Part workload(const Installation& installation) {
    return {
        .name = "operator",
        .objects = {metrics_service(installation), deployment(installation), budget(installation)}};
}

}  // namespace muster::cli
