#include "apiserver/internal/conversions/event_versions.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::apiserver::event_versions_test {
namespace {

struct Row {
    const char* why;
    const char* stored;
    const char* shown;
};

TEST(EventVersions, AnEventHasTwoFormsAndBothSayTheSame) {
    constexpr Row kRows[] = {
        {"of an older client",
         R"({"apiVersion":"v1","metadata":{"name":"e"},"involvedObject":{"kind":"Pod"},
             "reason":"R","message":"m","source":{"component":"c","host":"h"},"type":"Normal",
             "firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:05Z",
             "count":3,"eventTime":null,"reportingComponent":"","reportingInstance":""})",
         R"({"apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"regarding":{"kind":"Pod"},
             "reason":"R","note":"m","deprecatedSource":{"component":"c","host":"h"},
             "type":"Normal","deprecatedFirstTimestamp":"2026-01-01T00:00:00Z",
             "deprecatedLastTimestamp":"2026-01-01T00:00:05Z","deprecatedCount":3,
             "eventTime":null})"},
        {"of a newer client",
         R"({"apiVersion":"v1","metadata":{"name":"e"},"involvedObject":{"kind":"Pod"},
             "reason":"R","message":"m","source":{},"firstTimestamp":null,"lastTimestamp":null,
             "type":"Normal","eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},
             "action":"Act","related":{"kind":"Node"},"reportingComponent":"c.io/x",
             "reportingInstance":"i"})",
         R"({"apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"regarding":{"kind":"Pod"},
             "reason":"R","note":"m","deprecatedSource":{},"deprecatedFirstTimestamp":null,
             "deprecatedLastTimestamp":null,"type":"Normal",
             "eventTime":"2026-01-01T00:00:00.000000Z","series":{"count":2},"action":"Act",
             "related":{"kind":"Node"},"reportingController":"c.io/x","reportingInstance":"i"})"},
        {"with nothing said",
         R"({"apiVersion":"v1","metadata":{"name":"e"},"involvedObject":{},"source":{},
             "firstTimestamp":null,"lastTimestamp":null,"eventTime":null,
             "reportingComponent":"","reportingInstance":""})",
         R"({"apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"regarding":{},
             "deprecatedSource":{},"deprecatedFirstTimestamp":null,
             "deprecatedLastTimestamp":null,"eventTime":null})"},
    };
    for (const Row& row : kRows) {
        const json::value stored = json::parse(row.stored);
        const json::value shown = json::parse(row.shown);
        json::value made = stored;
        kEventsApiConversion.show(made.get_object());
        EXPECT_EQ(made, shown) << row.why << ": " << json::serialize(made);
        kEventsApiConversion.store(made.get_object());
        EXPECT_EQ(made, stored) << row.why << ": " << json::serialize(made);
    }
}

json::value owned(std::string_view fields, std::string_view api_version) {
    return json::object{
        {"metadata",
         {{"managedFields",
           json::array{json::object{{"manager", "m"},
                                    {"apiVersion", api_version},
                                    {"fieldsV1", json::parse(std::string(fields))}}}}}}};
}

std::string fields_of(const json::value& object) {
    return json::serialize(object.at("metadata").at("managedFields").at(0).at("fieldsV1"));
}

TEST(EventVersions, OwnersSpeakTheVersionThatIsWritten) {
    struct OwnerRow {
        const VersionConversion* conversion;
        const char* version;
        const char* stored;
        const char* aligned;
    };
    const OwnerRow rows[] = {
        {&kCoreEventConversion, "events.k8s.io/v1", R"({"f:note":{},"f:reportingController":{}})",
         R"({"f:message":{},"f:reportingComponent":{}})"},
        {&kCoreEventConversion, "v1", R"({"f:message":{},"f:type":{}})",
         R"({"f:message":{},"f:type":{}})"},
        {&kEventsApiConversion, "v1",
         R"({"f:involvedObject":{},"f:source":{"f:host":{}},"f:type":{}})",
         R"({"f:deprecatedSource":{"f:host":{}},"f:regarding":{},"f:type":{}})"},
        {&kEventsApiConversion, "events.k8s.io/v1", R"({"f:note":{},"f:type":{}})",
         R"({"f:note":{},"f:type":{}})"},
    };
    for (const OwnerRow& row : rows) {
        json::value object = owned(row.stored, row.version);
        row.conversion->align_owners(object.get_object());
        EXPECT_EQ(fields_of(object), row.aligned);
        row.conversion->store(object.get_object());
        EXPECT_EQ(fields_of(object), row.stored);
    }
}

TEST(EventVersions, SelectorsNameTheFieldsOfTheirVersion) {
    const auto stored = kEventsApiConversion.stored_field;
    EXPECT_EQ(stored("regarding.name"), "involvedObject.name");
    EXPECT_EQ(stored("reportingController"), "reportingComponent");
    EXPECT_EQ(stored("type"), "type");
    EXPECT_EQ(stored("metadata.name"), "metadata.name");
    EXPECT_EQ(kCoreEventConversion.stored_field("source"), "source.component");
    EXPECT_EQ(kCoreEventConversion.stored_field("involvedObject.name"), "involvedObject.name");
}

}  // namespace
}  // namespace muster::apiserver::event_versions_test
