#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::restart_test {
namespace {

/// A store that outlives the server that was given a handle on it, as a file does.
class SharedStore final : public store::Store {
  public:
    explicit SharedStore(store::Store& store) : store_(store) {}
    store::Revision revision() const override { return store_.revision(); }
    Task<Result<store::StoredObject>> create(store::StoreKey key, Make make) override {
        return store_.create(std::move(key), std::move(make));
    }
    Task<Result<store::StoredObject>> update(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        return store_.update(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> remove(store::StoreKey key, store::Revision expected,
                                             Make make) override {
        return store_.remove(std::move(key), expected, std::move(make));
    }
    Task<Result<store::StoredObject>> get(store::StoreKey key) override {
        return store_.get(std::move(key));
    }
    Task<Result<std::vector<store::StoredObject>>> list(std::string resource,
                                                        std::string namespace_,
                                                        std::optional<store::StoreKey> after,
                                                        std::size_t limit) override {
        return store_.list(std::move(resource), std::move(namespace_), std::move(after), limit);
    }
    void observe(Observer observer) override { store_.observe(std::move(observer)); }
    store::StoreHistory history() const override { return store_.history(); }
    Task<void> settled() override { return store_.settled(); }
    std::optional<Error> failure() const override { return store_.failure(); }
    Task<void> stop() override { co_return; }

  private:
    store::Store& store_;
};

class RestartTest : public ServerFixture {
  protected:
    void TearDown() override { stop(); }  // before the store goes
    void start_again() {
        stop();
        server_ = std::make_unique<ApiServer>(context.get_executor(), clock, rng_,
                                              std::make_unique<SharedStore>(*store_), options_);
        ASSERT_TRUE(await(server_->start()));
    }
    std::unique_ptr<store::Store> store_ = store::make_memory_store({.changes = kHistory});
    static constexpr std::size_t kHistory = 6;
};

TEST_F(RestartTest, ObjectsDefinitionsAndRevisionsContinue) {
    start_again();
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Namespaced",
             "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,
             "storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
    post("/apis/ex.org/v1/namespaces/default/things",
         R"({"apiVersion":"ex.org/v1","kind":"Thing","metadata":{"name":"t"}})");
    post("/api/v1/namespaces/default/services",
         R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}})");
    const std::string before = revision(get("/api/v1/pods"));
    start_again();
    EXPECT_EQ(revision(get("/api/v1/pods")), before) << "nothing is written by starting again";
    EXPECT_EQ(get("/apis/ex.org/v1/namespaces/default/things/t").status, 200);
    EXPECT_EQ(at(post("/api/v1/namespaces/default/services",
                      R"({"metadata":{"name":"s2"},"spec":{"ports":[{"port":1}]}})"),
                 "spec.clusterIP"),
              "10.96.0.2")
        << "the address of the first is still taken";
}

TEST_F(RestartTest, AWatchResumesWithoutAGapAsFarAsTheStoreKnows) {
    constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
    start_again();
    post(kMaps, config_map("a"));
    const std::string too_old = revision(post(kMaps, config_map("old")));
    const std::string seen =
        revision(merge_patch(fmt::format("{}/a", kMaps), R"({"data":{"v":"2"}})"));
    merge_patch(fmt::format("{}/a", kMaps), R"({"metadata":{"labels":{"in":"yes"}}})");
    post(kMaps, config_map("b"));
    remove(fmt::format("{}/a", kMaps));
    start_again();
    post(kMaps, config_map("c"));
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", seen}})),
              "MODIFIED a, ADDED b, DELETED a, ADDED c");
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", seen}, {"labelSelector", "in=yes"}})),
              "ADDED a, DELETED a")
        << "the states before are known too";
    EXPECT_EQ(drain(*open_watch("/api/v1/pods", {{"resourceVersion", seen}})), "");
    post(kMaps, config_map("d"));
    post(kMaps, config_map("e"));
    start_again();
    EXPECT_EQ(drain(*open_watch(kMaps, {{"resourceVersion", too_old}})), "ERROR, EOF");
    EXPECT_EQ(drain(*open_watch("/api/v1/pods", {{"resourceVersion", too_old}})), "ERROR, EOF");
}

TEST_F(RestartTest, AListThatIsReadInPagesGoesOn) {
    constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
    start_again();
    for (const char* name : {"a", "b", "c"}) post(kMaps, config_map(name));
    const kube::Response page = get(kMaps, {{"limit", "1"}});
    remove(fmt::format("{}/b", kMaps));
    start_again();
    const kube::Response rest =
        get(kMaps, {{"continue", string_at_path(page, "metadata.continue")}});
    ASSERT_EQ(rest.status, 200) << text(rest);
    EXPECT_EQ(revision(rest), revision(page));
    EXPECT_THAT(text(rest), ::testing::HasSubstr(R"("name":"b")")) << "as it was at the first page";
}

TEST_F(RestartTest, WhatTheControllersLeftUndoneIsTakenUp) {
    start_again();
    post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
    const kube::Response owner = post("/api/v1/namespaces/default/configmaps", config_map("owner"));
    post(
        "/api/v1/namespaces/default/configmaps",
        fmt::format(
            R"({{"metadata":{{"name":"d","ownerReferences":[{{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"{}"}}]}}}})",
            string_at_path(owner, "metadata.uid")));
    post("/api/v1/namespaces/team/configmaps", config_map("a"));
    // Only the writes themselves happen before the server goes.
    kube::Request first;
    first.method = kube::Method::kDelete;
    first.path = "/api/v1/namespaces/default/configmaps/owner";
    kube::Request second = first;
    second.path = "/api/v1/namespaces/team";
    auto both = [](ApiServer& server, kube::Request one, kube::Request two) -> Task<void> {
        (void)co_await server.call(std::move(one));
        (void)co_await server.call(std::move(two));
        co_await server.stop();
    };
    await(both(*server_, std::move(first), std::move(second)));
    server_.reset();
    start_again();
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/d").status, 404);
    EXPECT_EQ(get("/api/v1/namespaces/team").status, 404);
}

TEST_F(RestartTest, APodOfNoNodeThatWasBeingDeletedStillGoes) {
    start_again();
    post("/api/v1/nodes", R"({"metadata":{"name":"other"}})");
    post("/api/v1/namespaces/default/pods", pod("p", "", R"(,"nodeName":"none")"));
    remove("/api/v1/namespaces/default/pods/p");
    start_again();
    advance(std::chrono::seconds(30));
    EXPECT_EQ(get("/api/v1/namespaces/default/pods/p").status, 404);
}

TEST_F(RestartTest, DisruptionBudgetsAreCountedFromWhatIsThere) {
    const std::string pod_path = "/api/v1/namespaces/default/pods/p";
    const std::string budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const auto set_ready = [&](std::string_view status) {
        merge_patch(pod_path + "/status",
                    fmt::format(R"({{"status":{{"phase":"Running","conditions":[
                        {{"type":"Ready","status":"{}"}}]}}}})",
                                status));
        settle();
    };
    start_again();
    post("/api/v1/namespaces/default/pods",
         pod("p", R"(,"labels":{"app":"a"})", R"(,"nodeName":"n1")"));
    set_ready("True");
    post(budget, R"({"metadata":{"name":"x"},"spec":{"minAvailable":0,
        "selector":{"matchLabels":{"app":"a"}}}})");
    settle();
    const std::string before = revision(get(budget + "/x"));
    start_again();
    settle();
    EXPECT_EQ(revision(get(budget + "/x")), before) << "nothing has changed";
    EXPECT_EQ(at(get(budget + "/x"), "status.disruptionsAllowed"), 1);
    set_ready("False");
    EXPECT_EQ(at(get(budget + "/x"), "status.disruptionsAllowed"), 0);
}

}  // namespace
}  // namespace muster::apiserver::restart_test
