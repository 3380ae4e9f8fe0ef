#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "apiserver/server_fixture.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver {
namespace {

using namespace std::chrono_literals;

/// A server without the controllers of a cluster: what etcd and kube-apiserver are to a test suite.
class ServerAloneTest : public ServerFixture {
  protected:
    ServerAloneTest()
        : ServerFixture({.cluster_controllers = false,
                         .answers_after_events = 2ms,
                         .signing_key = *net::SigningKey::parse(*net::make_signing_key()),
                         .root_ca_pem = "the CA"}) {
        settle();
    }

    static std::string pod(std::string_view metadata, std::string_view spec = "") {
        return fmt::format(
            R"({{"metadata":{{"name":"p"{}}},"spec":{{{}"containers":[{{"name":"c","image":"i"}}]}}}})",
            metadata, spec);
    }
};

TEST_F(ServerAloneTest, AnAnswerIsHeldBackAfterItsEvent) {
    const std::string path = "/api/v1/namespaces/default/pods";
    const std::unique_ptr<kube::WatchStream> watch = open_watch(path);
    bool told = false;
    bool answered = false;
    asio::co_spawn(context, watch->next(), [&](std::exception_ptr, auto) { told = true; });
    kube::Request request;
    request.method = kube::Method::kPost;
    request.path = path;
    request.body = parse(pod(""));
    asio::co_spawn(context, server_->call(std::move(request)),
                   [&](std::exception_ptr, auto) { answered = true; });
    settle();
    EXPECT_TRUE(told);
    EXPECT_FALSE(answered);
    advance(2ms);
    EXPECT_TRUE(answered);
}

TEST_F(ServerAloneTest, WhatIsOwnedByNothingStays) {
    const std::string path = "/api/v1/namespaces/default/pods";
    ASSERT_EQ(post(path, pod(R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",)"
                             R"("name":"gone","uid":"1234"}])"))
                  .status,
              201);
    settle();
    EXPECT_EQ(get(path + "/p").status, 200);
}

TEST_F(ServerAloneTest, APodMayNameAnAccountThatIsNotThere) {
    const std::string path = "/api/v1/namespaces/default/pods";
    const kube::Response made = post(path, pod("", R"("serviceAccountName":"launcher",)"));
    ASSERT_EQ(made.status, 201);
    EXPECT_EQ(made.body->at("spec").get_object().if_contains("volumes"), nullptr);
}

TEST_F(ServerAloneTest, NamespacesHaveNoAccountsAndCanBeDeleted) {
    ASSERT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"a"}})").status, 201);
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/a/serviceaccounts/default").status, 404);
    EXPECT_EQ(get("/api/v1/namespaces/a/configmaps/kube-root-ca.crt").status, 404);
    EXPECT_EQ(get("/api/v1/namespaces/default/services/kubernetes").status, 200);
    ASSERT_EQ(post("/api/v1/namespaces/a/configmaps", R"({"metadata":{"name":"c"}})").status, 201);
    remove("/api/v1/namespaces/a");
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/a").status, 404);
}

}  // namespace
}  // namespace muster::apiserver
