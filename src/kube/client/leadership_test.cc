#include "kube/client/leadership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "kube/client/leader_transport.h"
#include "kube/transport/fake_transport.h"
#include "kube/values/time.h"

namespace muster::kube::leadership_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/ops/leases";
constexpr const char* kLease = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/muster";

class LeadershipTest : public testing::Test, protected SimulatedLoop {
  protected:
    LeadershipTest() {
        log::set_sink([this](log::Level, std::string_view line) { said.emplace_back(line); });
    }
    ~LeadershipTest() override {
        await(tasks.stop());
        log::set_sink({});
    }

    json::value lease(std::string holder, int transitions, std::string version) {
        return json::object{
            {"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"name", "muster"}, {"namespace", "ops"}, {"resourceVersion", version}}},
            {"spec",
             {{"holderIdentity", holder},
              {"leaseDurationSeconds", 4},
              {"renewTime", format_micro_time(clock.wall_now())},
              {"leaseTransitions", transitions}}}};
    }
    void expect_read(Result<Response> answer) {
        transport.expect(Method::kGet, kLease, {}, std::move(answer));
    }
    void expect_list(json::array leases = {}) {
        transport.expect(
            Method::kGet, kLeases, selected,
            json_response({{"metadata", {{"resourceVersion", "9"}}}, {"items", leases}}));
    }
    void expect_watch() { watch = transport.expect_watch(kLeases, watch_query); }
    void expect_change(Result<Response> answer) {
        transport.expect(Method::kPatch, kLease, {}, std::move(answer));
    }
    /// It reads that no one holds the Lease, and takes it.
    void lead() {
        expect_read(json_response(lease("", 0, "1")));
        expect_list();
        expect_watch();
        expect_change(json_response(lease("me", 1, "2")));
        leadership.start();
        settle();
        ASSERT_TRUE(leadership.leads());
    }
    json::value sent(std::size_t request) { return *transport.requests().at(request).body; }

    const Query selected{{"fieldSelector", "metadata.name=muster"}};
    const Query watch_query{{"watch", "true"},
                            {"fieldSelector", "metadata.name=muster"},
                            {"resourceVersion", "9"},
                            {"allowWatchBookmarks", "true"}};
    FakeTransport transport{context.get_executor()};
    Client client{transport};
    TaskGroup tasks{context.get_executor()};
    std::vector<std::string> said;
    std::shared_ptr<FakeWatch> watch;
    Leadership leadership{client,
                          clock,
                          tasks,
                          {.namespace_ = "ops",
                           .name = "muster",
                           .identity = "me",
                           .timing = {seconds(4), seconds(3), seconds(1)}}};
};

TEST_F(LeadershipTest, MakesTheLeaseThatIsMissing) {
    expect_read(status_response(Error(Code::kNotFound, "no lease")));
    expect_list();
    expect_watch();
    transport.expect(Method::kPost, kLeases, {}, json_response(lease("me", 0, "1"), 201));
    leadership.start();
    await(leadership.won());
    const json::value spec = sent(3).at("spec");
    EXPECT_EQ(spec.at("holderIdentity"), "me");
    EXPECT_EQ(spec.at("leaseDurationSeconds"), 4);
    EXPECT_EQ(spec.at("leaseTransitions"), 0);
    EXPECT_EQ(sent(3).at("metadata").at("name"), "muster");
    EXPECT_THAT(said, IsEmpty());
}

TEST_F(LeadershipTest, RenewsWhatItHoldsAndOverwritesNothingElse) {
    lead();
    EXPECT_EQ(sent(3).at("metadata"), json::value({{"resourceVersion", "1"}}));
    EXPECT_EQ(sent(3).at("spec").at("leaseTransitions"), 1);
    expect_change(json_response(lease("me", 1, "3")));
    advance(seconds(1));
    EXPECT_TRUE(transport.finished());
    EXPECT_EQ(sent(4).at("metadata").at("resourceVersion"), "2");
    EXPECT_GT(sent(4).at("spec").at("renewTime").as_string(),
              sent(3).at("spec").at("renewTime").as_string());
}

TEST_F(LeadershipTest, AReleaseIsSeenAtOnce) {
    expect_read(json_response(lease("other", 5, "1")));
    expect_list();
    expect_watch();
    leadership.start();
    settle();
    EXPECT_FALSE(leadership.leads());
    EXPECT_EQ(leadership.holder(), "other");
    expect_change(json_response(lease("me", 6, "3")));
    watch->send(WatchEventType::kModified, lease("", 5, "2"));
    settle();
    EXPECT_TRUE(leadership.leads());
    EXPECT_EQ(sent(3).at("metadata").at("resourceVersion"), "2");
}

TEST_F(LeadershipTest, AReleaseWhileTheWatchWasAwayIsSeenAtOnce) {
    expect_read(json_response(lease("other", 5, "1")));
    expect_list();
    expect_watch();
    leadership.start();
    settle();
    watch->end();
    advance(milliseconds(999));
    EXPECT_FALSE(leadership.leads());
    expect_list({lease("", 5, "2")});
    expect_watch();
    expect_change(json_response(lease("me", 6, "3")));
    advance(milliseconds(1));
    EXPECT_TRUE(leadership.leads());
}

TEST_F(LeadershipTest, ARenewalOfAnotherStartsTheWaitAnew) {
    expect_read(json_response(lease("other", 5, "1")));
    expect_list();
    expect_watch();
    leadership.start();
    advance(seconds(3));
    watch->send(WatchEventType::kModified, lease("other", 5, "2"));
    advance(milliseconds(3999));
    EXPECT_TRUE(transport.finished()) << "nothing was sent";
    expect_change(json_response(lease("me", 6, "3")));
    advance(milliseconds(1));
    EXPECT_TRUE(leadership.leads());
}

TEST_F(LeadershipTest, AServerThatDoesNotAnswerEndsItAtTheDeadline) {
    lead();
    LeaderTransport fenced(transport, leadership);
    Client writer(fenced);
    bool ended = false;
    tasks.spawn("end", [](Leadership& of, bool& ended) -> Task<void> {
        co_await of.lost();
        ended = true;
    }(leadership, ended));
    transport.expect_hanging(Method::kPatch, "/api/v1/namespaces/n/pods/p", {});
    std::optional<Code> given_up;
    tasks.spawn("write", [](Client& by, std::optional<Code>& code) -> Task<void> {
        const auto written =
            co_await by.patch(types::kPods, "n", "p", ContentType::kMergePatch, json::object());
        if (!written) code = written.error().code();
    }(writer, given_up));
    settle();
    EXPECT_EQ(transport.requests().back().send_before, clock.now() + seconds(3))
        << "a process that sleeps then sends nothing when it wakes up";
    // Each renewal is given up after a second, and the next begins with a look.
    transport.expect_hanging(Method::kPatch, kLease, {});
    for (int i = 0; i < 2; ++i) transport.expect_hanging(Method::kGet, kLease, {});
    advance(milliseconds(2999));
    EXPECT_TRUE(leadership.leads());
    EXPECT_FALSE(ended);
    EXPECT_FALSE(given_up);
    advance(milliseconds(1));
    EXPECT_FALSE(leadership.leads());
    EXPECT_TRUE(ended);
    EXPECT_THAT(said, ElementsAre(HasSubstr("the lease ops/muster for the leader election can't be "
                                            "written")));

    EXPECT_EQ(given_up, Code::kCancelled) << "it may not be on its way for longer";
    const std::size_t before = transport.requests().size();
    Request late;
    late.method = Method::kPost;
    late.path = "/api/v1/namespaces/n/pods";
    const auto refused = await(fenced.call(std::move(late)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kCancelled);
    EXPECT_EQ(transport.requests().size(), before);
}

TEST_F(LeadershipTest, AnotherHolderEndsItAtOnce) {
    lead();
    watch->send(WatchEventType::kModified, lease("other", 2, "3"));
    await(leadership.lost());
    EXPECT_FALSE(leadership.leads());
    EXPECT_EQ(leadership.holder(), "other");
}

TEST_F(LeadershipTest, AConflictIsReadAndNoFailure) {
    lead();
    expect_change(status_response(Error(Code::kConflict, "it has changed")));
    expect_read(json_response(lease("other", 2, "3")));
    advance(seconds(1));
    EXPECT_FALSE(leadership.leads());
    EXPECT_THAT(said, IsEmpty());
}

TEST_F(LeadershipTest, SaysOnceWhatItMayNotDo) {
    const Error forbidden(Code::kForbidden, "leases.coordination.k8s.io \"muster\" is forbidden");
    expect_read(status_response(forbidden));
    expect_list();
    expect_watch();
    for (int i = 0; i < 2; ++i) expect_read(status_response(forbidden));
    expect_read(json_response(lease("other", 2, "3")));
    leadership.start();
    advance(seconds(3));
    EXPECT_TRUE(transport.finished());
    EXPECT_THAT(said, ElementsAre(HasSubstr("is forbidden")));
}

TEST_F(LeadershipTest, ResignsSoThatOthersNeedNotWait) {
    lead();
    expect_change(json_response(lease("", 1, "3")));
    ASSERT_TRUE(await(leadership.resign()));
    EXPECT_FALSE(leadership.leads());
    EXPECT_EQ(sent(4).at("spec").at("holderIdentity"), "");
    EXPECT_EQ(sent(4).at("metadata").at("resourceVersion"), "2");
    advance(seconds(10));
    EXPECT_TRUE(transport.finished()) << "it is not a candidate any more";
}

TEST_F(LeadershipTest, ResigningWithoutTheLeaseWritesNothing) {
    expect_read(json_response(lease("other", 5, "1")));
    expect_list();
    expect_watch();
    leadership.start();
    settle();
    EXPECT_TRUE(await(leadership.resign()));
    EXPECT_TRUE(transport.finished());
}

TEST_F(LeadershipTest, AFaultOfTheWatchIsNoEndOfTheElection) {
    {
        const TaskFault fault("watch of the lease");
        expect_read(json_response(lease("other", 5, "1")));
        leadership.start();
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    expect_list();
    expect_watch();
    advance(seconds(1));
    EXPECT_EQ(leadership.holder(), "other");
    ASSERT_NE(watch, nullptr);
    expect_change(json_response(lease("me", 6, "3")));
    watch->send(WatchEventType::kModified, lease("", 5, "2"));
    settle();
    EXPECT_TRUE(leadership.leads());
}

using LeadershipDeathTest = LeadershipTest;

// Another process has to be able to take over, and the next one of this to be a candidate.
TEST_F(LeadershipDeathTest, WithoutAnElectionTheProcessEndsAndSaysWhy) {
    const auto elect = [&] {
        const TaskFault fault("election");
        leadership.start();
        settle();
    };
    EXPECT_DEATH(elect(), "election.*a test's fault");
}

TEST_F(LeadershipTest, SaysOnceThatItMayNotWatch) {
    const Error forbidden(Code::kForbidden, "leases may not be watched");
    expect_read(json_response(lease("", 0, "1")));
    expect_list();
    transport.expect_refused_watch(kLeases, watch_query, forbidden);
    expect_change(json_response(lease("me", 1, "2")));
    leadership.start();
    settle();
    for (int second = 1; second <= 3; ++second) {
        expect_list();
        transport.expect_refused_watch(kLeases, watch_query, forbidden);
        expect_change(json_response(lease("me", 1, std::to_string(second + 2))));
        advance(seconds(1));
    }
    EXPECT_TRUE(leadership.leads());
    EXPECT_THAT(said, ElementsAre(HasSubstr("can't be watched")));
}

}  // namespace
}  // namespace muster::kube::leadership_test
