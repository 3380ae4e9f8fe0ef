#include "apiserver/internal/controllers/default_roles.h"

#include <string>
#include <string_view>

#include "apiserver/internal/controllers/role_reconciliation.h"
#include "apiserver/resources/access_types.h"
#include "base/check.h"
#include "base/fields.h"

namespace muster::apiserver {

namespace {

// A role's name is in the first column. After it, `+x` adds its rules to the role x, and `from=x`
// makes it the sum of the roles that do so. Below it are its rules, one a line: verbs, then either
// paths, or an API group (`core` is the group without a name) and resources. READ stands for get,
// list and watch, WRITE for the verbs that change something.
constexpr std::string_view kRoleTable = R"(
cluster-admin
  *  *  *
  *  *
system:discovery
  get  /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
system:public-info-viewer
  get  /healthz,/livez,/readyz,/version,/version/
system:monitoring
  get  /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
system:service-account-issuer-discovery
  get  /.well-known/openid-configuration,/openid/v1/jwks
system:basic-user
  create  authorization.k8s.io   selfsubjectaccessreviews,selfsubjectrulesreviews
  create  authentication.k8s.io  selfsubjectreviews
system:auth-delegator
  create  authentication.k8s.io  tokenreviews
  create  authorization.k8s.io   subjectaccessreviews
admin from=admin
edit from=edit +admin
view from=view +edit
system:aggregate-to-admin +admin
  create      authorization.k8s.io       localsubjectaccessreviews
  READ,WRITE  rbac.authorization.k8s.io  roles,rolebindings
system:aggregate-to-edit +edit
  READ         core                   pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate  core                   serviceaccounts
  WRITE        core                   pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create       core                   pods/eviction
  WRITE        core                   configmaps,events,persistentvolumeclaims,secrets,serviceaccounts,services,services/proxy
  WRITE        core                   replicationcontrollers,replicationcontrollers/scale
  create       core                   serviceaccounts/token
  WRITE        events.k8s.io          events
  WRITE        apps                   daemonsets,deployments,deployments/rollback,deployments/scale
  WRITE        apps                   replicasets,replicasets/scale,statefulsets,statefulsets/scale
  WRITE        autoscaling            horizontalpodautoscalers
  WRITE        batch                  cronjobs,jobs
  WRITE        policy                 poddisruptionbudgets
  WRITE        networking.k8s.io      ingresses,networkpolicies
  READ,WRITE   coordination.k8s.io    leases
system:aggregate-to-view +view
  READ  core                 configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods
  READ  core                 replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
  READ  core                 bindings,events,limitranges,namespaces/status,pods/log,pods/status
  READ  core                 replicationcontrollers/status,resourcequotas,resourcequotas/status
  READ  core                 namespaces
  READ  events.k8s.io        events
  READ  discovery.k8s.io     endpointslices
  READ  apps                 controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status
  READ  apps                 replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
  READ  autoscaling          horizontalpodautoscalers,horizontalpodautoscalers/status
  READ  batch                cronjobs,cronjobs/status,jobs,jobs/status
  READ  policy               poddisruptionbudgets,poddisruptionbudgets/status
  READ  networking.k8s.io    ingresses,ingresses/status,networkpolicies
system:aggregated-metrics-reader +admin +edit +view
  READ  metrics.k8s.io  nodes,pods
)";

struct Binding {
    std::string_view role;  ///< also the binding's name
    std::vector<std::string_view> groups;
};
const Binding kBindings[] = {
    {"cluster-admin", {"system:masters"}},
    {"system:monitoring", {"system:monitoring"}},
    {"system:discovery", {"system:authenticated"}},
    {"system:basic-user", {"system:authenticated"}},
    {"system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}},
    {"system:service-account-issuer-discovery", {"system:serviceaccounts"}},
};

/// The non-empty parts between the separators.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty())
        if (const std::string_view part = take_field(text, separator); !part.empty())
            parts.push_back(part);
    return parts;
}

std::string aggregation_label(std::string_view role) {
    return "rbac.authorization.k8s.io/aggregate-to-" + std::string(role);
}

json::array verbs_of(std::string_view text) {
    json::array verbs;
    for (const std::string_view word : split(text, ',')) {
        if (word == "READ")
            for (const char* verb : {"get", "list", "watch"}) verbs.emplace_back(verb);
        else if (word == "WRITE")
            for (const char* verb : {"create", "delete", "deletecollection", "patch", "update"})
                verbs.emplace_back(verb);
        else
            verbs.emplace_back(word);
    }
    return verbs;
}

json::object rule_of(std::string_view line) {
    const std::vector<std::string_view> words = split(line, ' ');
    CHECK(words.size() == 2 || words.size() == 3, "a rule of the table has two or three parts");
    const std::vector<std::string_view> things = split(words.back(), ',');
    json::object rule{{"verbs", verbs_of(words.front())}};
    if (words.size() == 3) {
        rule["apiGroups"] = json::array{words[1] == "core" ? std::string_view() : words[1]};
        rule["resources"] = json::array(things.begin(), things.end());
    } else {
        rule["nonResourceURLs"] = json::array(things.begin(), things.end());
    }
    return rule;
}

json::object metadata(std::string_view name) {
    return {{"name", name},
            {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
            {"annotations", {{kAutoUpdate, "true"}}}};
}

json::object role_of(std::string_view line) {
    json::object role{{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", kClusterRoles.kind}};
    for (const std::string_view word : split(line, ' ')) {
        if (!role.contains("metadata")) {
            role["metadata"] = metadata(word);
            role["rules"].emplace_array();
        } else if (word.starts_with('+')) {
            role["metadata"].at("labels").get_object()[aggregation_label(word.substr(1))] = "true";
        } else {
            CHECK(word.starts_with("from="), "a role of the table has an unknown mark");
            const json::object labels{{aggregation_label(word.substr(5)), "true"}};
            role["aggregationRule"] = {
                {"clusterRoleSelectors", json::array{json::object{{"matchLabels", labels}}}}};
        }
    }
    return role;
}

json::object binding_of(const Binding& binding) {
    json::array subjects;
    for (const std::string_view group : binding.groups)
        subjects.push_back(
            json::object{{"kind", "Group"}, {"apiGroup", kRbacGroup}, {"name", group}});
    return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
            {"kind", kClusterRoleBindings.kind},
            {"metadata", metadata(binding.role)},
            {"subjects", std::move(subjects)},
            {"roleRef",
             {{"apiGroup", kRbacGroup}, {"kind", kClusterRoles.kind}, {"name", binding.role}}}};
}

/// Who may read by what authority the clients of this server are known: servers that extend it.
json::object authentication_reader() {
    json::object role{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                      {"kind", kRoles.kind},
                      {"metadata", metadata("extension-apiserver-authentication-reader")}};
    role["metadata"].get_object()["namespace"] = "kube-system";
    json::object rule = rule_of("READ core configmaps");
    rule["resourceNames"] = json::array{kAuthenticationConfig};
    role["rules"] = json::array{std::move(rule)};
    return role;
}

}  // namespace

std::vector<DefaultObject> default_access_objects() {
    std::vector<DefaultObject> objects;
    for (const std::string_view line : split(kRoleTable, '\n')) {
        if (line.starts_with(' '))
            objects.back().object["rules"].get_array().push_back(rule_of(line));
        else
            objects.push_back({&kClusterRoles, role_of(line)});
    }
    for (const Binding& binding : kBindings)
        objects.push_back({&kClusterRoleBindings, binding_of(binding)});
    objects.push_back({&kRoles, authentication_reader()});
    return objects;
}

}  // namespace muster::apiserver
