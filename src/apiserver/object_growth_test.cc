#include "apiserver/server_fixture.h"
#include "base/test_growth.h"

// What the rules of the kinds cost: an object with ten times as much in it is ten times the work,
// whatever in it is long.

namespace muster::apiserver::object_growth_test {
namespace {

const std::string kCore = "/api/v1/namespaces/default/";

/// `one` for each number, as items of a list.
template <class One>
std::string items(std::size_t size, One one) {
    return "[" + repeated(size, [&](std::size_t i) { return (i == 0 ? "" : ",") + one(i); }) + "]";
}
/// `text` with the number for each `{}`.
std::string items(std::size_t size, const char* text) {
    return items(size, [&](std::size_t i) {
        std::string item = text;
        for (std::size_t at = 0; (at = item.find("{}", at)) != item.npos;)
            item.replace(at, 2, std::to_string(i));
        return item;
    });
}

std::string with_metadata(std::size_t size) {
    return R"({"metadata":{"name":"m","finalizers":)" + items(size, R"("a.io/f{}")") +
           R"(,"ownerReferences":)" +
           items(std::min<std::size_t>(size, 1'000),
                 R"({"apiVersion":"v1","kind":"Pod","name":"p{}","uid":"u{}"})") +
           R"(,"labels":{"a":"b")" +
           repeated(size, [](std::size_t i) { return fmt::format(R"(,"l{}":"v")", i); }) +
           R"(},"annotations":{"a":"b")" +
           repeated(size, [](std::size_t i) { return fmt::format(R"(,"a.io/a{}":"v")", i); }) +
           "}}}";
}
std::string pod_with(const std::string& spec, const std::string& container = "") {
    return R"({"metadata":{"name":"p"},"spec":{)" + spec + (spec.empty() ? "" : ",") +
           R"("containers":[{"name":"c","image":"a")" + container + "}]}}";
}
std::string containers(std::size_t size) {
    return R"({"metadata":{"name":"p"},"spec":{"containers":)" +
           items(size, R"({"name":"c{}","image":"a","resources":{"limits":{"cpu":"1"}}})") +
           R"(,"initContainers":)" + items(size, R"({"name":"i{}","image":"a"})") + "}}";
}
std::string environment(std::size_t size) {
    return pod_with("", R"(,"env":)" + items(size, R"({"name":"V{}","value":"$(V0)."})") +
                            R"(,"envFrom":)" + items(size, R"({"configMapRef":{"name":"m{}"}})"));
}
std::string same_environment(std::size_t size) {
    return pod_with("", R"(,"env":)" + items(size, R"({"name":"V","value":"x"})"));
}
std::string ports(std::size_t size) {
    return pod_with(
        "", R"(,"ports":)" + items(size, R"({"name":"p{}","containerPort":1{},"hostPort":1{}})"));
}
std::string volumes(std::size_t size) {
    return pod_with(R"("volumes":)" + items(size, R"({"name":"v{}","hostPath":{"path":"/"}})"),
                    R"(,"volumeMounts":)" + items(size, R"({"name":"v{}","mountPath":"/m{}"})"));
}
std::string missing_volumes(std::size_t size) {
    return pod_with(R"("volumes":)" + items(size, R"({"name":"v{}","hostPath":{"path":"/"}})"),
                    R"(,"volumeMounts":)" + items(size, R"({"name":"w{}","mountPath":"/m{}"})"));
}
std::string projections(std::size_t size) {
    return pod_with(
        R"("volumes":[{"name":"v","projected":{"sources":)" +
        items(size, R"({"configMap":{"name":"m{}","items":[{"key":"k","path":"p{}"}]}})") + "}}]");
}
std::string pod_lists(std::size_t size) {
    return pod_with(
        R"("tolerations":)" + items(size, R"({"key":"k{}","operator":"Exists"})") +
        R"(,"imagePullSecrets":)" + items(size, R"({"name":"s{}"})") + R"(,"hostAliases":)" +
        items(size, R"({"ip":"10.0.0.1","hostnames":["h{}"]})") + R"(,"readinessGates":)" +
        items(size, R"({"conditionType":"a.io/c{}"})") + R"(,"schedulingGates":)" +
        items(size, R"({"name":"a.io/g{}"})") + R"(,"topologySpreadConstraints":)" +
        items(size, R"({"maxSkew":1,"topologyKey":"k{}","whenUnsatisfiable":"DoNotSchedule"})") +
        R"(,"securityContext":{"supplementalGroups":)" + items(size, "1{}") + R"(,"sysctls":)" +
        items(size, R"({"name":"net.a{}","value":"1"})") + "}");
}
std::string affinity(std::size_t size) {
    const std::string terms =
        items(size, R"({"matchExpressions":[{"key":"k{}","operator":"In","values":["v"]}]})");
    return pod_with(
        R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
        R"({"nodeSelectorTerms":)" +
        terms + R"(}},"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)" +
        items(size, R"({"topologyKey":"k{}","labelSelector":{"matchLabels":{"a":"b"}}})") + "}}");
}
std::string unknown_fields(std::size_t size) {
    return pod_with("",
                    repeated(size, [](std::size_t i) { return fmt::format(R"(,"x{}":1)", i); }));
}
std::string data(std::size_t size) {
    return R"({"metadata":{"name":"m"},"data":{"a":"b")" +
           repeated(size, [](std::size_t i) { return fmt::format(R"(,"k{}":"v")", i); }) +
           R"(},"binaryData":{"b":"YQ==")" +
           repeated(size, [](std::size_t i) { return fmt::format(R"(,"b{}":"YQ==")", i); }) + "}}";
}
std::string service(std::size_t size) {
    return R"({"metadata":{"name":"s"},"spec":{"ports":)" +
           items(size, R"({"name":"p{}","port":1{}})") + "}}";
}
std::string slices(std::size_t size) {
    return R"({"metadata":{"name":"s"},"addressType":"IPv4","endpoints":)" +
           items(size, R"({"addresses":["10.0.0.1"]})") + R"(,"ports":)" +
           items(size, R"({"name":"p{}","port":1})") + "}";
}
std::string role(std::size_t size) {
    return R"({"metadata":{"name":"r"},"rules":)" +
           items(size, R"({"verbs":["v{}"],"apiGroups":["g{}"],"resources":["r{}"]})") + "}";
}
std::string aggregating_role(std::size_t size) {
    return R"({"metadata":{"name":"r"},"aggregationRule":{"clusterRoleSelectors":)" +
           items(size, R"({"matchLabels":{"a{}":"b"}})") + R"(},"rules":[]})";
}
std::string binding(std::size_t size) {
    return R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":)" +
           items(size, R"({"kind":"User","name":"u{}","apiGroup":"rbac.authorization.k8s.io"})") +
           "}";
}
std::string webhooks(std::size_t size) {
    return R"({"metadata":{"name":"w"},"webhooks":)" +
           items(size,
                 R"({"name":"w{}.a.io","sideEffects":"None","admissionReviewVersions":["v1"],)"
                 R"("clientConfig":{"url":"https://h/x"},"rules":[{"operations":["CREATE"],)"
                 R"("apiGroups":["g{}"],"apiVersions":["v1"],"resources":["r{}"]}]})") +
           "}";
}
std::string policy(std::size_t size) {
    return R"({"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":)" +
           items(size, R"({"operations":["CREATE"],"apiGroups":["g{}"],"apiVersions":["v1"],)"
                       R"("resources":["r{}"],"resourceNames":["n{}"]})") +
           R"(},"variables":)" + items(size, R"({"name":"v{}","expression":"{}"})") +
           R"(,"validations":)" +
           items(size, R"({"expression":"variables.v{} == 1","messageExpression":"'m{}'"})") + "}}";
}
std::string quota(std::size_t size) {
    return R"({"metadata":{"name":"q"},"spec":{"hard":{"cpu":"1")" +
           repeated(size,
                    [](std::size_t i) { return fmt::format(R"(,"count/r{}.a.io":"1")", i); }) +
           "}}}";
}
std::string limits(std::size_t size) {
    return R"({"metadata":{"name":"l"},"spec":{"limits":)" +
           items(size, R"({"type":"Container","max":{"a.io/r{}":"2"},"min":{"a.io/r{}":"1"}})") +
           "}}";
}
std::string ingress(std::size_t size) {
    return R"({"metadata":{"name":"i"},"spec":{"rules":)" +
           items(size,
                 R"({"host":"h{}.io","http":{"paths":[{"path":"/","pathType":"Prefix","backend":)"
                 R"({"service":{"name":"s","port":{"number":1}}}}]}})") +
           "}}";
}

std::string schedule(std::size_t size) {
    return R"({"metadata":{"name":"c"},"spec":{"schedule":")" + std::string(size, ' ') +
           R"(","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":)"
           R"([{"name":"c","image":"a"}]}}}}}})";
}

std::string definition(const std::string& versions, const std::string& names = "") {
    return R"({"metadata":{"name":"xs.a.io"},"spec":{"group":"a.io","scope":"Namespaced","names":{"plural":"xs","kind":"X")" +
           names + R"(},"versions":)" + versions + "}}";
}
std::string version(const std::string& schema, const std::string& more = "") {
    return R"([{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" +
           schema + "}}}" + more + "}]";
}
std::string versions(std::size_t size) {
    return definition(items(size, [](std::size_t i) {
        return fmt::format(
            R"({{"name":"v{}","served":true,"storage":{},"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}})",
            i + 1, i == 0);
    }));
}
std::string short_names(std::size_t size) {
    return definition(version(R"({"type":"object"})"),
                      R"(,"shortNames":)" + items(size, R"("s{}")") + R"(,"categories":)" +
                          items(size, R"("c{}")"));
}
std::string properties(std::size_t size) {
    return definition(version(
        R"({"type":"object","properties":{"a":{"type":"string"})" +
        repeated(size,
                 [](std::size_t i) {
                     return fmt::format(
                         R"(,"p{}":{{"type":"string","default":"x","pattern":"^[a-z]{}$"}})", i, i);
                 }) +
        R"(},"required":)" + items(size, R"("p{}")") + "}"));
}
std::string rules(std::size_t size) {
    return definition(version(
        R"({"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":)" +
        items(size, R"({"rule":"self.a != {}","message":"m"})") + "}"));
}
std::string columns(std::size_t size) {
    return definition(
        version(R"({"type":"object"})",
                R"(,"additionalPrinterColumns":)" +
                    items(size, R"({"name":"c{}","type":"string","jsonPath":".spec.p{}"})") +
                    R"(,"selectableFields":)" + items(size, R"({"jsonPath":".spec.p{}"})")));
}

struct Kind {
    const char* name;
    std::string path;
    std::string (*body)(std::size_t size);
    std::size_t size;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ObjectGrowth : public ServerFixture, public ::testing::WithParamInterface<Kind> {
  protected:
    ObjectGrowth() : ServerFixture({.manage_fields = true}) {}
};

TEST_P(ObjectGrowth, IsLinear) {
    const Kind& kind = GetParam();
    const kube::ObjectPtr small = parse(kind.body(kind.size));
    const kube::ObjectPtr large = parse(kind.body(10 * kind.size));
    const auto post = [&](const kube::ObjectPtr& body) {
        const int status = call(kube::Method::kPost, kind.path, body, {{"dryRun", "All"}}).status;
        EXPECT_TRUE(status == 201 || status == 422) << status;
    };
    EXPECT_LE(growth_by_ten(kind.size,
                            [&](std::size_t size) { post(size == kind.size ? small : large); }),
              kLinearGrowth);
}

const std::string kPods = kCore + "pods";
const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";

INSTANTIATE_TEST_SUITE_P(Pods, ObjectGrowth,
                         ::testing::Values(Kind{"containers", kPods, containers, 100},
                                           Kind{"environment", kPods, environment, 200},
                                           Kind{"same_environment", kPods, same_environment, 300},
                                           Kind{"ports", kPods, ports, 200},
                                           Kind{"volumes", kPods, volumes, 200},
                                           Kind{"missing_volumes", kPods, missing_volumes, 200},
                                           Kind{"projections", kPods, projections, 200},
                                           Kind{"lists", kPods, pod_lists, 100},
                                           Kind{"affinity", kPods, affinity, 100},
                                           Kind{"unknown_fields", kPods, unknown_fields, 500}),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Others, ObjectGrowth,
    ::testing::Values(
        Kind{"metadata", kCore + "configmaps", with_metadata, 200},
        Kind{"data", kCore + "configmaps", data, 500},
        Kind{"service", kCore + "services", service, 200},
        Kind{"slices", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slices, 300},
        Kind{"role", kRbac + "clusterroles", role, 200},
        Kind{"aggregating_role", kRbac + "clusterroles", aggregating_role, 200},
        Kind{"binding", kRbac + "clusterrolebindings", binding, 200},
        Kind{"webhooks", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
             webhooks, 50},
        Kind{"policy", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", policy,
             30},
        Kind{"quota", kCore + "resourcequotas", quota, 200},
        Kind{"limits", kCore + "limitranges", limits, 200},
        Kind{"schedule", "/apis/batch/v1/namespaces/default/cronjobs", schedule, 20'000},
        Kind{"ingress", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", ingress, 100}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Definitions, ObjectGrowth,
                         ::testing::Values(Kind{"versions", kDefinitions, versions, 50},
                                           Kind{"short_names", kDefinitions, short_names, 200},
                                           Kind{"properties", kDefinitions, properties, 50},
                                           Kind{"rules", kDefinitions, rules, 30},
                                           Kind{"columns", kDefinitions, columns, 100}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::apiserver::object_growth_test
