#include "master/kv/kv_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "master/service/quiet_host.h"
#include "rpc/rpc_fixture.h"

namespace muster::master::kv_service_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using What = decltype(KvRequest::what);

constexpr Generation kFirst{.epoch = 3, .number = 7};

/// Agents "a" and "b" are the members of the generation.
class JobOfTwo final : public QuietHost {
  public:
    using QuietHost::QuietHost;

    std::optional<int> rank_of(const std::string& incarnation,
                               const Generation& generation) const override {
        if (generation != kFirst || (incarnation != "a" && incarnation != "b")) return std::nullopt;
        return incarnation == "a" ? 0 : 1;
    }
};

/// A master's keys on a server, and agents that reach it by connections that a test cuts.
class KvServiceTest : public rpc::RpcFixture {
  protected:
    /// With agents "a" and "b" as the members of a generation.
    KvService& make_service(std::uint64_t epoch = 3) {
        jobs.push_back(std::make_unique<JobOfTwo>(epoch));
        services.push_back(std::make_unique<KvService>(
            ServiceContext{.executor = context.get_executor(), .job = *jobs.back()}));
        rpc::Server& server = make_server();
        services.back()->serve(server);
        serve(server);
        const World world{.generation = kFirst, .members = {}, .nodes = 2};
        services.back()->world_changed(&world, "");
        return *services.back();
    }
    rpc::Client& agent(const std::string& incarnation) {
        return make_client({}, "secret", incarnation);
    }

    static Task<Result<KvAnswer>> ask(rpc::Client& client, What what, Duration time,
                                      KvSpace space = {.epoch = 3, .generation = kFirst}) {
        CO_TRY(const auto answer, co_await rpc::call(client, job_protocol::kKv,
                                                     job_protocol::to_wire(KvRequest{
                                                         .space = space, .what = std::move(what)}),
                                                     time));
        co_return job_protocol::from_wire(answer);
    }
    static Task<void> note(rpc::Client& client, std::string name, What what, Duration time,
                           std::vector<std::string>& into) {
        const auto answer = co_await ask(client, std::move(what), time);
        into.push_back(answer ? name
                              : fmt::format("{}: {}: {}", name, to_string(answer.error().code()),
                                            answer.error().message()));
    }
    /// It notes in `got` that it has its answer.
    void begin(rpc::Client& client, const std::string& name, What what, Duration time = 1min) {
        tasks.spawn("ask", note(client, name, std::move(what), time, got));
        advance(1ms);
    }

    std::vector<std::unique_ptr<JobOfTwo>> jobs;
    std::vector<std::unique_ptr<KvService>> services;
    std::vector<std::string> got;
};

TEST_F(KvServiceTest, WhoWaitsIsAnsweredWhenAnotherAgentHasSetIt) {
    const KvService& service = make_service();
    rpc::Client& a = agent("a");
    rpc::Client& b = agent("b");
    begin(a, "a", AwaitKeys{{"k"}});
    EXPECT_EQ(service.keys().waits(), 1u);
    ASSERT_TRUE(await(ask(b, SetKey{"k", "v"}, 1s)));
    EXPECT_EQ(await(ask(a, GetKey{"k"}, 1s))->value, "v");
    EXPECT_THAT(got, ElementsAre("a"));
    EXPECT_TRUE(await(ask(b, CompareSetKey{"k", "v", "w"}, 1s))->yes);
    EXPECT_EQ(await(ask(a, CompareSetKey{"k", std::nullopt, "x"}, 1s))->value, "w");
    EXPECT_EQ(await(ask(a, AddToKey{"n", -3}, 1s))->number, -3);
    EXPECT_TRUE(await(ask(b, DeleteKey{"k"}, 1s))->yes);
    EXPECT_EQ(await(ask(b, GetKey{"k"}, 1s))->value, std::nullopt);
}

TEST_F(KvServiceTest, AgentsMeet) {
    const KvService& service = make_service();
    rpc::Client& a = agent("a");
    rpc::Client& b = agent("b");
    begin(a, "a at the barrier", EnterBarrier{"x"});
    begin(a, "a sees all", AwaitSyncPoint{"y"});
    EXPECT_FALSE(await(ask(a, JoinSyncPoint{"y"}, 1s))->yes);
    EXPECT_TRUE(await(ask(b, JoinSyncPoint{"y"}, 1s))->yes);
    begin(b, "b at the barrier", EnterBarrier{"x"});
    EXPECT_THAT(
        got, testing::UnorderedElementsAre("a at the barrier", "b at the barrier", "a sees all"));
    EXPECT_EQ(service.keys().waits(), 0u);
}

TEST_F(KvServiceTest, ACallThatIsRepeatedIsTheSame) {
    const KvService& service = make_service();
    rpc::Client& a = agent("a");
    rpc::Client& b = agent("b");
    begin(a, "a", EnterBarrier{"x"});
    for (int i = 0; i < 3; ++i) {
        cut();
        advance(2s);
        EXPECT_EQ(service.keys().waits(), 1u) << "it waits once";
    }
    begin(b, "b", EnterBarrier{"x"});
    EXPECT_THAT(got, testing::UnorderedElementsAre("a", "b"));
    // Cut off at any instant.
    for (int i = 0; i < 50; ++i) {
        begin(a, "added", AddToKey{"n", 1});
        cut();
        advance(Duration(rng.below(3'000'000)));
    }
    advance(1min);
    EXPECT_EQ(std::ranges::count(got, "added"), 50);
    EXPECT_EQ(await(ask(b, GetKey{"n"}, 1s))->value, "50");
}

TEST_F(KvServiceTest, WhoseTimeIsOverWaitsNoMore) {
    const KvService& service = make_service();
    rpc::Client& a = agent("a");
    begin(a, "a", EnterBarrier{"x"}, 5s);
    advance(6s);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_THAT(got[0], StartsWith("a: Timeout: "));
    EXPECT_EQ(service.keys().waits(), 0u);
    EXPECT_EQ(service.keys().names(), 0u) << "and is not at the barrier";
}

TEST_F(KvServiceTest, TheEndOfAGenerationIsToldToWhoWaits) {
    KvService& service = make_service();
    rpc::Client& a = agent("a");
    begin(a, "a", AwaitKeys{{"k"}});
    begin(a, "a", EnterBarrier{"x"});
    service.world_changed(nullptr, "node b was lost");
    advance(1ms);
    EXPECT_THAT(got, ElementsAre("a: Gone: generation 3.7 has ended: node b was lost",
                                 "a: Gone: generation 3.7 has ended: node b was lost"));
}

TEST_F(KvServiceTest, WhoIsDoneIsNotWaitedFor) {
    KvService& service = make_service();
    rpc::Client& a = agent("a");
    begin(a, "a", EnterBarrier{"x"});
    const World world{.generation = kFirst, .members = {}, .nodes = 2};
    service.reported("b", {.holds = world});
    service.reported("c", {.holds = world, .done = true});
    advance(1ms);
    EXPECT_THAT(got, ElementsAre());
    service.reported("b", {.holds = world, .done = true});
    advance(1ms);
    EXPECT_THAT(got, ElementsAre("a"));
}

TEST_F(KvServiceTest, WhatWasNotMeantForThisMasterHasNoEffectHere) {
    make_service(3);
    rpc::Client& a = agent("a");
    begin(a, "a", EnterBarrier{"x"});
    // The next master, with the same generation: the call is sent again.
    listener = nullptr;
    await(servers.front()->stop());
    KvService& next = make_service(4);
    cut();
    advance(5s);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_THAT(got[0], HasSubstr("Gone: these keys belonged to the master of epoch 3"));
    EXPECT_EQ(next.keys().names(), 0u);
    EXPECT_TRUE(await(ask(a, SetKey{"k", ""}, 1s, {.epoch = 4, .generation = kFirst})));
}

TEST_F(KvServiceTest, StrangersAndNonsenseAreRefused) {
    make_service();
    rpc::Client& c = agent("c");
    EXPECT_EQ(await(ask(c, SetKey{"k", "v"}, 1s)).error().code(), Code::kForbidden);
    EXPECT_TRUE(await(ask(c, SetKey{"k", "v"}, 1s, {.epoch = 3})));
    const auto nonsense = await(rpc::call(c, job_protocol::kKv, job::KvRequest(), 1s));
    ASSERT_FALSE(nonsense);
    EXPECT_EQ(nonsense.error().code(), Code::kBadRequest);
}

TEST(KeyProtocol, ComesAsItWent) {
    const What all[] = {SetKey{"k", std::string("\0\xff", 2)},
                        GetKey{"k"},
                        AddToKey{"k", -5},
                        CompareSetKey{"k", std::nullopt, "d"},
                        CompareSetKey{"k", "", "d"},
                        DeleteKey{"k"},
                        AwaitKeys{{"k", "l"}},
                        EnterBarrier{"b"},
                        JoinSyncPoint{"s"},
                        AwaitSyncPoint{"s"}};
    for (const What& what : all)
        for (const KvSpace& space : {KvSpace{.epoch = 2}, KvSpace{2, kFirst}}) {
            const KvRequest request{.space = space, .what = what};
            const auto back = job_protocol::from_wire(job_protocol::to_wire(request));
            ASSERT_TRUE(back);
            EXPECT_EQ(*back, request) << what.index();
        }
    for (const KvAnswer& answer :
         {KvAnswer{}, KvAnswer{.value = ""}, KvAnswer{.value = "v", .number = -1, .yes = true}})
        EXPECT_EQ(job_protocol::from_wire(job_protocol::to_wire(answer)), answer);
}

}  // namespace
}  // namespace muster::master::kv_service_test
