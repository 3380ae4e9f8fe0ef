#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::garbage_collection_test {
namespace {

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

/// The orders that were seen of the real collector: owners and dependents are config maps.
class GarbageCollectionTest : public ServerFixture {
  protected:
    static std::string path(std::string_view name) {
        return fmt::format("{}/{}", kConfigMaps, name);
    }
    std::string create(std::string_view name, std::string_view owners = "") {
        const kube::Response made = post(
            kConfigMaps,
            fmt::format(R"({{"metadata":{{"name":"{}","ownerReferences":[{}]}}}})", name, owners));
        EXPECT_EQ(made.status, 201) << text(made);
        return string_at_path(made, "metadata.uid");
    }
    static std::string reference(std::string_view name, std::string_view uid,
                                 bool blocking = false) {
        return fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","name":"{}","uid":"{}","blockOwnerDeletion":{}}})",
            name, uid, blocking);
    }
    std::string left() {
        settle();
        std::string names;
        for (const json::value& item : get(kConfigMaps).body->at("items").as_array())
            names += std::string(item.at("metadata").at("name").as_string()) + " ";
        return names;
    }
    std::unique_ptr<kube::WatchStream> watch_from_now() {
        return open_watch(kConfigMaps, {{"resourceVersion", revision(get(kConfigMaps))}});
    }
};

TEST_F(GarbageCollectionTest, BackgroundDeletesTheOwnerFirstThenWhatItOwned) {
    const std::string uid = create("owner");
    create("d1", reference("owner", uid));
    const std::string d2 = create("d2", reference("owner", uid));
    create("dd", reference("d2", d2));
    create("other");
    auto watch = watch_from_now();
    remove(path("owner"));
    EXPECT_EQ(left(), "other ");
    EXPECT_EQ(drain(*watch), "DELETED owner, DELETED d1, DELETED d2, DELETED dd");
}

TEST_F(GarbageCollectionTest, ForegroundKeepsTheOwnerUntilBlockingDependentsAreGone) {
    const std::string uid = create("owner");
    create("d1", reference("owner", uid, true));
    create("d2", reference("owner", uid, true));
    auto watch = watch_from_now();
    const kube::Response going = remove(path("owner"), R"({"propagationPolicy":"Foreground"})");
    EXPECT_EQ(at(going, "metadata.finalizers"), json::array{"foregroundDeletion"});
    EXPECT_EQ(left(), "");
    EXPECT_EQ(drain(*watch), "MODIFIED owner, DELETED d1, DELETED d2, DELETED owner");
}

TEST_F(GarbageCollectionTest, ForegroundWaitsForADependentThatIsHeld) {
    const std::string uid = create("owner");
    create("d1", reference("owner", uid, true));
    create("free", reference("owner", uid, false));
    merge_patch(path("d1"), R"({"metadata":{"finalizers":["a.b/c"]}})");
    merge_patch(path("free"), R"({"metadata":{"finalizers":["a.b/c"]}})");
    remove(path("owner"), R"({"propagationPolicy":"Foreground"})");
    EXPECT_EQ(left(), "d1 free owner ");
    merge_patch(path("d1"), R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(left(), "free ") << "one that does not block is not waited for";
}

TEST_F(GarbageCollectionTest, ForegroundGoesDownThroughTheGenerations) {
    const std::string uid = create("owner");
    const std::string child = create("child", reference("owner", uid, true));
    create("grandchild", reference("child", child, true));
    merge_patch(path("grandchild"), R"({"metadata":{"finalizers":["a.b/c"]}})");
    remove(path("owner"), R"({"propagationPolicy":"Foreground"})");
    EXPECT_EQ(left(), "child grandchild owner ");
    merge_patch(path("grandchild"), R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(left(), "");
}

TEST_F(GarbageCollectionTest, OrphansLoseTheReferenceAndStay) {
    const std::string uid = create("owner");
    create("d1", reference("owner", uid));
    auto watch = watch_from_now();
    remove(path("owner"), R"({"propagationPolicy":"Orphan"})");
    EXPECT_EQ(left(), "d1 ");
    EXPECT_TRUE(at(get(path("d1")), "metadata.ownerReferences").is_null());
    EXPECT_EQ(drain(*watch), "MODIFIED owner, MODIFIED d1, DELETED owner");
}

TEST_F(GarbageCollectionTest, OneLivingOwnerKeepsADependentWithoutTheDanglingReference) {
    const std::string a = create("a");
    const std::string b = create("b");
    create("d", reference("a", a) + "," + reference("b", b));
    remove(path("a"));
    EXPECT_EQ(left(), "b d ");
    EXPECT_EQ(get(path("d")).body->at("metadata").at("ownerReferences").as_array().size(), 1u);
    remove(path("b"));
    EXPECT_EQ(left(), "");
}

TEST_F(GarbageCollectionTest, AReferenceToAnUidThatDoesNotExistDeletesTheNewcomer) {
    create("owner");
    create("d", reference("owner", "11111111-2222-4333-8444-555555555555"));
    EXPECT_EQ(left(), "owner ");
}

TEST_F(GarbageCollectionTest, AnOwnerOfAKindThatIsNotServedIsTakenForAlive) {
    create("d", R"({"apiVersion":"x.org/v1","kind":"X","name":"x","uid":"1"})");
    EXPECT_EQ(left(), "d ");
}

TEST_F(GarbageCollectionTest, APodGetsItsGraceFromTheCollectorToo) {
    const std::string uid = create("owner");
    post(
        "/api/v1/namespaces/default/pods",
        pod("p", R"(,"ownerReferences":[)" + reference("owner", uid) + "]", R"(,"nodeName":"n1")"));
    remove(path("owner"));
    settle();
    EXPECT_EQ(at(get("/api/v1/namespaces/default/pods/p"), "metadata.deletionGracePeriodSeconds"),
              30);
}

TEST_F(GarbageCollectionTest, AnOwnerAddedLaterIsFollowed) {
    const std::string uid = create("owner");
    create("d");
    merge_patch(path("d"), fmt::format(R"({{"metadata":{{"ownerReferences":[{}]}}}})",
                                       reference("owner", uid)));
    remove(path("owner"));
    EXPECT_EQ(left(), "");
}

TEST_F(GarbageCollectionTest, AnOwnerElsewhereIsNoOwner) {
    post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    const kube::Response other = post("/api/v1/namespaces/team/configmaps", config_map("owner"));
    create("d", reference("owner", string_at_path(other, "metadata.uid")));
    EXPECT_EQ(left(), "") << "an owner is looked up in the dependent's namespace";
}

TEST_F(GarbageCollectionTest, WhatIsInNoNamespaceIsOwnedByNothingOfOne) {
    const std::string uid = create("owner");
    post("/api/v1/nodes", fmt::format(R"({{"metadata":{{"name":"n","ownerReferences":[{}]}}}})",
                                      reference("owner", uid)));
    remove(path("owner"));
    settle();
    EXPECT_EQ(get("/api/v1/nodes/n").status, 200);
}

}  // namespace
}  // namespace muster::apiserver::garbage_collection_test
