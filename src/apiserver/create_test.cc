#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::create_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

class CreateTest : public ServerFixture {};

struct Refused {
    const char* what;
    const char* path;
    std::string body;
    int status;
    const char* reason;
    const char* message;
};

std::string pod_with(const char* spec) {
    return fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{}}})", spec);
}

TEST_F(CreateTest, RefusesWhatARealServerRefuses) {
    const std::vector<Refused> rows = {
        {"unknown namespace", "/api/v1/namespaces/nope/configmaps", config_map("a"), 404,
         "NotFound", "namespaces \"nope\" not found"},
        {"namespace mismatch", kConfigMaps, R"({"metadata":{"name":"a","namespace":"other"}})", 400,
         "BadRequest",
         "the namespace of the provided object does not match the namespace sent on the request"},
        {"no name", kConfigMaps, R"({"metadata":{}})", 422, "Invalid",
         "metadata.name: Required value: name or generateName is required"},
        {"bad name", kConfigMaps, R"({"metadata":{"name":"A_b"}})", 422, "Invalid",
         "metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of"},
        {"resourceVersion set", kConfigMaps, R"({"metadata":{"name":"a","resourceVersion":"5"}})",
         500, "InternalError", "resourceVersion should not be set on objects to be created"},
        {"wrong type of a field", kConfigMaps, R"({"metadata":{"name":"a"},"data":{"a":1}})", 400,
         "BadRequest", "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: data"},
        {"another version", kConfigMaps, R"({"apiVersion":"v2","metadata":{"name":"a"}})", 400,
         "BadRequest",
         "the API version in the data (v2) does not match the expected API version (v1)"},
        {"another kind", kConfigMaps, R"({"kind":"Pod","metadata":{"name":"a"}})", 400,
         "BadRequest", "Pod in version \"v1\" cannot be handled as a ConfigMap"},
        {"not an object", kConfigMaps, "[1]", 400, "BadRequest", "must be a ConfigMap object"},
        {"metadata not an object", kConfigMaps, R"({"metadata":"x"})", 400, "BadRequest",
         "metadata"},
        {"bad label", kConfigMaps, R"({"metadata":{"name":"a","labels":{"a b":"c"}}})", 422,
         "Invalid", "metadata.labels: Invalid value: \"a b\": name part must consist of"},
        {"bad label value", kConfigMaps, R"({"metadata":{"name":"a","labels":{"a":"-"}}})", 422,
         "Invalid", "metadata.labels: Invalid value: \"-\": a valid label must be"},
        {"plain finalizer", kConfigMaps, R"({"metadata":{"name":"a","finalizers":["mine"]}})", 422,
         "Invalid", "name is neither a standard finalizer name nor is it fully qualified"},
        {"two controllers", kConfigMaps,
         R"({"metadata":{"name":"a","ownerReferences":[
             {"apiVersion":"v1","kind":"Pod","name":"x","uid":"1","controller":true},
             {"apiVersion":"v1","kind":"Pod","name":"y","uid":"2","controller":true}]}})",
         422, "Invalid", "Only one reference can have Controller set to true"},
        {"owner without uid", kConfigMaps,
         R"({"metadata":{"name":"a","ownerReferences":[
             {"apiVersion":"v1","kind":"Pod","name":"x","uid":""}]}})",
         422, "Invalid", "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"},
        {"owner of nothing", kConfigMaps, R"({"metadata":{"name":"a","ownerReferences":[{}]}})",
         422, "Invalid",
         "ConfigMap \"a\" is invalid: [metadata.ownerReferences.apiVersion: Invalid value: \"\": "
         "version must not be empty, metadata.ownerReferences.kind: Invalid value: \"\": must not "
         "be empty, metadata.ownerReferences.name: Invalid value: \"\": must not be empty, "
         "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty]"},
        {"bad data key", kConfigMaps, R"({"metadata":{"name":"a"},"data":{"a/b":"x"}})", 422,
         "Invalid", "data[a/b]: Invalid value: \"a/b\": a valid config key"},
        {"no containers", kPods, pod_with("{}"), 422, "Invalid",
         "Pod \"p\" is invalid: spec.containers: Required value"},
        {"empty containers", kPods, pod_with(R"({"containers":[]})"), 422, "Invalid",
         "Pod \"p\" is invalid: spec.containers: Required value"},
        {"no spec", kPods, R"({"metadata":{"name":"p"}})", 422, "Invalid",
         "Pod \"p\" is invalid: spec.containers: Required value"},
        {"no image", kPods, pod_with(R"({"containers":[{"name":"a"}]})"), 422, "Invalid",
         "spec.containers[0].image: Required value"},
        {"no container name", kPods, pod_with(R"({"containers":[{"image":"a"}]})"), 422, "Invalid",
         "spec.containers[0].name: Required value"},
        {"bad container name", kPods, pod_with(R"({"containers":[{"name":"a.b","image":"a"}]})"),
         422, "Invalid", "spec.containers[0].name: Invalid value: \"a.b\": must not contain dots"},
        {"equal container names", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"},{"name":"a","image":"a"}]})"), 422,
         "Invalid", "spec.containers[1].name: Duplicate value: \"a\""},
        {"init container of the same name", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "initContainers":[{"name":"a","image":"a"}]})"),
         422, "Invalid", "spec.initContainers[0].name: Duplicate value: \"a\""},
        {"mount without its volume", kPods, pod_with(R"({"containers":[{"name":"a","image":"a",
                      "volumeMounts":[{"name":"v","mountPath":"/x"}]}]})"),
         422, "Invalid", "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        {"equal mount paths", kPods,
         pod_with(
             R"({"volumes":[{"name":"v"}],"containers":[{"name":"a","image":"a","volumeMounts":[
                      {"name":"v","mountPath":"/x"},{"name":"v","mountPath":"/x"}]}]})"),
         422, "Invalid",
         "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be unique"},
        {"port out of range", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a","ports":[{"containerPort":70000}]}]})"),
         422, "Invalid",
         "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and "
         "65535, inclusive"},
        {"port name too long", kPods, pod_with(R"({"containers":[{"name":"a","image":"a",
                      "ports":[{"name":"abcdefghijklmnop","containerPort":1}]}]})"),
         422, "Invalid", "must be no more than 15 characters"},
        {"bad quantity", kPods,
         pod_with(
             R"({"containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"x"}}}]})"),
         400, "BadRequest", "spec.containers[0].resources.limits"},
        {"request above limit", kPods, pod_with(R"({"containers":[{"name":"a","image":"a",
                      "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}}]})"),
         422, "Invalid",
         "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal "
         "to cpu limit of 1"},
        {"unknown plain resource", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a","resources":{"limits":{"gpu":1}}}]})"),
         422, "Invalid", "must be a standard resource for containers"},
        {"env name with =", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a","env":[{"name":"a=b"}]}]})"), 422,
         "Invalid", "spec.containers[0].env[0].name: Invalid value: \"a=b\""},
        {"env value and source", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a","env":[{"name":"a","value":"x",
                      "valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]})"),
         422, "Invalid", "may not be specified when `value` is not empty"},
        {"restart policy", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],"restartPolicy":"Sometimes"})"), 422,
         "Invalid",
         "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
         "\"OnFailure\", \"Never\""},
        {"two volume sources", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/"}}]})"),
         422, "Invalid",
         "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
        {"hostPath that steps back", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "volumes":[{"name":"v","hostPath":{"path":"/a/../b"}}]})"),
         422, "Invalid",
         "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"},
        {"hostPath of an unknown type", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "volumes":[{"name":"v","hostPath":{"path":"/a","type":"Dir"}}]})"),
         422, "Invalid", "spec.volumes[0].hostPath.type: Unsupported value: \"Dir\""},
        {"subPath that steps back", kPods, pod_with(R"({"volumes":[{"name":"v"}],"containers":[
                      {"name":"a","image":"a","volumeMounts":[
                      {"name":"v","mountPath":"/x","subPath":"a/.."}]}]})"),
         422, "Invalid",
         "spec.containers[0].volumeMounts.subPath: Invalid value: \"a/..\": must not contain "
         "'..'"},
        {"subPathExpr that steps back", kPods, pod_with(R"({"volumes":[{"name":"v"}],"containers":[
                      {"name":"a","image":"a","volumeMounts":[
                      {"name":"v","mountPath":"/x","subPathExpr":"../$(A)/b"}]}]})"),
         422, "Invalid", "spec.containers[0].volumeMounts.subPathExpr: Invalid value"},
        {"subPath and subPathExpr", kPods, pod_with(R"({"volumes":[{"name":"v"}],"containers":[
                      {"name":"a","image":"a","volumeMounts":[
                      {"name":"v","mountPath":"/x","subPath":"a","subPathExpr":"b"}]}]})"),
         422, "Invalid", "subPathExpr and subPath are mutually exclusive"},
        {"key at a path outside of its volume", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],"volumes":[{"name":"v",
                      "configMap":{"name":"m","items":[{"key":"k","path":"../k"}]}}]})"),
         422, "Invalid",
         "spec.volumes[0].configMap.items[0].path: Invalid value: \"../k\": must not contain '..'"},
        {"key at a path that the node uses", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],"volumes":[{"name":"v",
                      "secret":{"secretName":"m","items":[{"key":"k","path":"..data"}]}}]})"),
         422, "Invalid",
         "spec.volumes[0].secret.items[0].path: Invalid value: \"..data\": must not start with "
         "'..'"},
        {"projected path that is absolute", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],"volumes":[{"name":"v",
                      "projected":{"sources":[{"serviceAccountToken":{"path":"/t"}}]}}]})"),
         422, "Invalid",
         "spec.volumes[0].projected.path: Invalid value: \"/t\": must be a relative path"},
        {"field of the pod without a path", kPods,
         pod_with(R"({"containers":[{"name":"a","image":"a"}],"volumes":[{"name":"v",
                      "downwardAPI":{"items":[{"fieldRef":{"fieldPath":"metadata.name"}}]}}]})"),
         422, "Invalid", "spec.volumes[0].downwardAPI.path: Required value"},
        {"mode of a file", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "volumes":[{"name":"v","configMap":{"name":"m","defaultMode":512}}]})"),
         422, "Invalid",
         "spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 "
         "and 0777 (octal), both inclusive"},
        {"equal volume names", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "volumes":[{"name":"v"},{"name":"v"}]})"),
         422, "Invalid", "spec.volumes[1].name: Duplicate value: \"v\""},
        {"deadline of no time", kPods, pod_with(R"({"containers":[{"name":"a","image":"a"}],
                      "activeDeadlineSeconds":0})"),
         422, "Invalid", "spec.activeDeadlineSeconds: Invalid value: 0"},
        {"service without ports", "/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"s"},"spec":{}})", 422, "Invalid", "spec.ports: Required value"},
        {"pod that has both a gate and a node", kPods,
         R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","schedulingGates":[{"name":"x.io/a"}],
             "containers":[{"name":"c","image":"i"}]}})",
         422, "Invalid",
         "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
        {"service whose name starts with a digit", "/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"1s"},"spec":{"ports":[{"port":1}]}})", 422, "Invalid",
         "metadata.name: Invalid value: \"1s\": a DNS-1035 label must consist of"},
        {"service address out of range", "/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"s"},"spec":{"clusterIP":"1.2.3.4","ports":[{"port":1}]}})", 422,
         "Invalid", "the provided network does not match the current range"},
        {"event about another namespace", "/api/v1/namespaces/default/events",
         R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"other"}})", 422, "Invalid",
         "involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"},
        {"lease renewed at a whole second",
         "/apis/coordination.k8s.io/v1/namespaces/default/leases",
         R"({"metadata":{"name":"l"},"spec":{"renewTime":"2026-01-02T03:04:05Z"}})", 400,
         "BadRequest", "must be a time with six digits after the point"},
        {"lease renewed at seven digits", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
         R"({"metadata":{"name":"l"},"spec":{"renewTime":"2026-01-02T03:04:05.1234567Z"}})", 400,
         "BadRequest", "must be a time with six digits after the point"},
        {"lease of no duration", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
         R"({"metadata":{"name":"l"},"spec":{"leaseDurationSeconds":0}})", 422, "Invalid",
         "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
        {"create over all namespaces", "/api/v1/pods", pod("p"), 405, "MethodNotAllowed",
         "the server does not allow this method on the requested resource"},
        {"create on an item", "/api/v1/namespaces/default/pods/p", pod("p"), 405,
         "MethodNotAllowed", "the server does not allow this method on the requested resource"},
        {"unknown resource", "/api/v1/namespaces/default/podz", pod("p"), 404, "NotFound",
         "the server could not find the requested resource"},
    };
    for (const Refused& row : rows) {
        SCOPED_TRACE(row.what);
        const kube::Response response = post(row.path, row.body);
        EXPECT_EQ(response.status, row.status) << text(response);
        EXPECT_EQ(string_at_path(response, "reason"), row.reason);
        EXPECT_THAT(message(response), HasSubstr(row.message));
        // kubectl reads them without asking whether they are there.
        if (response.status == 404 || response.status == 405) {
            EXPECT_TRUE(at(response, "details").is_object()) << text(response);
        }
    }
    EXPECT_EQ(get(kPods).body->at("items").as_array().size(), 0u);
}

TEST_F(CreateTest, AnObjectHasAThousandOwnersAtMost) {
    const auto with_owners = [](int count) {
        std::string owners;
        for (int i = 0; i < count; ++i)
            owners += fmt::format(R"({}{{"apiVersion":"v1","kind":"Pod","name":"p","uid":"{}"}})",
                                  i == 0 ? "" : ",", i);
        return fmt::format(R"({{"metadata":{{"generateName":"a-","ownerReferences":[{}]}}}})",
                           owners);
    };
    EXPECT_EQ(post(kConfigMaps, with_owners(1000)).status, 201);
    const kube::Response refused = post(kConfigMaps, with_owners(1001));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(string_at_path(refused, "message"), HasSubstr("must have at most 1000 items"));
}

TEST_F(CreateTest, AnInvalidPodNamesAllOfItsFaultsAtOnce) {
    const kube::Response response =
        post(kPods, R"({"metadata":{"name":"p"},"spec":{"restartPolicy":"X","containers":[
            {"name":"a","ports":[{"containerPort":0}]},{"name":"a","image":"b"}]}})");
    EXPECT_EQ(response.status, 422);
    const json::value causes = at(response, "details.causes");
    ASSERT_TRUE(causes.is_array()) << text(response);
    std::vector<std::string> fields;
    for (const json::value& cause : causes.get_array())
        fields.emplace_back(cause.at("field").as_string());
    EXPECT_THAT(fields, ::testing::UnorderedElementsAre(
                            "spec.containers[0].image", "spec.containers[0].ports[0].containerPort",
                            "spec.containers[1].name", "spec.restartPolicy"));
    EXPECT_EQ(string_at_path(response, "details.kind"), "Pod");
}

TEST_F(CreateTest, UnknownPathsAreAPlainTextNotFound) {
    for (const char* path : {"/apis/nope.org/v1/things", "/api/v2/pods", "/nope"}) {
        const kube::Response response = get(path);
        EXPECT_EQ(response.status, 404);
        EXPECT_EQ(body_of(response), "404 page not found\n") << path;
    }
}

TEST_F(CreateTest, TheSystemSetsWhatAClientMayNot) {
    const kube::Response made = post(
        kPods, R"({"metadata":{"name":"p","uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z",
            "deletionTimestamp":"2001-01-01T00:00:00Z","generation":7},
            "spec":{"containers":[{"name":"a","image":"b"}]},"status":{"phase":"Running"}})");
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(string_at_path(made, "metadata.uid").size(), 36u);
    EXPECT_EQ(at(made, "metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_TRUE(at(made, "metadata.deletionTimestamp").is_null());
    EXPECT_EQ(at(made, "metadata.generation"), 1);
    EXPECT_EQ(at(made, "status.phase"), "Pending");
    EXPECT_EQ(at(made, "metadata.namespace"), "default");
    EXPECT_EQ(at(made, "apiVersion"), "v1");
    EXPECT_EQ(at(made, "kind"), "Pod");
}

TEST_F(CreateTest, AConfigMapKeepsTheGenerationThatItWasSentAndHasNoneOtherwise) {
    EXPECT_TRUE(at(post(kConfigMaps, config_map("a")), "metadata.generation").is_null());
    const kube::Response sent = post(kConfigMaps, R"({"metadata":{"name":"b","generation":3}})");
    EXPECT_EQ(at(sent, "metadata.generation"), 3);
}

TEST_F(CreateTest, QuantitiesOfPodsAreWrittenInTheirOneForm) {
    const kube::Response made = post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[
        {"name":"a","image":"x","resources":{"limits":{"cpu":2,"memory":"1.5Gi",
         "a.org/b":"1e3"},"requests":{"cpu":"1000m","memory":"0.5Gi"}}}]}})");
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(body_of(made).at("spec").at("containers").at(0).at("resources"),
              json::parse(R"({"limits":{"cpu":"2","memory":"1536Mi","a.org/b":"1e3"},
                              "requests":{"cpu":"1","memory":"512Mi","a.org/b":"1e3"}})"));
}

TEST_F(CreateTest, AMicroTimeHasSixDigits) {
    const kube::Response made = post(
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
        R"({"metadata":{"name":"l"},"spec":{"renewTime":"2026-01-02T03:04:05.123456+01:00"}})");
    EXPECT_EQ(made.status, 201) << text(made);
}

TEST_F(CreateTest, PodsGetTheDefaultsOfARealServer) {
    const kube::Response made = post(kPods, R"({"metadata":{"name":"p"},"spec":{
        "containers":[{"name":"a","image":"repo:5000/x","ports":[{"containerPort":80}],
                       "resources":{"limits":{"cpu":"1","memory":"1Gi"}},
                       "env":[{"name":"N","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}],
        "volumes":[{"name":"c","configMap":{"name":"m"}},{"name":"e"}]}})");
    ASSERT_EQ(made.status, 201) << text(made);
    const json::value body = body_of(made);
    const json::object& spec = body.at("spec").as_object();
    for (const auto& [key, value] : std::vector<std::pair<const char*, json::value>>{
             {"restartPolicy", "Always"},
             {"terminationGracePeriodSeconds", 30},
             {"dnsPolicy", "ClusterFirst"},
             {"securityContext", json::object()},
             {"schedulerName", "default-scheduler"},
             {"enableServiceLinks", true},
             {"priority", 0},
             {"preemptionPolicy", "PreemptLowerPriority"},
             {"serviceAccountName", "default"}})
        EXPECT_EQ(spec.at(key), value) << key;
    const json::object& container = spec.at("containers").at(0).as_object();
    EXPECT_EQ(container.at("imagePullPolicy"), "Always");
    EXPECT_EQ(container.at("terminationMessagePath"), "/dev/termination-log");
    EXPECT_EQ(container.at("terminationMessagePolicy"), "File");
    EXPECT_EQ(container.at("ports").at(0).at("protocol"), "TCP");
    EXPECT_EQ(container.at("resources").at("requests"),
              (json::object{{"cpu", "1"}, {"memory", "1Gi"}}));
    EXPECT_EQ(container.at("env").at(0).at("valueFrom").at("fieldRef").at("apiVersion"), "v1");
    EXPECT_EQ(spec.at("volumes").at(0).at("configMap").at("defaultMode"), 420);
    EXPECT_EQ(spec.at("volumes").at(1).at("emptyDir"), json::object());
    EXPECT_EQ(at(made, "status"), (json::object{{"phase", "Pending"}, {"qosClass", "Guaranteed"}}));
}

TEST_F(CreateTest, TheQualityOfServiceFollowsRequestsAndLimitsOfCpuAndMemory) {
    const std::vector<std::pair<const char*, const char*>> rows = {
        {"{}", "BestEffort"},
        {R"({"limits":{"nvidia.com/gpu":1}})", "BestEffort"},
        {R"({"requests":{"cpu":"1"}})", "Burstable"},
        {R"({"limits":{"cpu":"1"}})", "Burstable"},
        {R"({"limits":{"cpu":"1","memory":"1"},"requests":{"cpu":"500m"}})", "Burstable"},
        {R"({"limits":{"cpu":"1","memory":"1"},"requests":{"cpu":"1000m"}})", "Guaranteed"},
    };
    int number = 0;
    for (const auto& [resources, expected] : rows) {
        const kube::Response made =
            post(kPods, fmt::format(R"({{"metadata":{{"name":"p{}"}},"spec":{{"containers":[
                 {{"name":"a","image":"b","resources":{}}}]}}}})",
                                    number++, resources));
        EXPECT_EQ(at(made, "status.qosClass"), expected) << resources << text(made);
    }
}

TEST_F(CreateTest, ImagesArePulledAlwaysUnlessTheyAreTaggedOtherThanLatest) {
    const std::vector<std::pair<const char*, const char*>> rows = {
        {"a", "Always"},        {"a:latest", "Always"},         {"a:1", "IfNotPresent"},
        {"h:5000/a", "Always"}, {"h:5000/a:1", "IfNotPresent"}, {"a@sha256:0", "IfNotPresent"},
    };
    int number = 0;
    for (const auto& [image, expected] : rows) {
        const kube::Response made = post(
            kPods,
            fmt::format(
                R"({{"metadata":{{"name":"p{}"}},"spec":{{"containers":[{{"name":"a","image":"{}"}}]}}}})",
                number++, image));
        EXPECT_EQ(body_of(made).at("spec").at("containers").at(0).at("imagePullPolicy"), expected)
            << image;
    }
}

TEST_F(CreateTest, ServicesGetAddressesAndHeadlessOnesNone) {
    const std::string path = "/api/v1/namespaces/default/services";
    const kube::Response a =
        post(path, R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}})");
    ASSERT_EQ(a.status, 201) << text(a);
    EXPECT_EQ(at(a, "spec.clusterIP"), "10.96.0.1");
    EXPECT_EQ(at(a, "spec.clusterIPs"), json::array{"10.96.0.1"});
    EXPECT_EQ(at(a, "spec.type"), "ClusterIP");
    EXPECT_EQ(at(a, "spec.sessionAffinity"), "None");
    EXPECT_EQ(at(a, "spec.ipFamilies"), json::array{"IPv4"});
    EXPECT_EQ(at(a, "spec.ports"),
              (json::array{{{"port", 80}, {"protocol", "TCP"}, {"targetPort", 80}}}));
    EXPECT_EQ(at(a, "status"), (json::object{{"loadBalancer", json::object()}}));
    const kube::Response b = post(path, R"({"metadata":{"name":"b"},"spec":{"clusterIP":"None"}})");
    EXPECT_EQ(at(b, "spec.clusterIPs"), json::array{"None"});
    const kube::Response taken = post(
        path, R"({"metadata":{"name":"c"},"spec":{"clusterIP":"10.96.0.1","ports":[{"port":1}]}})");
    EXPECT_EQ(taken.status, 422);
    EXPECT_THAT(message(taken), HasSubstr("provided IP is already allocated"));
    remove(path + "/a");
    EXPECT_EQ(
        post(path,
             R"({"metadata":{"name":"c"},"spec":{"clusterIP":"10.96.0.1","ports":[{"port":1}]}})")
            .status,
        201);
}

TEST_F(CreateTest, SecretsFoldStringDataAndAreOpaque) {
    const kube::Response made = post("/api/v1/namespaces/default/secrets",
                                     R"({"metadata":{"name":"s"},"stringData":{"a":"hello"}})");
    EXPECT_EQ(at(made, "data"), (json::object{{"a", "aGVsbG8="}}));
    EXPECT_EQ(at(made, "type"), "Opaque");
    EXPECT_TRUE(at(made, "stringData").is_null());
}

TEST_F(CreateTest, GeneratedNamesAddFiveCharactersToAtMostFiftyEight) {
    const kube::Response made = post(kConfigMaps, R"({"metadata":{"generateName":"job-"}})");
    const std::string name = string_at_path(made, "metadata.name");
    EXPECT_THAT(name, ::testing::MatchesRegex("job-[bcdfghjklmnpqrstvwxz2456789]+"));
    EXPECT_EQ(name.size(), 9u);
    EXPECT_EQ(at(made, "metadata.generateName"), "job-");
    const std::string longest(80, 'a');
    const kube::Response cut =
        post(kConfigMaps, fmt::format(R"({{"metadata":{{"generateName":"{}"}}}})", longest));
    EXPECT_EQ(string_at_path(cut, "metadata.name").size(), 63u);
}

TEST_F(CreateTest, ATakenNameIsAConflictThatSaysWhetherTheOtherIsGoing) {
    post(kConfigMaps, R"({"metadata":{"name":"a","finalizers":["a.b/c"]}})");
    kube::Response again = post(kConfigMaps, config_map("a"));
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(string_at_path(again, "reason"), "AlreadyExists");
    EXPECT_EQ(message(again), "configmaps \"a\" already exists");
    EXPECT_EQ(string_at_path(again, "details.kind"), "configmaps");
    remove("/api/v1/namespaces/default/configmaps/a");
    again = post(kConfigMaps, config_map("a"));
    EXPECT_EQ(message(again), "object is being deleted: configmaps \"a\" already exists");
}

TEST_F(CreateTest, UnknownFieldsAreWarnedAboutDroppedOrRefused) {
    const std::string body = R"({"metadata":{"name":"a","foo":1},"bogus":true,"data":{"x":"y"}})";
    const kube::Response warned = post(kConfigMaps, body);
    EXPECT_EQ(warned.status, 201);
    EXPECT_THAT(warned.warnings, ::testing::UnorderedElementsAre("unknown field \"metadata.foo\"",
                                                                 "unknown field \"bogus\""));
    EXPECT_FALSE(warned.body->as_object().contains("bogus"));
    EXPECT_FALSE(warned.body->at("metadata").as_object().contains("foo"));
    remove("/api/v1/namespaces/default/configmaps/a");

    const kube::Response ignored = post(kConfigMaps, body, {{"fieldValidation", "Ignore"}});
    EXPECT_EQ(ignored.status, 201);
    EXPECT_TRUE(ignored.warnings.empty());
    EXPECT_FALSE(ignored.body->as_object().contains("bogus"));
    remove("/api/v1/namespaces/default/configmaps/a");

    const kube::Response strict = post(kConfigMaps, body, {{"fieldValidation", "Strict"}});
    EXPECT_EQ(strict.status, 400);
    EXPECT_THAT(message(strict),
                HasSubstr("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
                          "decoding error: unknown field \""));
    EXPECT_THAT(message(strict), HasSubstr("unknown field \"bogus\""));
    EXPECT_THAT(message(strict), HasSubstr("unknown field \"metadata.foo\""));
}

TEST_F(CreateTest, InvalidOptionsAreRefusedByKind) {
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"dryRun", "Some"},
             {"fieldValidation", "Maybe"},
             {"fieldManager", std::string(129, 'm')}}) {
        const kube::Response response = post(kConfigMaps, config_map("a"), {{key, value}});
        EXPECT_EQ(response.status, 422) << key;
        EXPECT_EQ(string_at_path(response, "details.kind"), "CreateOptions") << text(response);
        EXPECT_EQ(string_at_path(response, "details.group"), "meta.k8s.io");
    }
}

TEST_F(CreateTest, ADryRunAnswersAndStoresNothing) {
    const kube::Response made = post(kPods, pod("p"), {{"dryRun", "All"}});
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(at(made, "spec.restartPolicy"), "Always");
    EXPECT_FALSE(at(made, "metadata.uid").is_null());
    EXPECT_TRUE(at(made, "metadata.resourceVersion").is_null());
    EXPECT_EQ(get(std::string(kPods) + "/p").status, 404);
    post(kPods, pod("p"));
    EXPECT_EQ(post(kPods, pod("p"), {{"dryRun", "All"}}).status, 409);
}

TEST_F(CreateTest, NamespacesAreActiveLabelledAndHeldByKubernetes) {
    const kube::Response made = post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(made, "spec.finalizers"), json::array{"kubernetes"});
    EXPECT_EQ(at(made, "status.phase"), "Active");
    EXPECT_EQ(body_of(made).at("metadata").at("labels").at("kubernetes.io/metadata.name"), "team");
    EXPECT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"a.b"}})").status, 422);
    std::vector<std::string> names;
    for (const json::value& item : get("/api/v1/namespaces").body->at("items").as_array())
        names.emplace_back(item.at("metadata").at("name").as_string());
    EXPECT_THAT(names, ::testing::ElementsAre("default", "kube-node-lease", "kube-public",
                                              "kube-system", "team"));
}

}  // namespace
}  // namespace muster::apiserver::create_test
