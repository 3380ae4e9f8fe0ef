#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::delete_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kConfigMap = "/api/v1/namespaces/default/configmaps/a";

class DeleteTest : public ServerFixture {
  protected:
    void create_bound_pod() { post(kPods, pod("p", "", R"(,"nodeName":"n1")")); }
};

TEST_F(DeleteTest, AnUnboundOrFinishedPodGoesAtOnce) {
    post(kPods, pod("p"));
    const kube::Response gone = remove(kPod);
    EXPECT_EQ(gone.status, 200);
    EXPECT_EQ(at(gone, "kind"), "Pod") << "pods answer with the object";
    EXPECT_EQ(get(kPod).status, 404);
    create_bound_pod();
    merge_patch(std::string(kPod) + "/status", R"({"status":{"phase":"Failed"}})");
    remove(kPod);
    EXPECT_EQ(get(kPod).status, 404);
    EXPECT_EQ(remove(kPod).status, 404);
}

TEST_F(DeleteTest, ABoundPodIsGivenItsGraceAndGoesWhenTheNodeSaysSo) {
    create_bound_pod();
    auto watch = open_watch(kPods, {{"resourceVersion", revision(get(kPod))}});
    const kube::Response going = remove(kPod);
    EXPECT_EQ(going.status, 200);
    EXPECT_EQ(at(going, "metadata.deletionGracePeriodSeconds"), 30);
    EXPECT_EQ(at(going, "metadata.deletionTimestamp"), "2023-11-14T22:13:50Z");
    EXPECT_EQ(at(going, "metadata.generation"), 2);
    EXPECT_EQ(revision(remove(kPod)), revision(going)) << "a second delete changes nothing";
    EXPECT_EQ(merge_patch(std::string(kPod) + "/status", R"({"status":{"phase":"Failed"}})").status,
              200);
    EXPECT_EQ(remove(kPod, R"({"gracePeriodSeconds":0})").status, 200);
    EXPECT_EQ(get(kPod).status, 404);
    EXPECT_EQ(drain(*watch), "MODIFIED p, MODIFIED p, DELETED p");
}

TEST_F(DeleteTest, ALaterDeleteCanOnlyShortenTheGrace) {
    create_bound_pod();
    EXPECT_EQ(at(remove(kPod, R"({"gracePeriodSeconds":20})"), "metadata.deletionTimestamp"),
              "2023-11-14T22:13:40Z");
    EXPECT_EQ(at(remove(kPod, R"({"gracePeriodSeconds":60})"), "metadata.deletionTimestamp"),
              "2023-11-14T22:13:40Z");
    kube::Response shorter = remove(kPod, R"({"gracePeriodSeconds":5})");
    EXPECT_EQ(at(shorter, "metadata.deletionTimestamp"), "2023-11-14T22:13:25Z");
    EXPECT_EQ(at(shorter, "metadata.deletionGracePeriodSeconds"), 5);
    advance(std::chrono::seconds(10));
    clock.advance_to(clock.now() + std::chrono::seconds(10));
    shorter = remove(kPod, R"({"gracePeriodSeconds":2})");
    EXPECT_EQ(at(shorter, "metadata.deletionGracePeriodSeconds"), 1) << "never into the past";
}

TEST_F(DeleteTest, AGraceWithoutEndIsALongOne) {
    create_bound_pod();
    const kube::Response going = remove(kPod, R"({"gracePeriodSeconds":9223372036854775807})");
    EXPECT_EQ(at(going, "metadata.deletionGracePeriodSeconds"), 9223372036854775807);
    EXPECT_EQ(at(going, "metadata.deletionTimestamp"), "2124-01-29T22:13:20Z");
    const kube::Response shorter = remove(kPod, R"({"gracePeriodSeconds":5})");
    EXPECT_EQ(at(shorter, "metadata.deletionTimestamp"), "2023-11-14T22:13:25Z");
}

TEST_F(DeleteTest, WhatIsLeftNoTimeSaysSo) {
    create_bound_pod();
    remove(kPod, R"({"gracePeriodSeconds":20})");
    auto watch = open_watch("/api/v1/namespaces/default/pods", {{"resourceVersion", "0"}});
    const kube::Response dry = remove(kPod, R"({"gracePeriodSeconds":0,"dryRun":["All"]})");
    EXPECT_EQ(at(dry, "metadata.deletionGracePeriodSeconds"), 0);
    const kube::Response gone = remove(kPod, R"({"gracePeriodSeconds":0})");
    EXPECT_EQ(at(gone, "metadata.deletionGracePeriodSeconds"), 0);
    const std::vector<Seen> seen = events(*watch);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1].type, kube::WatchEventType::kDeleted);
    EXPECT_EQ(seen[1].object->at("metadata").at("deletionGracePeriodSeconds"), 0);
}

TEST_F(DeleteTest, ANegativeGraceIsOneSecond) {
    create_bound_pod();
    EXPECT_EQ(
        at(remove(kPod, R"({"gracePeriodSeconds":-5})"), "metadata.deletionGracePeriodSeconds"), 1);
}

TEST_F(DeleteTest, OtherKindsAnswerWithAStatusThatNamesWhatWent) {
    const kube::Response made = post(kConfigMaps, config_map("a"));
    const kube::Response gone = remove(kConfigMap);
    EXPECT_EQ(at(gone, "kind"), "Status");
    EXPECT_EQ(at(gone, "status"), "Success");
    EXPECT_EQ(
        at(gone, "details"),
        (json::object{{"name", "a"}, {"kind", "configmaps"}, {"uid", at(made, "metadata.uid")}}));
    EXPECT_EQ(message(remove(kConfigMap)), "configmaps \"a\" not found");
}

TEST_F(DeleteTest, FinalizersHoldAnObjectUntilTheLastIsTakenAway) {
    post(kConfigMaps, R"({"metadata":{"name":"a","finalizers":["a.b/c","a.b/d"]}})");
    auto watch = open_watch(kConfigMaps, {{"resourceVersion", revision(get(kConfigMap))}});
    const kube::Response held = remove(kConfigMap);
    EXPECT_EQ(held.status, 200);
    EXPECT_EQ(at(held, "metadata.deletionGracePeriodSeconds"), 0);
    EXPECT_EQ(at(held, "metadata.deletionTimestamp"), "2023-11-14T22:13:20Z");
    const kube::Response added =
        merge_patch(kConfigMap, R"({"metadata":{"finalizers":["a.b/c","a.b/d","x.y/z"]}})");
    EXPECT_EQ(added.status, 422);
    EXPECT_THAT(message(added),
                HasSubstr("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                          "object is being deleted, found new finalizers []string{\"x.y/z\"}"));
    EXPECT_EQ(merge_patch(kConfigMap, R"({"data":{"still":"mutable"}})").status, 200);
    EXPECT_EQ(merge_patch(kConfigMap, R"({"metadata":{"finalizers":["a.b/c"]}})").status, 200);
    EXPECT_EQ(merge_patch(kConfigMap, R"({"metadata":{"finalizers":null}})").status, 200);
    EXPECT_EQ(get(kConfigMap).status, 404);
    const auto seen = events(*watch);
    ASSERT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen[3].type, kube::WatchEventType::kDeleted);
    EXPECT_EQ(seen[3].object->at("metadata").at("finalizers"), json::array{"a.b/c"})
        << "the last state before, with the revision of the end";
    EXPECT_GT(
        std::stoi(std::string(seen[3].object->at("metadata").at("resourceVersion").as_string())),
        std::stoi(std::string(seen[2].object->at("metadata").at("resourceVersion").as_string())));
}

TEST_F(DeleteTest, PreconditionsMustHold) {
    const kube::Response made = post(kConfigMaps, config_map("a"));
    const std::string uid = string_at_path(made, "metadata.uid");
    kube::Response response = remove(kConfigMap, R"({"preconditions":{"uid":"x"}})");
    EXPECT_EQ(response.status, 409);
    EXPECT_EQ(message(response),
              fmt::format("Operation cannot be fulfilled on configmaps \"a\": the UID in the "
                          "precondition (x) does not match the UID in record ({}). The object "
                          "might have been deleted and then recreated",
                          uid));
    response = remove(kConfigMap, R"({"preconditions":{"resourceVersion":"1"}})");
    EXPECT_EQ(response.status, 409);
    EXPECT_EQ(remove(kConfigMap, fmt::format(R"({{"preconditions":{{"uid":"{}"}}}})", uid)).status,
              200);
}

TEST_F(DeleteTest, OptionsComeFromTheBodyOrElseTheQueryAndAreChecked) {
    create_bound_pod();
    EXPECT_EQ(at(call(kube::Method::kDelete, kPod, nullptr, {{"gracePeriodSeconds", "7"}}),
                 "metadata.deletionGracePeriodSeconds"),
              7);
    for (const char* body :
         {R"({"propagationPolicy":"Sideways"})",
          R"({"propagationPolicy":"Orphan","orphanDependents":true})", R"({"dryRun":["Some"]})"}) {
        const kube::Response response = remove(kPod, body);
        EXPECT_EQ(response.status, 422) << body;
        EXPECT_EQ(string_at_path(response, "details.kind"), "DeleteOptions");
    }
}

TEST_F(DeleteTest, ADryRunDeletesNothing) {
    post(kConfigMaps, config_map("a"));
    EXPECT_EQ(remove(kConfigMap, R"({"dryRun":["All"]})").status, 200);
    EXPECT_EQ(get(kConfigMap).status, 200);
}

TEST_F(DeleteTest, ACollectionIsDeletedBySelectorAndAnswersWithWhatItHit) {
    for (const char* name : {"a", "b", "c"})
        post(kPods, pod(name, std::string(R"(,"labels":{"k":")") + name + R"("})"));
    const kube::Response hit =
        call(kube::Method::kDelete, kPods, nullptr, {{"labelSelector", "k in (a,c)"}});
    EXPECT_EQ(hit.status, 200);
    EXPECT_EQ(at(hit, "kind"), "PodList");
    EXPECT_EQ(body_of(hit).at("items").as_array().size(), 2u);
    EXPECT_EQ(get(kPods).body->at("items").as_array().size(), 1u);
    EXPECT_EQ(call(kube::Method::kDelete, "/api/v1/pods").status, 405);
    EXPECT_EQ(call(kube::Method::kDelete, "/api/v1/namespaces").status, 405);
}

TEST_F(DeleteTest, ANamespaceTakesItsContentWithItAndRefusesMore) {
    post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    const std::string maps = "/api/v1/namespaces/team/configmaps";
    post(maps, config_map("a"));
    post(maps, R"({"metadata":{"name":"held","finalizers":["a.b/c"]}})");
    post("/api/v1/namespaces/team/pods", pod("p", "", R"(,"nodeName":"n1")"));
    const kube::Response going = remove("/api/v1/namespaces/team");
    EXPECT_EQ(going.status, 200);
    EXPECT_EQ(at(going, "status.phase"), "Terminating");
    EXPECT_FALSE(at(going, "metadata.deletionTimestamp").is_null());
    const kube::Response refused = post(maps, config_map("late"));
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(message(refused),
              "configmaps \"late\" is forbidden: unable to create new content in namespace team "
              "because it is being terminated");
    EXPECT_EQ(body_of(refused).at("details").at("causes").at(0).at("reason"),
              "NamespaceTerminating");
    settle();
    EXPECT_EQ(get(maps + "/a").status, 404);
    EXPECT_FALSE(at(get("/api/v1/namespaces/team/pods/p"), "metadata.deletionTimestamp").is_null());
    const kube::Response held = get("/api/v1/namespaces/team");
    ASSERT_EQ(held.status, 200);
    EXPECT_THAT(text(held), HasSubstr("a.b/c in 1 resource instances"));
    remove("/api/v1/namespaces/team/pods/p", R"({"gracePeriodSeconds":0})");
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/team").status, 200);
    merge_patch(maps + "/held", R"({"metadata":{"finalizers":null}})");
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/team").status, 404);
    EXPECT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status, 201);
}

TEST_F(DeleteTest, TheSystemsNamespacesStay) {
    for (const char* name : {"default", "kube-system", "kube-public"}) {
        const kube::Response response = remove(std::string("/api/v1/namespaces/") + name);
        EXPECT_EQ(response.status, 403);
        EXPECT_EQ(message(response), fmt::format("namespaces \"{}\" is forbidden: this namespace "
                                                 "may not be deleted",
                                                 name));
    }
}

TEST_F(DeleteTest, TheUidOfARecreatedObjectIsAnother) {
    const kube::Response first = post(kConfigMaps, config_map("a"));
    remove(kConfigMap);
    const kube::Response second = post(kConfigMaps, config_map("a"));
    EXPECT_NE(at(first, "metadata.uid"), at(second, "metadata.uid"));
}

}  // namespace
}  // namespace muster::apiserver::delete_test
