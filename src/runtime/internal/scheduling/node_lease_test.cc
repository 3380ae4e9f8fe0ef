#include "runtime/internal/scheduling/node_lease.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/async/task_group.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "kube/transport/fake_transport.h"

namespace muster::runtime::node_lease_test {
namespace {

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr const char* kLease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n";

class NodeLeaseTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    NodeLeaseTest() {
        log::set_sink([this](log::Level, std::string_view line) { said_.emplace_back(line); });
    }
    ~NodeLeaseTest() override { log::set_sink({}); }

    void expect_renewal(Result<kube::Response> answer) {
        transport_.expect(kube::Method::kPatch, kLease, {}, std::move(answer));
    }
    json::value spec_of(std::size_t request) {
        return transport_.requests().at(request).body->at("spec");
    }

    kube::FakeTransport transport_{context.get_executor()};
    kube::Client client_{transport_};
    TaskGroup tasks_{context.get_executor()};
    std::vector<std::string> said_;
};

TEST_F(NodeLeaseTest, IsMadeAndThenRenewed) {
    expect_renewal(kube::status_response(Error(Code::kNotFound, "no lease")));
    transport_.expect(kube::Method::kPost, kLeases, {}, kube::json_response(json::object()));
    expect_renewal(kube::json_response(json::object()));
    tasks_.spawn("lease", keep_node_lease(client_, clock, "n"));
    settle();
    ASSERT_EQ(transport_.requests().size(), 2u);
    EXPECT_EQ(spec_of(1).at("holderIdentity"), "n");
    EXPECT_EQ(spec_of(1).at("leaseDurationSeconds"), 40);
    advance(kLeaseRenewal);
    EXPECT_TRUE(transport_.finished());
    EXPECT_NE(spec_of(2).at("renewTime"), spec_of(1).at("renewTime"));
    EXPECT_TRUE(said_.empty());
    await(tasks_.stop());
}

TEST_F(NodeLeaseTest, AFailureIsSaidOnceAndTriedAgain) {
    for (int i = 0; i < 2; ++i) expect_renewal(Error(Code::kUnavailable, "read-only"));
    expect_renewal(kube::json_response(json::object()));
    tasks_.spawn("lease", keep_node_lease(client_, clock, "n"));
    settle();
    for (int i = 0; i < 2; ++i) advance(kLeaseRenewal);
    EXPECT_TRUE(transport_.finished());
    ASSERT_EQ(said_.size(), 1u);
    EXPECT_NE(said_[0].find("read-only"), std::string::npos);
    await(tasks_.stop());
}

}  // namespace
}  // namespace muster::runtime::node_lease_test
