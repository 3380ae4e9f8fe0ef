#include "kube/transport/outage_detecting_transport.h"

#include <gtest/gtest.h>

#include "base/test_loop.h"
#include "kube/client/client.h"
#include "kube/transport/fake_transport.h"

namespace muster::kube::outage_detecting_transport_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPod = "/api/v1/namespaces/ns/pods/a";

class OutageDetectingTransportTest : public testing::Test, protected SimulatedLoop {
  protected:
    void ask(Result<Response> answer) {
        transport.expect(Method::kGet, kPod, {}, std::move(answer));
        static_cast<void>(await(client.get(types::kPods, "ns", "a")));
    }

    FakeTransport transport{context.get_executor()};
    int backs = 0;
    OutageDetectingTransport comeback{transport, clock, [this] { ++backs; }};
    Client client{comeback};

    const Result<Response> fine = json_response({{"metadata", {{"name", "a"}}}});
    const Result<Response> nobody = Error(Code::kUnavailable, "connection refused");
};

TEST_F(OutageDetectingTransportTest, SaysOnceThatTheServerIsBack) {
    ask(nobody);
    advance(seconds(60));
    ask(nobody);
    EXPECT_EQ(backs, 0);
    ask(fine);
    ask(fine);
    EXPECT_EQ(backs, 1);
}

TEST_F(OutageDetectingTransportTest, ARefusalIsAnAnswer) {
    ask(Error(Code::kTimeout, "no answer"));
    advance(seconds(1));
    ask(status_response(Error(Code::kForbidden, "not yet")));
    EXPECT_EQ(backs, 1);
}

TEST_F(OutageDetectingTransportTest, AProxyWithNobodyBehindItIsNone) {
    ask(status_response(Error(Code::kUnavailable, "no healthy upstream")));
    advance(seconds(5));
    ask(status_response(Error(Code::kUnavailable, "no healthy upstream")));
    EXPECT_EQ(backs, 0);
    ask(fine);
    EXPECT_EQ(backs, 1);
}

TEST_F(OutageDetectingTransportTest, OneThatIsLostAmongOthersIsNoAbsence) {
    ask(nobody);
    advance(milliseconds(999));
    ask(fine);
    EXPECT_EQ(backs, 0);
    advance(seconds(5));
    ask(fine);
    EXPECT_EQ(backs, 0);
}

TEST_F(OutageDetectingTransportTest, AWatchTellsItToo) {
    const Query query{{"watch", "true"}, {"allowWatchBookmarks", "true"}};
    transport.expect_refused_watch("/api/v1/pods", query, Error(Code::kUnavailable, "refused"));
    EXPECT_FALSE(await(client.watch(types::kPods, {})));
    advance(seconds(2));
    transport.expect_watch("/api/v1/pods", query);
    EXPECT_TRUE(await(client.watch(types::kPods, {})));
    EXPECT_EQ(backs, 1);
}

}  // namespace
}  // namespace muster::kube::outage_detecting_transport_test
