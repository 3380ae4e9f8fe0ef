#include "sim/faulty_transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apiserver/api_server.h"
#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "sim/internal/test_loop.h"

namespace muster::sim::faulty_transport_test {
namespace {

using namespace std::chrono_literals;

class FaultyTransportTest : public ::testing::Test {
  protected:
    FaultyTransportTest() { (void)loop.wait(api.start()); }
    ~FaultyTransportTest() override { loop.wait(api.stop()); }

    void use(TransportFaults faults, TransportHooks hooks = {}) {
        transport = std::make_unique<FaultyTransport>(loop.context.get_executor(), api, loop.clock,
                                                      1, faults, std::move(hooks));
        client = std::make_unique<kube::Client>(*transport);
    }
    static json::value config_map(const std::string& name) {
        return json::object{{"metadata", {{"name", name}}}};
    }
    Result<kube::Written> create(const std::string& name) {
        return loop.wait(client->create(kube::types::kConfigMaps, "default", config_map(name)));
    }
    bool exists(const std::string& name) {
        return loop.wait(real.get(kube::types::kConfigMaps, "default", name)).has_value();
    }

    SimLoop loop;
    Rng rng{3};
    apiserver::ApiServer api{loop.context.get_executor(), loop.clock, rng,
                             store::make_memory_store()};
    kube::Client real{api};
    std::unique_ptr<FaultyTransport> transport;
    std::unique_ptr<kube::Client> client;
};

TEST_F(FaultyTransportTest, WritesFailWithAndWithoutEffect) {
    struct Case {
        TransportFaults faults;
        Code code;
        bool effect;
    };
    const std::vector<Case> cases = {
        {{.unavailable = 1}, Code::kUnavailable, false},
        {{.timeout_before = 1}, Code::kTimeout, false},
        {{.timeout_after = 1}, Code::kTimeout, true},
        {{.too_many = 1}, Code::kTooManyRequests, false},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        use(cases[i].faults);
        const std::string name = fmt::format("case-{}", i);
        auto made = create(name);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), cases[i].code);
        EXPECT_EQ(made.error().retry_after().has_value(), cases[i].code == Code::kTooManyRequests);
        EXPECT_EQ(exists(name), cases[i].effect);
        EXPECT_EQ(transport->writes(), 1u);
    }
}

TEST_F(FaultyTransportTest, AnUpdateConflictsWithoutEffect) {
    use({.conflict = 1});
    ASSERT_TRUE(create("a"));
    auto patched = loop.wait(client->patch(kube::types::kConfigMaps, "default", "a",
                                           kube::ContentType::kMergePatch,
                                           json::value(json::object{{"data", {{"k", "v"}}}})));
    ASSERT_FALSE(patched);
    EXPECT_EQ(patched.error().code(), Code::kConflict);
    auto now = loop.wait(real.get(kube::types::kConfigMaps, "default", "a"));
    EXPECT_FALSE((*now)->get_object().contains("data"));
}

TEST_F(FaultyTransportTest, AListIsOldButNeverOlderThanAsked) {
    use({.stale_list = 1});
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(create(fmt::format("a-{}", i)));
    kube::ListOptions any;
    any.resource_version = "0";
    auto first =
        loop.wait(client->list(kube::types::kConfigMaps, any));  // the newest is not known yet
    ASSERT_TRUE(first);
    EXPECT_EQ(first->items.size(), 50u);
    std::size_t fewest = 50;
    for (int i = 0; i < 20; ++i) {
        auto again = loop.wait(client->list(kube::types::kConfigMaps, any));
        ASSERT_TRUE(again) << again.error().message();
        fewest = std::min(fewest, again->items.size());
    }
    EXPECT_LT(fewest, 40u);
    kube::ListOptions recent;
    recent.resource_version = first->resource_version;
    EXPECT_EQ(loop.wait(client->list(kube::types::kConfigMaps, recent))->items.size(), 50u);
    kube::ListOptions exact;
    EXPECT_EQ(loop.wait(client->list(kube::types::kConfigMaps, exact))->items.size(), 50u);
}

TEST_F(FaultyTransportTest, AWatchRepeatsBreaksAndExpires) {
    kube::WatchOptions from_now;
    from_now.resource_version = "1";
    use({.repeated_event = 1});
    auto repeated = loop.wait(client->watch(kube::types::kConfigMaps, from_now));
    ASSERT_TRUE(create("a"));
    ASSERT_TRUE(create("b"));
    std::string names;
    for (int i = 0; i < 4; ++i) {
        auto event = loop.wait((*repeated)->next());
        names += (*event)->object->at("metadata").at("name").as_string();
    }
    EXPECT_EQ(names, "aabb");

    use({.broken_watch = 1});
    auto broken = loop.wait(client->watch(kube::types::kConfigMaps, from_now));
    for (int i = 0; i < 2; ++i) {
        auto event = loop.wait((*broken)->next());
        ASSERT_FALSE(event);
        EXPECT_EQ(event.error().code(), Code::kUnavailable);
    }

    use({});
    auto expiring = loop.wait(client->watch(kube::types::kConfigMaps, from_now));
    transport->set_faults({.gone_watch = 1});
    auto error = loop.wait((*expiring)->next());
    ASSERT_TRUE(error && *error);
    EXPECT_EQ((*error)->type, kube::WatchEventType::kError);
    EXPECT_EQ((*error)->object->at("code"), 410);
    auto refused = loop.wait(client->watch(kube::types::kConfigMaps, from_now));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kGone);
}

TEST_F(FaultyTransportTest, SlowRequestsAndEventsTakeTheirTime) {
    use({.slow_request = 1, .slow_event = 1, .delay = {2s, 3s}});
    const Instant begin = loop.clock.now();
    ASSERT_TRUE(create("a"));
    EXPECT_GE(loop.clock.now() - begin, 4s);
    EXPECT_LE(loop.clock.now() - begin, 6s);
}

TEST_F(FaultyTransportTest, ACrashBeforeAWritePreventsItAndOneAfterDoesNot) {
    for (const bool at : {true, false}) {
        std::function<void()> die;
        use({}, {.crash = [&](const kube::Request&, bool before) {
                if (before == at) die();
                return before == at;
            }});
        die = [&] { transport->cut(); };
        TaskGroup tasks(loop.context.get_executor());
        bool answered = false;
        const std::string name = at ? "before" : "after";
        tasks.spawn("writer", [](kube::Client& to, std::string what, bool& got) -> Task<void> {
            (void)co_await to.create(kube::types::kConfigMaps, "default", config_map(what));
            got = true;
        }(*client, name, answered));
        loop.run_for(1h);
        EXPECT_FALSE(answered);
        EXPECT_EQ(exists(name), !at);
        loop.wait(tasks.stop());
    }
}

}  // namespace
}  // namespace muster::sim::faulty_transport_test
