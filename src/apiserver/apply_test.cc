#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"
#include "kube/patch/field_set.h"

namespace muster::apiserver::apply_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kConfigMap = "/api/v1/namespaces/default/configmaps/a";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kToys = "/apis/example.org/v1/namespaces/default/toys";
constexpr const char* kToy = "/apis/example.org/v1/namespaces/default/toys/t";

ApiServerOptions managing() {
    ApiServerOptions options;
    options.manage_fields = true;
    return options;
}

class ApplyTest : public ServerFixture {
  protected:
    ApplyTest() : ServerFixture(managing()) {}

    kube::Response apply(std::string path, std::string_view body, std::string manager,
                         Query more = {}) {
        if (!manager.empty()) more.emplace_back("fieldManager", std::move(manager));
        return call(kube::Method::kPatch, std::move(path), parse(body), std::move(more),
                    kube::ContentType::kApplyPatch);
    }
    static std::string config_map_with(std::string_view rest) {
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},)"
                           R"("data":{}}})",
                           rest);
    }
    static std::string toy(std::string_view rest) {
        return fmt::format(
            R"({{"apiVersion":"example.org/v1","kind":"Toy","metadata":{{"name":"t"}},{}}})", rest);
    }
    /// A kind with every way in which a list can merge, a status and a scale.
    void define_toys() {
        const kube::Response made =
            post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                 R"({"metadata":{"name":"toys.example.org"},"spec":{"group":"example.org",
            "scope":"Namespaced","names":{"plural":"toys","kind":"Toy"},
            "versions":[{"name":"v1","served":true,"storage":true,
              "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",
                              "statusReplicasPath":".status.replicas"}},
              "schema":{"openAPIV3Schema":{"type":"object","properties":{
                "spec":{"type":"object","properties":{
                  "replicas":{"type":"integer"},
                  "parts":{"type":"array","x-kubernetes-list-type":"map",
                           "x-kubernetes-list-map-keys":["name"],
                           "items":{"type":"object","required":["name"],"properties":{
                             "name":{"type":"string"},"size":{"type":"integer","default":1},
                             "color":{"type":"string"}}}},
                  "plain":{"type":"array","items":{"type":"string"}},
                  "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
                "status":{"type":"object","properties":{
                  "phase":{"type":"string"},"replicas":{"type":"integer"}}}}}}}]}})");
        ASSERT_EQ(made.status, 201) << text(made);
    }
    /// "Apply m1/status .data.a", one line an entry, and whether each has a time.
    static std::vector<std::string> managers(const kube::Response& response) {
        std::vector<std::string> lines;
        const json::value entries = at(response, "metadata.managedFields");
        if (!entries.is_array()) return lines;
        for (const json::value& value : entries.get_array()) {
            const json::object& entry = value.get_object();
            std::string line =
                fmt::format("{} {}", string_at(entry, "operation"), string_at(entry, "manager"));
            if (entry.contains("subresource"))
                line += fmt::format("/{}", string_at(entry, "subresource"));
            EXPECT_EQ(string_at(entry, "time").empty(), string_at(entry, "subresource") == "scale");
            EXPECT_EQ(string_at(entry, "fieldsType"), "FieldsV1");
            for (const auto& path : kube::FieldSet::from_json(entry.at("fieldsV1"))->members())
                line += " " + kube::describe(path);
            lines.push_back(std::move(line));
        }
        return lines;
    }
};

TEST_F(ApplyTest, MakesTheObjectOnce) {
    auto watch = open_watch(kConfigMaps);
    drain(*watch);
    const kube::Response made = apply(kConfigMap, config_map_with(R"({"v":"1"})"), "m1");
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(made, "data.v"), "1");
    EXPECT_THAT(managers(made), ElementsAre("Apply m1 .data.v"));
    EXPECT_FALSE(string_at_path(made, "metadata.uid").empty());
    await(clock.sleep_for(std::chrono::seconds(5)));
    const kube::Response again = apply(kConfigMap, config_map_with(R"({"v":"1"})"), "m1");
    EXPECT_EQ(again.status, 200) << text(again);
    EXPECT_EQ(body_of(again), body_of(made)) << "the time of an apply without effect stays";
    EXPECT_EQ(drain(*watch), "ADDED a");
}

TEST_F(ApplyTest, AConfigurationWithoutANameIsThatOfTheUrl) {
    const std::string_view nameless = R"({"apiVersion":"v1","kind":"ConfigMap","data":{"v":"1"}})";
    for (const int status : {201, 200}) {
        const kube::Response done = apply(kConfigMap, nameless, "m1");
        EXPECT_EQ(done.status, status) << text(done);
        EXPECT_EQ(string_at_path(done, "metadata.name"), "a");
        EXPECT_EQ(managers(done), (std::vector<std::string>{"Apply m1 .data.v"}));
    }
}

TEST_F(ApplyTest, TwoManagersShareConflictForceAndLetGo) {
    apply(kConfigMap, config_map_with(R"({"v":"1","w":"1"})"), "m1");
    const kube::Response shared = apply(kConfigMap, config_map_with(R"({"v":"1","x":"1"})"), "m2");
    EXPECT_EQ(shared.status, 200) << text(shared);
    EXPECT_THAT(managers(shared),
                ElementsAre("Apply m1 .data.v .data.w", "Apply m2 .data.v .data.x"));

    const kube::Response refused = apply(kConfigMap, config_map_with(R"({"v":"2"})"), "m2");
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(string_at_path(refused, "reason"), "Conflict");
    EXPECT_EQ(message(refused), "Apply failed with 1 conflict: conflict with \"m1\": .data.v");
    EXPECT_EQ(at(refused, "details"), json::parse(R"({"causes":[{"reason":"FieldManagerConflict",
                  "message":"conflict with \"m1\"","field":".data.v"}]})"));
    EXPECT_EQ(body_of(get(kConfigMap)), body_of(shared)) << "a refused apply leaves nothing behind";

    const kube::Response forced =
        apply(kConfigMap, config_map_with(R"({"v":"2"})"), "m2", {{"force", "true"}});
    EXPECT_EQ(forced.status, 200) << text(forced);
    EXPECT_EQ(at(forced, "data"), json::parse(R"({"v":"2","w":"1"})")) << "x was given up";
    EXPECT_THAT(managers(forced), ElementsAre("Apply m1 .data.w", "Apply m2 .data.v"));

    const kube::Response gone = apply(kConfigMap, config_map_with("{}"), "m1");
    EXPECT_EQ(at(gone, "data"), json::parse(R"({"v":"2"})"));
}

TEST_F(ApplyTest, EveryWriteNamesWhoItWas) {
    const kube::Response made = post(kConfigMaps, config_map("a"), {{"fieldManager", "creator"}});
    EXPECT_THAT(managers(made), ElementsAre("Update creator .data .data.v"));
    json::value body = body_of(made);
    body.at("data").as_object()["v"] = "2";
    const kube::Response updated = put(kConfigMap, body, {{"fieldManager", "updater"}});
    EXPECT_THAT(managers(updated), ElementsAre("Update creator .data", "Update updater .data.v"));
    const kube::Response patched = merge_patch(kConfigMap, R"({"data":{"w":"1"}})");
    EXPECT_THAT(managers(patched), ElementsAre("Update creator .data", "Update muster .data.w",
                                               "Update updater .data.v"))
        << "without a name it is the user agent's";
    const kube::Response conflict = apply(kConfigMap, config_map_with(R"({"w":"2"})"), "m");
    EXPECT_EQ(message(conflict),
              "Apply failed with 1 conflict: conflict with \"muster\" using v1: .data.w");
}

TEST_F(ApplyTest, AWriteWithoutEffectIsNone) {
    const kube::Response made = post(kConfigMaps, config_map("a"));
    await(clock.sleep_for(std::chrono::seconds(5)));
    EXPECT_EQ(body_of(put(kConfigMap, body_of(made), {{"fieldManager", "other"}})), body_of(made));
    EXPECT_EQ(body_of(put(kConfigMap, json::parse(config_map("a")))), body_of(made))
        << "a client that knows no managedFields keeps them";
    EXPECT_EQ(body_of(merge_patch(kConfigMap, R"({"data":{"v":"1"}})")), body_of(made));
}

TEST_F(ApplyTest, ClientsEndTrackingAndReplaceEntries) {
    const kube::Response made = post(kConfigMaps, R"({"metadata":{"name":"a","managedFields":[
        {"manager":"x","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
         "fieldsV1":{"f:data":{"f:v":{}}}}]},"data":{"v":"1"}})");
    EXPECT_THAT(managers(made), ElementsAre("Update muster .data .data.v")) << text(made);

    const kube::Response replaced = merge_patch(kConfigMap, R"({"metadata":{"managedFields":[
        {"manager":"y","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z",
         "fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:v":{}}}}]}})");
    EXPECT_THAT(managers(replaced), ElementsAre("Apply y .data.v")) << text(replaced);

    const kube::Response wrong = merge_patch(
        kConfigMap, R"({"metadata":{"managedFields":[{"manager":"y","operation":"Delete",
            "apiVersion":"v1","fieldsType":"FieldsV1"}]}})");
    EXPECT_EQ(wrong.status, 200) << text(wrong);
    EXPECT_THAT(managers(wrong), ElementsAre("Apply y .data.v"));

    const kube::Response reset = merge_patch(kConfigMap, R"({"metadata":{"managedFields":[{}]}})");
    EXPECT_EQ(reset.status, 200) << text(reset);
    EXPECT_TRUE(at(reset, "metadata.managedFields").is_null());
    const kube::Response later = merge_patch(kConfigMap, R"({"data":{"w":"1"}})");
    EXPECT_THAT(managers(later), IsEmpty()) << "nobody tracks it before it is applied";
    const kube::Response applied = apply(kConfigMap, config_map_with(R"({"x":"1"})"), "m");
    EXPECT_THAT(managers(applied),
                ElementsAre("Apply m .data.x", "Update before-first-apply .data .data.v .data.w"));
}

TEST_F(ApplyTest, TheStatusHasEntriesOfItsOwn) {
    const kube::Response made =
        post("/api/v1/namespaces/default/pods", pod("p"), {{"fieldManager", "creator"}});
    ASSERT_EQ(managers(made).size(), 1U) << text(made);
    EXPECT_THAT(managers(made).front(), HasSubstr(".spec.containers[name=\"main\"].image"));
    EXPECT_THAT(managers(made).front(), testing::Not(HasSubstr(".status")));
    const kube::Response running =
        merge_patch(std::string(kPod) + "/status",
                    R"({"status":{"phase":"Running","conditions":[{"type":"Ready",
                        "status":"True"}]}})",
                    {{"fieldManager", "node"}});
    ASSERT_EQ(managers(running).size(), 2U) << text(running);
    EXPECT_EQ(managers(running).back(),
              "Update node/status .status.conditions .status.conditions[type=\"Ready\"] "
              ".status.conditions[type=\"Ready\"].status .status.conditions[type=\"Ready\"].type "
              ".status.phase");
    const kube::Response applied = apply(std::string(kPod) + "/status",
                                         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
                  "spec":{"nodeName":"ignored"},
                  "status":{"conditions":[{"type":"Fine","status":"True"}]}})",
                                         "judge");
    ASSERT_EQ(applied.status, 200) << text(applied);
    EXPECT_EQ(managers(applied).front(),
              "Apply judge/status .status.conditions[type=\"Fine\"] "
              ".status.conditions[type=\"Fine\"].status .status.conditions[type=\"Fine\"].type");
    EXPECT_EQ(body_of(applied).at("status").at("conditions").as_array().size(), 2U);
    EXPECT_TRUE(at(applied, "spec.nodeName").is_null());
}

TEST_F(ApplyTest, PodsMergeByTheKeysOfTheirLists) {
    ASSERT_EQ(apply(kPod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
        "spec":{"containers":[{"name":"a","image":"i:1","env":[{"name":"E","value":"1"}],
                               "ports":[{"containerPort":80}]}]}})",
                    "m1")
                  .status,
              201);
    const kube::Response labelled =
        apply(kPod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"x":"y"}},
            "spec":{"containers":[{"name":"a","image":"i:1"}]}})",
              "m2");
    ASSERT_EQ(labelled.status, 200) << text(labelled);
    const json::value container = at(labelled, "spec.containers").at(0);
    EXPECT_EQ(container.at("env"), json::parse(R"([{"name":"E","value":"1"}])"));
    EXPECT_EQ(managers(labelled).back(),
              "Apply m2 .metadata.labels.x .spec.containers[name=\"a\"] "
              ".spec.containers[name=\"a\"].image .spec.containers[name=\"a\"].name");
    const kube::Response image =
        apply(kPod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
            "spec":{"containers":[{"name":"a","image":"i:2"}]}})",
              "m2");
    EXPECT_EQ(message(image),
              "Apply failed with 1 conflict: conflict with \"m1\": "
              ".spec.containers[name=\"a\"].image");
}

TEST_F(ApplyTest, CustomResourcesMergeAsTheirSchemaSays) {
    define_toys();
    const kube::Response made = apply(kToy, toy(R"("spec":{"replicas":2,"plain":["a"],
        "parts":[{"name":"w","color":"red"}],"open":{"x":{"y":1},"l":[1]}})"),
                                      "m1");
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(body_of(made).at("spec").at("parts").at(0).at("size"), 1);
    EXPECT_THAT(managers(made),
                ElementsAre("Apply m1 .spec.open.l .spec.open.x .spec.open.x.y "
                            ".spec.parts[name=\"w\"] .spec.parts[name=\"w\"].color "
                            ".spec.parts[name=\"w\"].name .spec.plain .spec.replicas"))
        << "a default has no manager";
    const kube::Response merged = apply(kToy, toy(R"("spec":{
        "parts":[{"name":"w","size":1},{"name":"z"}],"open":{"x":{"z":1}}})"),
                                        "m2");
    ASSERT_EQ(merged.status, 200) << text(merged);
    EXPECT_EQ(body_of(merged).at("spec"),
              json::parse(R"({"replicas":2,"plain":["a"],"open":{"x":{"y":1,"z":1},"l":[1]},
                  "parts":[{"name":"w","color":"red","size":1},{"name":"z","size":1}]})"));
    const kube::Response refused = apply(kToy, toy(R"("spec":{"plain":["a","b"]})"), "m2");
    EXPECT_EQ(message(refused), "Apply failed with 1 conflict: conflict with \"m1\": .spec.plain")
        << "a list without keys has one owner";
    const kube::Response left = apply(kToy, toy(R"("spec":{"replicas":2})"), "m1");
    EXPECT_EQ(body_of(left).at("spec"), json::parse(R"({"replicas":2,"open":{"x":{"z":1}},
        "parts":[{"name":"w","size":1},{"name":"z","size":1}]})"))
        << text(left);
}

TEST_F(ApplyTest, TheStatusOfACustomResourceIsAppliedAlone) {
    define_toys();
    apply(kToy, toy(R"("spec":{"replicas":2},"status":{"phase":"Sent"})"), "m1");
    const kube::Response made = get(kToy);
    EXPECT_TRUE(at(made, "status").is_null());
    EXPECT_THAT(managers(made), ElementsAre("Apply m1 .spec.replicas"));
    const kube::Response applied = apply(std::string(kToy) + "/status",
                                         R"({"apiVersion":"example.org/v1","kind":"Toy",
                  "metadata":{"name":"t","labels":{"x":"y"}},
                  "spec":{"replicas":9},"status":{"phase":"Fine"}})",
                                         "controller");
    ASSERT_EQ(applied.status, 200) << text(applied);
    EXPECT_EQ(at(applied, "status.phase"), "Fine");
    EXPECT_EQ(at(applied, "spec.replicas"), 2);
    EXPECT_THAT(managers(applied),
                ElementsAre("Apply controller/status .metadata.labels.x .status.phase",
                            "Apply m1 .spec.replicas"));
    const kube::Response put_status = put(std::string(kToy) + "/status",
                                          [&] {
                                              json::value body = body_of(applied);
                                              body.at("status").as_object()["replicas"] = 1;
                                              return body;
                                          }(),
                                          {{"fieldManager", "counter"}});
    EXPECT_EQ(managers(put_status).back(), "Update counter/status .status.replicas");
    EXPECT_EQ(apply(std::string(kToys) + "/none/status",
                    R"({"apiVersion":"example.org/v1","kind":"Toy","metadata":{"name":"none"}})",
                    "controller")
                  .status,
              404)
        << "a subresource makes no object";
}

TEST_F(ApplyTest, AScaleTakesTheReplicas) {
    define_toys();
    apply(kToy, toy(R"("spec":{"replicas":2})"), "m1");
    const std::string scale = std::string(kToy) + "/scale";
    EXPECT_EQ(merge_patch(scale, R"({"spec":{"replicas":3}})", {{"fieldManager", "hpa"}}).status,
              200);
    EXPECT_THAT(managers(get(kToy)), ElementsAre("Update hpa/scale .spec.replicas"));
    const kube::Response refused = apply(kToy, toy(R"("spec":{"replicas":2})"), "m1");
    EXPECT_EQ(message(refused),
              "Apply failed with 1 conflict: conflict with \"hpa\" with subresource \"scale\" "
              "using example.org/v1: .spec.replicas");

    const std::string five =
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":5}})";
    EXPECT_EQ(apply(scale, five, "m2").status, 409);
    const kube::Response forced = apply(scale, five, "m2", {{"force", "true"}});
    EXPECT_EQ(at(forced, "spec.replicas"), 5) << text(forced);
    EXPECT_THAT(managers(get(kToy)), ElementsAre("Apply m2/scale .spec.replicas"));
    EXPECT_EQ(apply(scale, toy(R"("spec":{"replicas":5})"), "m2").status, 400);
    EXPECT_EQ(apply(scale, R"({"apiVersion":"autoscaling/v1","kind":"Scale",
                               "spec":{"replicas":-1}})",
                    "m2")
                  .status,
              422);
}

TEST_F(ApplyTest, KubectlTakesOverWhatItAppliedOnItsSide) {
    const std::string annotated =
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{
            "kubectl.kubernetes.io/last-applied-configuration":
            "{\"apiVersion\":\"v1\",\"data\":{\"v\":\"1\",\"w\":\"1\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n"}},
            "data":{"v":"1","w":"1"}})";
    post(kConfigMaps, annotated, {{"fieldManager", "kubectl-client-side-apply"}});
    merge_patch(kConfigMap, R"({"data":{"w":"edited"}})", {{"fieldManager", "kubectl-edit"}});

    EXPECT_EQ(apply(kConfigMap, config_map_with(R"({"v":"2"})"), "other").status, 409);
    const kube::Response refused =
        apply(kConfigMap, config_map_with(R"({"v":"2","w":"2"})"), "kubectl");
    EXPECT_EQ(message(refused),
              "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.w")
        << "what it applied itself is none";
    const kube::Response taken = apply(kConfigMap, config_map_with(R"({"v":"2"})"), "kubectl");
    ASSERT_EQ(taken.status, 200) << text(taken);
    EXPECT_EQ(at(taken, "data"), json::parse(R"({"v":"2","w":"edited"})"));
    EXPECT_EQ(managers(taken).front(), "Apply kubectl .data.v");
    const json::value annotations = at(taken, "metadata.annotations");
    EXPECT_EQ(annotations.at("kubectl.kubernetes.io/last-applied-configuration"),
              "{\"apiVersion\":\"v1\",\"data\":{\"v\":\"2\"},\"kind\":\"ConfigMap\","
              "\"metadata\":{\"name\":\"a\"}}\n");
    EXPECT_EQ(body_of(apply(kConfigMap, config_map_with(R"({"v":"2"})"), "kubectl")),
              body_of(taken));
}

/// What kubectl does itself before it applies on the server's side the first time.
TEST_F(ApplyTest, EntriesMigrateByAJsonPatch) {
    const kube::Response made =
        post(kConfigMaps, config_map("a"), {{"fieldManager", "kubectl-client-side-apply"}});
    const std::string migration = fmt::format(
        R"([{{"op":"replace","path":"/metadata/managedFields","value":[
            {{"manager":"kubectl","operation":"Apply","apiVersion":"v1",
              "time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",
              "fieldsV1":{{"f:data":{{".":{{}},"f:v":{{}}}}}}}}]}},
           {{"op":"replace","path":"/metadata/resourceVersion","value":"{}"}}])",
        revision(made));
    const kube::Response migrated =
        call(kube::Method::kPatch, kConfigMap, parse(migration), {}, kube::ContentType::kJsonPatch);
    ASSERT_EQ(migrated.status, 200) << text(migrated);
    EXPECT_THAT(managers(migrated), ElementsAre("Apply kubectl .data .data.v"));
    const kube::Response applied = apply(kConfigMap, config_map_with(R"({"w":"1"})"), "kubectl");
    EXPECT_EQ(at(applied, "data"), json::parse(R"({"w":"1"})")) << "v is given up";
    EXPECT_EQ(
        call(kube::Method::kPatch, kConfigMap, parse(migration), {}, kube::ContentType::kJsonPatch)
            .status,
        409)
        << "a stale migration comes too late";
}

TEST_F(ApplyTest, RefusesWhatARealServerRefuses) {
    apply(kConfigMap, config_map_with(R"({"v":"1"})"), "m");
    struct Row {
        const char* what;
        std::string body;
        Query query;
        int status;
        const char* message;
    };
    const std::string good = config_map_with(R"({"v":"1"})");
    for (const Row& row : {
             Row{"no manager",
                 good,
                 {},
                 422,
                 "fieldManager: Required value: is required for "
                 "apply patch"},
             Row{"a manager that can't be shown",
                 good,
                 {{"fieldManager", "a\nb"}},
                 422,
                 "should be printable"},
             Row{"no object", "[]", {{"fieldManager", "m"}}, 400, "must be an object"},
             Row{"another kind",
                 R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}})",
                 {{"fieldManager", "m"}},
                 400,
                 "invalid object type: /v1, Kind=Secret"},
             Row{"another name",
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})",
                 {{"fieldManager", "m"}},
                 400,
                 "the name of the object (b) does not match the name on the URL (a)"},
             Row{"another namespace",
                 R"({"apiVersion":"v1","kind":"ConfigMap",
                     "metadata":{"name":"a","namespace":"b"}})",
                 {{"fieldManager", "m"}},
                 400,
                 "the namespace of the object (b)"},
             Row{"entries",
                 R"({"apiVersion":"v1","kind":"ConfigMap",
                     "metadata":{"name":"a","managedFields":[]}})",
                 {{"fieldManager", "m"}},
                 400,
                 "metadata.managedFields must be nil"},
             Row{"an unknown field",
                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"bogus":1})",
                 {{"fieldManager", "m"}},
                 500,
                 "failed to create typed patch object (default/a; /v1, Kind=ConfigMap): "
                 ".bogus: field not declared in schema"},
             Row{"a wrong type",
                 config_map_with(R"({"v":1})"),
                 {{"fieldManager", "m"}},
                 400,
                 "data.v"},
             Row{"a stale revision",
                 R"({"apiVersion":"v1","kind":"ConfigMap",
                     "metadata":{"name":"a","resourceVersion":"1"},"data":{"w":"1"}})",
                 {{"fieldManager", "m"}},
                 409,
                 "the object has been modified"},
         }) {
        SCOPED_TRACE(row.what);
        const kube::Response response = call(kube::Method::kPatch, kConfigMap, parse(row.body),
                                             row.query, kube::ContentType::kApplyPatch);
        EXPECT_EQ(response.status, row.status) << text(response);
        EXPECT_THAT(message(response), HasSubstr(row.message));
    }
    const std::string other = std::string(kConfigMaps) + "/b";
    const auto made_with = [&](std::string_view metadata) {
        return apply(other,
                     fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap",
                                     "metadata":{{"name":"b",{}}}}})",
                                 metadata),
                     "m")
            .status;
    };
    EXPECT_EQ(made_with(R"("uid":"11111111-2222-3333-4444-555555555555")"), 409);
    EXPECT_EQ(made_with(R"("resourceVersion":"7")"), 409);
    EXPECT_EQ(get(other).status, 404);
    EXPECT_EQ(apply("/api/v1/namespaces/none/configmaps/a", good, "m").status, 404);
    EXPECT_EQ(apply(kConfigMaps, good, "m").status, 405);
}

TEST_F(ApplyTest, ADryRunWritesNothing) {
    const kube::Response tried =
        apply(kConfigMap, config_map_with(R"({"v":"1"})"), "m", {{"dryRun", "All"}});
    EXPECT_EQ(tried.status, 201) << text(tried);
    EXPECT_THAT(managers(tried), ElementsAre("Apply m .data.v"));
    EXPECT_EQ(get(kConfigMap).status, 404);
}

class WithoutTracking : public ServerFixture {};

TEST_F(WithoutTracking, EntriesAreStoredAsTheyAreSentAndNobodyApplies) {
    const kube::Response made =
        post(kConfigMaps, R"({"metadata":{"name":"a","managedFields":[{"manager":"x"}]}})");
    EXPECT_EQ(at(made, "metadata.managedFields"), json::parse(R"([{"manager":"x"}])"));
    EXPECT_TRUE(at(post(kConfigMaps, config_map("b")), "metadata.managedFields").is_null());
    const kube::Response refused = call(kube::Method::kPatch, kConfigMap, parse("{}"),
                                        {{"fieldManager", "m"}}, kube::ContentType::kApplyPatch);
    EXPECT_EQ(refused.status, 415);
}

}  // namespace
}  // namespace muster::apiserver::apply_test
