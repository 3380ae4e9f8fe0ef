#include "apiserver/server_fixture.h"

namespace muster::apiserver::events_test {
namespace {

class EventsTest : public ServerFixture {
  protected:
    EventsTest() : ServerFixture({.manage_fields = true}) {}

    static std::string old_event(std::string_view name) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"involvedObject":{{"kind":"Pod",
            "name":"p","namespace":"default"}},"reason":"R","message":"m","type":"Normal",
            "source":{{"component":"c"}},"count":3,"lastTimestamp":"2026-01-01T00:00:05Z"}})",
                           name);
    }
    static std::string new_event(std::string_view name) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"regarding":{{"kind":"Pod",
            "name":"p","namespace":"default"}},"reason":"R","note":"m","type":"Normal",
            "action":"Act","eventTime":"2026-01-01T00:00:00.000000Z",
            "reportingController":"c.io/x","reportingInstance":"i"}})",
                           name);
    }
    std::vector<std::string> causes(const kube::Response& response) {
        std::vector<std::string> fields;
        const json::value list = at(response, "details.causes");
        if (list.is_array())
            for (const json::value& cause : list.get_array())
                fields.emplace_back(cause.at("field").as_string());
        return fields;
    }

    const std::string kOld = "/api/v1/namespaces/default/events";
    const std::string kNew = "/apis/events.k8s.io/v1/namespaces/default/events";
};

using Fields = std::vector<std::string>;

TEST_F(EventsTest, WhatIsWrittenInOneApiIsThereInTheOther) {
    ASSERT_EQ(post(kOld, old_event("a")).status, 201);
    const kube::Response made = post(kNew, new_event("b"));
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(made, "apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(at(made, "note"), "m");

    const kube::Response newer = get(kNew + "/a");
    EXPECT_EQ(at(newer, "apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(at(newer, "note"), "m");
    EXPECT_EQ(at(newer, "deprecatedCount"), 3);
    EXPECT_EQ(at(newer, "message"), json::value());
    const kube::Response older = get(kOld + "/b");
    EXPECT_EQ(at(older, "apiVersion"), "v1");
    EXPECT_EQ(at(older, "message"), "m");
    EXPECT_EQ(at(older, "reportingComponent"), "c.io/x");
    EXPECT_EQ(at(older, "source"), json::object());
    EXPECT_EQ(revision(newer), revision(get(kOld + "/a")));

    const kube::Response listed = get(kNew, {{"fieldSelector", "regarding.name=p"}});
    EXPECT_EQ(at(listed, "kind"), "EventList");
    EXPECT_EQ(at(listed, "apiVersion"), "events.k8s.io/v1");
    ASSERT_EQ(at(listed, "items").as_array().size(), 2u);
    EXPECT_EQ(at(listed, "items").as_array()[0].at("note"), "m");
    EXPECT_EQ(get(kNew, {{"fieldSelector", "involvedObject.name=p"}}).status, 400);

    EXPECT_EQ(at(get(kOld, {{"fieldSelector", "source=c"}}), "items").as_array().size(), 1u);
    EXPECT_EQ(remove(kNew + "/a").status, 200);
    EXPECT_EQ(get(kOld + "/a").status, 404);
}

TEST_F(EventsTest, AWatchShowsBothInItsOwnVersion) {
    auto newer = open_watch(kNew);
    auto older = open_watch(kOld);
    post(kOld, old_event("a"));
    post(kNew, new_event("b"));
    merge_patch(kNew + "/b", R"({"series":{"count":2,"lastObservedTime":
        "2026-01-01T00:00:00.000000Z"}})");
    const auto in_new = events(*newer);
    const auto in_old = events(*older);
    ASSERT_EQ(in_new.size(), 3u);
    ASSERT_EQ(in_old.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(in_new[i].object->at("note"), "m");
        EXPECT_EQ(in_new[i].object->at("apiVersion"), "events.k8s.io/v1");
        EXPECT_EQ(in_old[i].object->at("message"), "m");
        EXPECT_EQ(in_old[i].object->at("apiVersion"), "v1");
    }
    EXPECT_EQ(in_old[2].object->at("series").at("count"), 2);
}

TEST_F(EventsTest, TheNewerApiTakesNewerEventsOnly) {
    struct Row {
        const char* body;
        Fields fields;
    };
    const Row rows[] = {
        {R"({"metadata":{"name":"e"},"regarding":{"namespace":"other"},"reason":"R",
             "deprecatedCount":3})",
         {"involvedObject.namespace", "eventTime", "type", "count"}},
        {R"({"metadata":{"name":"e"},"regarding":{"namespace":"other"},"reason":"R",
             "eventTime":"2026-01-01T00:00:00.000000Z","deprecatedFirstTimestamp":
             "2026-01-01T00:00:00Z","deprecatedSource":{"host":"h"},"series":{"count":1}})",
         {"reportingController", "reportingController", "reportingInstance", "action",
          "series.count", "series.lastObservedTime", "type", "firstTimestamp", "source"}},
    };
    for (const Row& row : rows) {
        const kube::Response refused = post(kNew, row.body);
        EXPECT_EQ(refused.status, 422);
        EXPECT_EQ(causes(refused), row.fields) << message(refused);
    }
    const kube::Response refused = post(kOld, R"({"metadata":{"name":"e"},"involvedObject":{},
            "eventTime":"2026-01-01T00:00:00.000000Z","reason":"R"})");
    EXPECT_EQ(causes(refused),
              (Fields{"reportingComponent", "reportingComponent", "reportingInstance", "action"}));
}

TEST_F(EventsTest, InTheNewerApiOnlyTheSeriesGoesOn) {
    post(kNew, new_event("b"));
    const kube::Response refused = merge_patch(kNew + "/b", R"({"note":"other"})");
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(message(refused),
              "Event.events.k8s.io \"b\" is invalid: message: Invalid value: \"other\": field is "
              "immutable");
    EXPECT_EQ(causes(merge_patch(kNew + "/b", R"({"series":{"count":1}})")),
              (Fields{"series.count", "series.lastObservedTime"}));
    EXPECT_EQ(merge_patch(kNew + "/b", R"({"series":{"count":2,"lastObservedTime":
        "2026-01-01T00:00:01.000000Z"}})")
                  .status,
              200);
    EXPECT_EQ(merge_patch(kOld + "/b", R"({"message":"other"})").status, 200);
    EXPECT_EQ(at(get(kNew + "/b"), "note"), "other");
}

TEST_F(EventsTest, OwnersKeepTheNamesOfTheVersionTheyWroteIn) {
    post(kNew, new_event("b"), {{"fieldManager", "newer"}});
    merge_patch(kOld + "/b", R"({"message":"other"})", {{"fieldManager", "older"}});
    for (const std::string& path : {kOld, kNew}) {
        const json::value fields = at(get(path + "/b"), "metadata.managedFields");
        const json::array& entries = fields.as_array();
        ASSERT_EQ(entries.size(), 2u);
        EXPECT_EQ(entries[0].at("manager"), "newer");
        EXPECT_EQ(json::serialize(entries[0].at("fieldsV1")),
                  R"({"f:action":{},"f:eventTime":{},"f:reason":{},"f:regarding":{},)"
                  R"("f:reportingController":{},"f:reportingInstance":{},"f:type":{}})");
        EXPECT_EQ(json::serialize(entries[1].at("fieldsV1")), R"({"f:message":{}})");
    }
    const kube::Response conflict =
        call(kube::Method::kPatch, kNew + "/b",
             parse(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","note":"third"})"),
             {{"fieldManager", "applier"}}, kube::ContentType::kApplyPatch);
    EXPECT_EQ(conflict.status, 409);
    EXPECT_EQ(causes(conflict), Fields{".note"});
}

TEST_F(EventsTest, ADryRunShowsTheVersionThatWasAsked) {
    EXPECT_EQ(at(post(kNew, new_event("b"), {{"dryRun", "All"}}), "note"), "m");
    EXPECT_EQ(get(kOld + "/b").status, 404);
    post(kNew, new_event("b"));
    const kube::Response patched =
        merge_patch(kNew + "/b", R"({"metadata":{"labels":{"a":"b"}}})", {{"dryRun", "All"}});
    EXPECT_EQ(at(patched, "note"), "m");
    EXPECT_EQ(at(patched, "apiVersion"), "events.k8s.io/v1");
    EXPECT_EQ(at(get(kOld + "/b"), "metadata.labels"), json::value());
}

}  // namespace
}  // namespace muster::apiserver::events_test
