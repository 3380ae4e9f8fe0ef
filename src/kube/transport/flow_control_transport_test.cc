#include "kube/transport/flow_control_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "kube/client/client.h"
#include "kube/objects/core_objects.h"
#include "kube/transport/fake_transport.h"
#include "kube/transport/metered_transport.h"

namespace muster::kube::flow_control_transport_test {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

constexpr const char* kPod = "/api/v1/namespaces/default/pods/a";

/// Answers when it is told to.
class SlowTransport final : public Transport {
  public:
    explicit SlowTransport(asio::any_io_executor executor) : changed_(std::move(executor)) {}

    Task<Result<Response>> call(Request request) override {
        flows.push_back(request.flow);
        const std::size_t mine = begun++;
        while (mine >= let_go) co_await changed_.wait();
        co_return Response{};
    }
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request) override {
        co_return Error(Code::kInternal, "not asked for here");
    }
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request) override {
        co_return Error(Code::kInternal, "not asked for here");
    }
    void answer(std::size_t count) {
        let_go += count;
        changed_.notify_all();
    }

    std::vector<std::string> flows;
    std::size_t begun = 0;
    std::size_t let_go = 0;

  private:
    Signal changed_;
};

class FlowControlTransportTest : public testing::Test, protected SimulatedLoop {
  protected:
    ~FlowControlTransportTest() override { await(tasks.stop()); }

    Task<void> send(Transport& transport, std::string flow) {
        Request request;
        request.flow = std::move(flow);
        (void)co_await transport.call(std::move(request));
        ++ended;
    }

    TaskGroup tasks{context.get_executor()};
    int ended = 0;
};

TEST_F(FlowControlTransportTest, OneJobsFirstRequestWaitsForAWindowOfAnother) {
    SlowTransport slow(context.get_executor());
    FlowControlTransport steered(slow, clock, tasks);
    for (int i = 0; i < 100; ++i) tasks.spawn("big", send(steered, "big"));
    settle();
    tasks.spawn("small", send(steered, "small"));
    settle();
    EXPECT_EQ(slow.begun, std::size_t{AimdWindow::kFirst});
    slow.answer(2);
    settle();
    EXPECT_EQ(slow.flows.back(), "small");
    slow.answer(1000);
    settle();
    EXPECT_EQ(ended, 101);
    EXPECT_EQ(steered.window().in_flight(), 0);
}

TEST_F(FlowControlTransportTest, WhatIsCancelledGivesItsPlaceToOthers) {
    SlowTransport slow(context.get_executor());
    FlowControlTransport steered(slow, clock, tasks);
    TaskGroup others(context.get_executor());
    for (int i = 0; i < 40; ++i) others.spawn("other", send(steered, "other"));
    settle();
    tasks.spawn("mine", send(steered, "mine"));
    settle();
    EXPECT_EQ(slow.begun, std::size_t{AimdWindow::kFirst});
    await(others.stop());
    settle();
    EXPECT_EQ(steered.window().in_flight(), 1);
    EXPECT_EQ(steered.window().waiting(), 0u);
    slow.answer(1000);
    settle();
    EXPECT_EQ(ended, 1);
}

TEST_F(FlowControlTransportTest, WhatIsRefusedWith429IsSentAgainWhenTheServerSaid) {
    FakeTransport server(context.get_executor());
    FlowControlTransport steered(server, clock, tasks);
    Client client(steered);
    Response busy = status_response(Error(Code::kTooManyRequests, "too many"));
    busy.retry_after = seconds(7);
    server.expect(Method::kGet, kPod, {}, busy);
    server.expect(Method::kGet, kPod, {}, json_response(json::object{{"kind", "Pod"}}));
    const Instant before = clock.now();
    const auto read = await(client.get(types::kPods, "default", "a"));
    EXPECT_TRUE(read.has_value());
    EXPECT_EQ(clock.now() - before, seconds(7));
    EXPECT_EQ(steered.window().size(), AimdWindow::kFirst / 2);
}

TEST_F(FlowControlTransportTest, WhatWaitsForItsTimeIsSentAfterAFault) {
    FakeTransport server(context.get_executor());
    FlowControlTransport steered(server, clock, tasks);
    Response busy = status_response(Error(Code::kTooManyRequests, "too many"));
    busy.retry_after = seconds(7);
    server.expect(Method::kGet, kPod, {}, busy);
    server.expect(Method::kGet, kPod, {}, json_response(json::object{{"kind", "Pod"}}));
    Request request;
    request.path = kPod;
    bool answered = false;
    asio::co_spawn(context, steered.call(std::move(request)),
                   [&](std::exception_ptr, Result<Response>) { answered = true; });
    {
        const TaskFault fault("requests that wait for their time");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(seconds(6));
    EXPECT_FALSE(answered);
    advance(seconds(1));
    EXPECT_TRUE(answered);
}

TEST_F(FlowControlTransportTest, AServerThatStaysBusyIsAnsweredInTheEnd) {
    FakeTransport server(context.get_executor());
    FlowControlTransport steered(server, clock, tasks);
    Client client(steered);
    for (int i = 0; i < 10; ++i)
        server.expect(Method::kGet, kPod, {},
                      status_response(Error(Code::kTooManyRequests, "too many")));
    const auto read = await(client.get(types::kPods, "default", "a"));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code(), Code::kTooManyRequests);
    EXPECT_TRUE(server.finished());
}

TEST_F(FlowControlTransportTest, AnAnswerThatWasLostIsNotAskedForAgain) {
    FakeTransport server(context.get_executor());
    FlowControlTransport steered(server, clock, tasks);
    Client client(steered);
    server.expect(Method::kGet, kPod, {}, Error(Code::kTimeout, "no answer"));
    const auto read = await(client.get(types::kPods, "default", "a"));
    EXPECT_EQ(read.error().code(), Code::kTimeout);
    EXPECT_EQ(steered.window().size(), AimdWindow::kFirst / 2);
}

TEST(MeteredTransportTest, VerbsAndResources) {
    struct Case {
        Method method;
        const char* path;
        const char* verb;
        const char* resource;
    };
    const Case cases[] = {
        {Method::kGet, "/api/v1/pods", "list", "pods"},
        {Method::kGet, "/api/v1/namespaces/ml/pods", "list", "pods"},
        {Method::kGet, "/api/v1/namespaces/ml/pods/a", "get", "pods"},
        {Method::kGet, "/api/v1/namespaces/ml", "get", "namespaces"},
        {Method::kPost, "/api/v1/namespaces/ml/pods/a/binding", "create", "pods/binding"},
        {Method::kPut, "/apis/kubeflow.org/v1/namespaces/ml/tfjobs/a/status", "update",
         "tfjobs/status"},
        {Method::kPatch, "/apis/coordination.k8s.io/v1/namespaces/ml/leases/a", "patch", "leases"},
        {Method::kDelete, "/api/v1/namespaces/ml/pods/a", "delete", "pods"},
        {Method::kDelete, "/api/v1/namespaces/ml/pods", "deletecollection", "pods"},
        {Method::kGet, "/readyz", "get", ""},
        {Method::kGet, "", "get", ""},
    };
    for (const Case& one : cases) {
        Request request;
        request.method = one.method;
        request.path = one.path;
        const RequestSeen seen = describe_request(request);
        EXPECT_EQ(seen.verb, one.verb) << one.path;
        EXPECT_EQ(seen.resource, one.resource) << one.path;
    }
    Request watch;
    watch.path = "/api/v1/pods";
    EXPECT_EQ(describe_request(watch, true).verb, "watch");
}

TEST_F(FlowControlTransportTest, AMeterSeesAnswersRefusalsAndWhatNeverCame) {
    FakeTransport server(context.get_executor());
    std::vector<int> codes;
    MeteredTransport metered(server, clock,
                             [&](const RequestSeen& seen) { codes.push_back(seen.code); });
    Client client(metered);
    server.expect(Method::kGet, kPod, {}, json_response(json::object{{"kind", "Pod"}}));
    server.expect(Method::kGet, kPod, {}, status_response(Error(Code::kNotFound, "none")));
    server.expect(Method::kGet, kPod, {}, Error(Code::kTimeout, "no answer"));
    server.expect_refused_watch("/api/v1/pods",
                                {{"watch", "true"}, {"allowWatchBookmarks", "true"}},
                                Error(Code::kForbidden, "no"));
    for (int i = 0; i < 3; ++i) (void)await(client.get(types::kPods, "default", "a"));
    (void)await(client.watch(types::kPods, {}));
    EXPECT_THAT(codes, ElementsAre(200, 404, 0, 403));
}

}  // namespace
}  // namespace muster::kube::flow_control_transport_test
