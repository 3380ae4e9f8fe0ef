#include "apiserver/internal/controllers/event_expiry.h"

#include <chrono>

#include "apiserver/server_fixture.h"
#include "kube/values/time.h"

namespace muster::apiserver::event_expiry_test {
namespace {

using namespace std::chrono_literals;

class EventExpiryTest : public ServerFixture {
  protected:
    EventExpiryTest() : ServerFixture({.manage_fields = true, .event_ttl = 1h}) {}

    void make(std::string_view name, std::string_view more = "") {
        const kube::Response made = post(
            kEvents, fmt::format(R"({{"metadata":{{"name":"{}"{}}},"reason":"R","involvedObject":
                {{"namespace":"default"}}}})",
                                 name, more));
        EXPECT_EQ(made.status, 201) << text(made);
    }
    std::string left() {
        std::string names;
        const json::value items = at(get(kEvents), "items");
        for (const json::value& item : items.as_array())
            names += std::string(name_of(item.get_object()));
        return names;
    }

    const std::string kEvents = "/api/v1/namespaces/default/events";
};

TEST_F(EventExpiryTest, AnEventGoesATimeAfterItsLastWrite) {
    make("a");
    make("b");
    make("c", R"(,"finalizers":["x.io/y"])");
    advance(30min);
    ASSERT_EQ(merge_patch(kEvents + "/a", R"({"count":2})").status, 200);
    advance(29min);
    EXPECT_EQ(left(), "abc");
    auto watch = open_watch(kEvents);
    drain(*watch);
    make("d");
    advance(3min);
    EXPECT_EQ(left(), "ad");
    EXPECT_EQ(drain(*watch), "ADDED d, DELETED b, DELETED c");
    advance(30min);
    EXPECT_EQ(left(), "d");
    advance(30min);
    EXPECT_EQ(left(), "");
}

TEST_F(EventExpiryTest, OneThatIsMadeAgainHasItsWholeTime) {
    make("a");
    advance(40min);
    ASSERT_EQ(remove(kEvents + "/a").status, 200);
    make("a");
    advance(40min);
    EXPECT_EQ(left(), "a");
    advance(22min);
    EXPECT_EQ(left(), "");
}

TEST_F(EventExpiryTest, ThoseFromBeforeTheStartEndInTheirTime) {
    stop();
    std::unique_ptr<store::Store> store = store::make_memory_store();
    const auto keep = [&](std::string_view name, Duration age) {
        const std::string text = fmt::format(
            R"({{"apiVersion":"v1","kind":"Event","metadata":{{"name":"{}","namespace":"default",
                "uid":"{}","creationTimestamp":"{}"}},"involvedObject":{{}}}})",
            name, name, kube::format_time(clock.wall_now() - age));
        const auto make = [text](store::Revision) { return parse(text); };
        ASSERT_TRUE(await(store->create({"events", "default", std::string(name)}, make)));
    };
    keep("a", 50min);
    keep("b", 2h);
    keep("c", -100h);  // of a clock that was wrong
    server_ = std::make_unique<ApiServer>(context.get_executor(), clock, rng_, std::move(store),
                                          options_);
    ASSERT_TRUE(await(server_->start()));
    advance(2min);
    EXPECT_EQ(left(), "ac");
    advance(10min);
    EXPECT_EQ(left(), "c");
    advance(50min);
    EXPECT_EQ(left(), "");
}

TEST_F(EventExpiryTest, OtherObjectsStay) {
    ASSERT_EQ(post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"m"}})").status,
              201);
    advance(3h);
    EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/m").status, 200);
}

TEST_F(EventExpiryTest, WithoutATimeTheyStay) {
    options_.event_ttl = {};
    restart();
    make("a");
    advance(1000h);
    EXPECT_EQ(left(), "a");
}

TEST(LastWriteOfTest, IsTheNewestTimeThatTheEventNames) {
    const auto of = [](std::string_view event) -> std::string {
        const auto time = last_write_of(json::parse(std::string(event)).as_object());
        return time ? kube::format_time(*time) : "none";
    };
    EXPECT_EQ(of("{}"), "none");
    EXPECT_EQ(of(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}})"),
              "2026-01-01T00:00:00Z");
    EXPECT_EQ(of(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z",
                   "managedFields":[{"time":"2026-01-02T00:00:00Z"},{"time":3},4,
                                    {"time":"2026-01-01T12:00:00Z"}]}})"),
              "2026-01-02T00:00:00Z");
    EXPECT_EQ(of(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},
                   "lastTimestamp":"2026-01-03T00:00:00Z"})"),
              "2026-01-03T00:00:00Z");
    EXPECT_EQ(of(R"({"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},
                   "series":{"lastObservedTime":"2026-01-04T00:00:00.000000Z"}})"),
              "2026-01-04T00:00:00Z");
    EXPECT_EQ(of(R"({"metadata":{"creationTimestamp":"x"},"lastTimestamp":null})"), "none");
}

}  // namespace
}  // namespace muster::apiserver::event_expiry_test
