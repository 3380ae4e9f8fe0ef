#include "apiserver_http/internal/wire/event_lines.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <memory>

#include "kube/values/time.h"

namespace muster::apiserver_http::event_lines_test {
namespace {

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

apiserver::DefPtr maps() {
    auto def = std::make_shared<apiserver::ResourceDef>();
    def->type.plural = "configmaps";
    def->type.version = "v1";
    return def;
}

kube::ObjectPtr object(std::size_t bytes) {
    return std::make_shared<const json::value>(
        json::object{{"kind", "ConfigMap"},
                     {"metadata", {{"name", "m"}, {"creationTimestamp", "2026-01-02T02:04:05Z"}}},
                     {"data", {{"k", std::string(bytes, 'x')}}}});
}

apiserver::WatchedEvent event_of(const kube::ObjectPtr& tree) {
    return {kube::WatchEventType::kAdded, store::ObjectText::of(tree), nullptr};
}

bool is_long(Form form, const apiserver::WatchedEvent& event) {
    return EventLines(maps(), form, RowObject::kMetadata).is_long(event);
}

TEST(WatchLines, AreWrittenBesideTheLoopWhereTheyTakeLong) {
    struct Case {
        Form form;
        std::size_t bytes;
        bool is_long;
    };
    const Case cases[] = {{Form::kObject, 3'000'000, false},
                          {Form::kTable, 1000, false},
                          {Form::kTable, 64 * 1024, true},
                          {Form::kMetadata, 64 * 1024, false},
                          {Form::kMetadata, 512 * 1024, true}};
    for (const Case& each : cases)
        EXPECT_EQ(is_long(each.form, event_of(object(each.bytes))), each.is_long) << each.bytes;
}

TEST(WatchLines, OfWhatIsNoStoredObjectAreShort) {
    const apiserver::WatchedEvent bookmark{kube::WatchEventType::kBookmark, nullptr,
                                           object(3'000'000)};
    for (Form form : {Form::kObject, Form::kTable, Form::kMetadata})
        EXPECT_FALSE(is_long(form, bookmark));
}

TEST(WatchLines, AreTheSameOfATreeAndOfAText) {
    for (Form form : {Form::kObject, Form::kTable, Form::kMetadata}) {
        const kube::ObjectPtr tree = object(10);
        apiserver::WatchedEvent event = event_of(tree);
        std::string of_text;
        EventLines(maps(), form, RowObject::kMetadata).append(of_text, event, kNow);
        event.tree = tree;
        std::string of_tree;
        EventLines(maps(), form, RowObject::kMetadata).append(of_tree, event, kNow);
        EXPECT_EQ(json::parse(of_text), json::parse(of_tree));
        EXPECT_EQ(json::parse(of_text).at("type").as_string(), "ADDED");
    }
}

TEST(WatchLines, OfTablesHaveTheColumnsOnce) {
    EventLines lines(maps(), Form::kTable, RowObject::kNone);
    std::string first;
    lines.append(first, event_of(object(10)), kNow);
    std::string second;
    lines.append(second, event_of(object(10)), kNow);
    EXPECT_TRUE(json::parse(first).at("object").at("columnDefinitions").is_array());
    EXPECT_TRUE(json::parse(second).at("object").at("columnDefinitions").is_null());
    EXPECT_EQ(json::parse(first).at("object").at("rows"),
              json::parse(second).at("object").at("rows"));
}

}  // namespace
}  // namespace muster::apiserver_http::event_lines_test
