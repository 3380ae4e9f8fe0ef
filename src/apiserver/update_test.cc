#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::update_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kConfigMap = "/api/v1/namespaces/default/configmaps/a";

class UpdateTest : public ServerFixture {
  protected:
    static json::value edited(const kube::Response& response, std::string_view path,
                              json::value value) {
        json::value object = body_of(response);
        json::object* parent = &object.as_object();
        while (true) {
            const std::size_t dot = path.find('.');
            if (dot == std::string_view::npos) break;
            parent = &ensure_object(*parent, path.substr(0, dot));
            path.remove_prefix(dot + 1);
        }
        (*parent)[path] = std::move(value);
        return object;
    }
    kube::Response patch(std::string path, std::string_view body, kube::ContentType type) {
        return call(kube::Method::kPatch, std::move(path), parse(body), {}, type);
    }
    void create_lease() {
        post("/apis/coordination.k8s.io/v1/namespaces/default/leases",
             R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})");
    }
};

TEST_F(UpdateTest, AStaleRevisionIsAConflictAndAnEmptyOneOverwrites) {
    const kube::Response made = post(kConfigMaps, config_map("a"));
    const kube::Response changed = put(kConfigMap, edited(made, "data.v", "2"));
    EXPECT_EQ(changed.status, 200);
    EXPECT_GT(std::stoi(revision(changed)), std::stoi(revision(made)));
    const kube::Response late = put(kConfigMap, edited(made, "data.v", "3"));
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(string_at_path(late, "reason"), "Conflict");
    EXPECT_EQ(message(late),
              "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
              "please apply your changes to the latest version and try again");
    EXPECT_EQ(put(kConfigMap, json::parse(config_map("a", "4"))).status, 200);
    EXPECT_EQ(put(kConfigMap, edited(made, "metadata.resourceVersion", "abc")).status, 500);
    EXPECT_EQ(at(get(kConfigMap), "data.v"), "4");
}

TEST_F(UpdateTest, LeasesNeedARevision) {
    create_lease();
    const kube::Response response =
        put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
            json::parse(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})"));
    EXPECT_EQ(response.status, 422);
    EXPECT_THAT(message(response), HasSubstr("metadata.resourceVersion: Invalid value: 0: must be "
                                             "specified for an update"));
}

TEST_F(UpdateTest, AnIdenticalResultIsNoWriteAndNoEvent) {
    const kube::Response made = post(kPods, pod("p"));
    auto watch = open_watch(kPods, {{"resourceVersion", revision(made)}});
    EXPECT_EQ(revision(put(kPod, body_of(made))), revision(made));
    EXPECT_EQ(revision(put(kPod, json::parse(pod("p")))), revision(made))
        << "what the server fills in again is not a change";
    EXPECT_EQ(revision(merge_patch(kPod, "{}")), revision(made));
    EXPECT_EQ(revision(merge_patch(kPod, R"({"metadata":{"labels":{}}})")).empty(), false);
    EXPECT_EQ(drain(*watch).find("MODIFIED p, MODIFIED p"), std::string::npos);
}

TEST_F(UpdateTest, SystemFieldsAreRestoredFromStorage) {
    const kube::Response made = post(kPods, pod("p"));
    json::value body = body_of(made);
    json::object& meta = body.at("metadata").as_object();
    meta["creationTimestamp"] = "2001-01-01T00:00:00Z";
    meta["deletionTimestamp"] = "2001-01-01T00:00:00Z";
    meta["generation"] = 9;
    meta.erase("uid");
    body.at("status").as_object()["phase"] = "Running";
    const kube::Response changed = put(kPod, body);
    ASSERT_EQ(changed.status, 200) << text(changed);
    EXPECT_EQ(body_of(changed), body_of(made));
}

TEST_F(UpdateTest, TheBodyMustBeAboutTheObjectOfThePath) {
    const kube::Response made = post(kConfigMaps, config_map("a"));
    kube::Response response = put(kConfigMap, edited(made, "metadata.name", "b"));
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(message(response),
              "the name of the object (b) does not match the name on the URL (a)");
    response = put(kConfigMap, edited(made, "metadata.namespace", "b"));
    EXPECT_EQ(response.status, 400);
    response = put(kConfigMap, edited(made, "metadata.uid", "other"));
    EXPECT_EQ(response.status, 409);
    EXPECT_THAT(message(response), HasSubstr("Precondition failed: UID in precondition: other"));
    EXPECT_EQ(put(std::string(kConfigMaps) + "/zz", json::parse(config_map("zz"))).status, 404);
    EXPECT_EQ(put("/api/v1/configmaps/a", body_of(made)).status, 404);
}

TEST_F(UpdateTest, LeasesAndServicesAreCreatedByAnUpdate) {
    const kube::Response lease =
        put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
            json::parse(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})"));
    EXPECT_EQ(lease.status, 201) << text(lease);
    const kube::Response service =
        put("/api/v1/namespaces/default/services/s",
            json::parse(R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}})"));
    EXPECT_EQ(service.status, 201) << text(service);
}

TEST_F(UpdateTest, PodsMayChangeImagesAndMetadataAndLittleElse) {
    const kube::Response made = post(kPods, pod("p"));
    json::value image = body_of(made);
    image.at("spec").at("containers").at(0).as_object()["image"] = "busybox:2";
    const kube::Response changed = put(kPod, image);
    EXPECT_EQ(changed.status, 200) << text(changed);
    EXPECT_EQ(at(changed, "metadata.generation"), 2);
    const kube::Response labelled = merge_patch(kPod, R"({"metadata":{"labels":{"a":"b"}}})");
    EXPECT_EQ(at(labelled, "metadata.generation"), 2) << "metadata is not the desired state";
    EXPECT_EQ(merge_patch(kPod, R"({"spec":{"activeDeadlineSeconds":10}})").status, 200);
    EXPECT_EQ(merge_patch(kPod, R"({"spec":{"activeDeadlineSeconds":20}})").status, 422);
    EXPECT_EQ(merge_patch(kPod, R"({"spec":{"tolerations":[{"key":"a"}]}})").status, 200);
    EXPECT_EQ(merge_patch(kPod, R"({"spec":{"tolerations":[]}})").status, 422);
    for (const char* body :
         {R"({"spec":{"restartPolicy":"Never"}})", R"({"spec":{"nodeName":"n"}})",
          R"({"spec":{"terminationGracePeriodSeconds":1}})"}) {
        const kube::Response refused = merge_patch(kPod, body);
        EXPECT_EQ(refused.status, 422) << body;
        EXPECT_THAT(message(refused), HasSubstr("Pod \"p\" is invalid: spec: Forbidden: pod "
                                                "updates may not change fields other than "));
    }
}

TEST_F(UpdateTest, TheStatusSubresourceChangesTheStatusOnly) {
    const kube::Response made = post(kPods, pod("p"));
    json::value body = body_of(made);
    body.at("status").as_object()["phase"] = "Running";
    body.at("spec").as_object()["restartPolicy"] = "Never";
    const kube::Response changed = put(std::string(kPod) + "/status", body);
    ASSERT_EQ(changed.status, 200) << text(changed);
    EXPECT_EQ(at(changed, "status.phase"), "Running");
    EXPECT_EQ(at(changed, "spec.restartPolicy"), "Always");
    EXPECT_EQ(at(changed, "metadata.generation"), 1);
    EXPECT_EQ(at(get(std::string(kPod) + "/status"), "status.phase"), "Running");
    EXPECT_EQ(put(std::string(kPod) + "/status", body).status, 409);
    const kube::Response patched =
        merge_patch(std::string(kPod) + "/status",
                    R"({"metadata":{"labels":{"l":"x"}},"status":{"phase":"Odd"}})");
    EXPECT_EQ(at(patched, "status.phase"), "Odd") << "a status is barely validated";
    EXPECT_EQ(at(patched, "metadata.labels.l"), "x") << "pods take labels through /status";
    EXPECT_EQ(put("/api/v1/namespaces/default/configmaps/a/status", body).status, 404);
}

TEST_F(UpdateTest, AWrongTypeInAStatusIsRefused) {
    post(kPods, pod("p"));
    EXPECT_EQ(merge_patch(std::string(kPod) + "/status", R"({"status":{"conditions":"x"}})").status,
              400);
}

TEST_F(UpdateTest, ImmutableConfigMapsAndSecretTypesStay) {
    post(kConfigMaps, R"({"metadata":{"name":"a"},"data":{"v":"1"},"immutable":true})");
    EXPECT_EQ(merge_patch(kConfigMap, R"({"data":{"v":"2"}})").status, 422);
    EXPECT_EQ(merge_patch(kConfigMap, R"({"immutable":false})").status, 422);
    EXPECT_EQ(merge_patch(kConfigMap, R"({"metadata":{"labels":{"x":"y"}}})").status, 200);
    post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"}})");
    EXPECT_EQ(merge_patch("/api/v1/namespaces/default/secrets/s", R"({"type":"other"})").status,
              422);
}

TEST_F(UpdateTest, AServiceKeepsItsAddress) {
    const std::string path = "/api/v1/namespaces/default/services";
    post(path, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}})");
    const kube::Response kept =
        put(path + "/s", json::parse(R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":2}]}})"));
    EXPECT_EQ(at(kept, "spec.clusterIP"), "10.96.0.1") << text(kept);
    const kube::Response moved = merge_patch(path + "/s", R"({"spec":{"clusterIP":"10.96.0.9"}})");
    EXPECT_EQ(moved.status, 422);
    EXPECT_THAT(message(moved), HasSubstr("may not change once set"));
}

TEST_F(UpdateTest, PatchesOfAllThreeTypesApply) {
    post(kPods, pod("p"));
    const kube::Response json_patched =
        patch(kPod, R"([{"op":"add","path":"/metadata/labels","value":{"a":"1"}}])",
              kube::ContentType::kJsonPatch);
    EXPECT_EQ(at(json_patched, "metadata.labels.a"), "1") << text(json_patched);
    const kube::Response merged =
        merge_patch(kPod, R"({"metadata":{"labels":{"a":null,"b":"2"}}})");
    EXPECT_EQ(at(merged, "metadata.labels"), (json::object{{"b", "2"}}));
    const kube::Response strategic =
        patch(kPod, R"({"spec":{"containers":[{"name":"main","image":"busybox:3"}]}})",
              kube::ContentType::kStrategicMergePatch);
    EXPECT_EQ(strategic.status, 200) << text(strategic);
    EXPECT_EQ(body_of(strategic).at("spec").at("containers").at(0).at("image"), "busybox:3");
}

struct BadPatch {
    const char* what;
    kube::ContentType type;
    const char* body;
    int status;
    const char* message;
};

TEST_F(UpdateTest, PatchesThatCannotBeAreRefused) {
    const kube::Response made = post(kPods, pod("p"));
    const std::vector<BadPatch> rows = {
        {"plain JSON", kube::ContentType::kJson, "{}", 415, "415: Unsupported Media Type"},
        {"server-side apply", kube::ContentType::kApplyPatch, "{}", 415,
         "server-side apply (application/apply-patch+yaml) is not served"},
        {"merge patch that is not an object", kube::ContentType::kMergePatch, "[]", 400,
         "error decoding patch"},
        {"JSON patch that is not a list", kube::ContentType::kJsonPatch, "{}", 400,
         "error decoding patch"},
        {"failing test", kube::ContentType::kJsonPatch,
         R"([{"op":"test","path":"/metadata/name","value":"x"}])", 422,
         "the server rejected our request due to an error in our request"},
        {"missing path", kube::ContentType::kJsonPatch, R"([{"op":"remove","path":"/nope"}])", 422,
         "the server rejected our request due to an error in our request"},
        {"another name", kube::ContentType::kMergePatch, R"({"metadata":{"name":"q"}})", 400,
         "the name of the object (q) does not match the name on the URL (p)"},
        {"another uid", kube::ContentType::kMergePatch, R"({"metadata":{"uid":"q"}})", 422,
         "metadata.uid: Invalid value: \"q\": field is immutable"},
        {"stale revision", kube::ContentType::kMergePatch,
         R"({"metadata":{"resourceVersion":"1","labels":{"a":"b"}}})", 409,
         "the object has been modified"},
        {"wrong type", kube::ContentType::kMergePatch, R"({"metadata":{"labels":{"a":5}}})", 400,
         "metadata.labels"},
    };
    for (const BadPatch& row : rows) {
        SCOPED_TRACE(row.what);
        const kube::Response response = patch(kPod, row.body, row.type);
        EXPECT_EQ(response.status, row.status) << text(response);
        EXPECT_THAT(message(response), HasSubstr(row.message));
    }
    EXPECT_EQ(body_of(get(kPod)), body_of(made));
    EXPECT_EQ(merge_patch(std::string(kPods) + "/zz", "{}").status, 404);
}

TEST_F(UpdateTest, ClearingTheDeletionTimestampIsIgnored) {
    post(kConfigMaps, R"({"metadata":{"name":"a","finalizers":["a.b/c"]}})");
    remove(kConfigMap);
    const kube::Response response =
        merge_patch(kConfigMap, R"({"metadata":{"deletionTimestamp":null}})");
    EXPECT_EQ(response.status, 200);
    EXPECT_FALSE(at(response, "metadata.deletionTimestamp").is_null());
}

TEST_F(UpdateTest, ADryRunChangesNothing) {
    const kube::Response made = post(kPods, pod("p"));
    const kube::Response tried =
        merge_patch(kPod, R"({"metadata":{"labels":{"a":"b"}}})", {{"dryRun", "All"}});
    EXPECT_EQ(at(tried, "metadata.labels.a"), "b");
    EXPECT_EQ(revision(tried), revision(made));
    EXPECT_EQ(body_of(get(kPod)), body_of(made));
}

TEST_F(UpdateTest, ABindingAssignsAPodOnce) {
    post(kPods, pod("p"));
    const kube::Response bound =
        post(std::string(kPod) + "/binding", R"({"target":{"kind":"Node","name":"n1"}})");
    EXPECT_EQ(bound.status, 201) << text(bound);
    EXPECT_EQ(at(bound, "code"), 201);
    const kube::Response now = get(kPod);
    EXPECT_EQ(at(now, "spec.nodeName"), "n1");
    EXPECT_EQ(body_of(now).at("status").at("conditions").at(0).at("type"), "PodScheduled");
    EXPECT_EQ(at(now, "metadata.generation"), 1) << "where it runs is nothing that it asked for";
    const kube::Response again =
        post(std::string(kPod) + "/binding", R"({"target":{"kind":"Node","name":"n2"}})");
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(message(again),
              "Operation cannot be fulfilled on pods/binding \"p\": pod p is "
              "already assigned to node \"n1\"");
    EXPECT_EQ(post(std::string(kPods) + "/zz/binding", R"({"target":{"name":"n"}})").status, 404);
    EXPECT_EQ(get(std::string(kPod) + "/binding").status, 405);
}

TEST_F(UpdateTest, APodWithSchedulingGatesIsBoundWhenTheyAreGone) {
    const std::string gated = R"({"metadata":{"name":"p"},"spec":{"nodeSelector":{"a":"b"},
        "schedulingGates":[{"name":"x.io/a"},{"name":"x.io/b"}],
        "containers":[{"name":"c","image":"i"}]}})";
    const kube::Response made = post(kPods, gated);
    EXPECT_EQ(made.status, 201) << text(made);
    const json::value condition = at(made, "status.conditions").at(0);
    EXPECT_EQ(condition.at("type"), "PodScheduled");
    EXPECT_EQ(condition.at("reason"), "SchedulingGated");
    const std::string binding = std::string(kPod) + "/binding";
    const std::string target = R"({"target":{"kind":"Node","name":"n1"}})";
    EXPECT_EQ(message(post(binding, target)),
              "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty "
              ".spec.schedulingGates");

    const auto patched = [&](const char* spec) {
        return merge_patch(kPod, std::string(R"({"spec":)") + spec + "}").status;
    };
    EXPECT_EQ(patched(R"({"schedulingGates":[{"name":"x.io/a"},{"name":"x.io/c"}]})"), 422);
    EXPECT_EQ(patched(R"({"nodeSelector":{"a":"c"}})"), 422);
    EXPECT_EQ(patched(R"({"nodeSelector":{"c":"d"}})"), 200);
    EXPECT_EQ(patched(R"({"schedulingGates":[{"name":"x.io/b"}]})"), 200);
    EXPECT_EQ(post(binding, target).status, 409);
    EXPECT_EQ(patched(R"({"schedulingGates":null})"), 200);
    EXPECT_EQ(patched(R"({"nodeSelector":{"e":"f"}})"), 422);
    EXPECT_EQ(post(binding, target).status, 201);
}

TEST_F(UpdateTest, OfManyWritersThatReadFirstNoUpdateIsLost) {
    post(kConfigMaps, config_map("a", "0"));
    int conflicts = 0;
    for (int round = 0; round < 20; ++round) {
        const kube::Response seen = get(kConfigMap);
        for (int writer = 0; writer < 3; ++writer) {
            const int next = std::stoi(string_at_path(seen, "data.v")) + 1;
            if (put(kConfigMap, edited(seen, "data.v", json::value(std::to_string(next)))).status ==
                409)
                ++conflicts;
        }
    }
    EXPECT_EQ(at(get(kConfigMap), "data.v"), "20");
    EXPECT_EQ(conflicts, 40);
}

}  // namespace
}  // namespace muster::apiserver::update_test
