#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "apiserver/server_fixture.h"
#include "net/tls/signing_key.h"

namespace muster::apiserver::server_alone_test {
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

    explicit ServerAloneTest(ApiServerOptions options) : ServerFixture(std::move(options)) {
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
    EXPECT_EQ(body_of(made).at("spec").get_object().if_contains("volumes"), nullptr);
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

/// A suite that wants the admission of service accounts, and addresses of its own.
class ServerAsAskedTest : public ServerAloneTest {
  protected:
    ServerAsAskedTest()
        : ServerAloneTest({.cluster_controllers = false,
                           .pods_need_accounts = true,
                           .service_range = *ServiceRange::parse("10.3.0.0/29"),
                           .signing_key = *net::SigningKey::parse(*net::make_signing_key()),
                           .root_ca_pem = "the CA"}) {}
};

TEST_F(ServerAsAskedTest, APodNeedsAnAccountThatNothingMakes) {
    const std::string path = "/api/v1/namespaces/default/";
    const kube::Response refused = post(path + "pods", pod(""));
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(body_of(refused).at("message"),
              "pods \"p\" is forbidden: error looking up service account default/default: "
              "serviceaccount \"default\" not found");
    ASSERT_EQ(post(path + "serviceaccounts", R"({"metadata":{"name":"default"}})").status, 201);
    const kube::Response made = post(path + "pods", pod(""));
    ASSERT_EQ(made.status, 201);
    EXPECT_EQ(body_of(made).at("spec").at("volumes").as_array().size(), 1);
}

TEST_F(ServerAsAskedTest, ServicesGetTheAddressesOfTheRange) {
    const std::string path = "/api/v1/namespaces/default/services";
    EXPECT_EQ(get(path + "/kubernetes").body->at("spec").at("clusterIP"), "10.3.0.1");
    const auto service = [](int number, std::string_view more) {
        return fmt::format(R"({{"metadata":{{"name":"s{}"}},"spec":{{{}"ports":[{{"port":1}}]}}}})",
                           number, more);
    };
    for (int number = 2; number < 7; ++number)
        EXPECT_EQ(post(path, service(number, "")).body->at("spec").at("clusterIP"),
                  json::value(fmt::format("10.3.0.{}", number)));
    EXPECT_EQ(post(path, service(7, "")).status, 422) << "the range is full";
    EXPECT_EQ(post(path, service(8, R"("clusterIP":"10.3.0.8",)")).status, 422);
    EXPECT_EQ(post(path, service(9, R"("clusterIP":"10.96.0.9",)")).status, 422);
}

}  // namespace
}  // namespace muster::apiserver::server_alone_test
