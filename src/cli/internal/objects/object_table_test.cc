#include "cli/internal/objects/object_table.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/values/time.h"

namespace muster::cli::object_table_test {
namespace {

constexpr const char* kPods = R"({"kind":"Table","metadata":{"resourceVersion":"7","continue":"c"},
  "columnDefinitions":[{"name":"Name"},{"name":"Restarts"},{"name":"IP","priority":1}],
  "rows":[
    {"cells":["a",0,"10.0.0.1"],"object":{"metadata":{"name":"a","namespace":"x",
      "labels":{"k":"v","b":"c"}}}},
    {"cells":["longer",12,null],"object":{"metadata":{"name":"longer","namespace":"default"}}}]})";

const WallTime kNow = *kube::parse_time("2026-01-02T03:04:05Z");

std::string written(const char* document, TableStyle style) {
    return TableWriter(std::move(style)).write(read_table(json::parse(document), kNow));
}

TEST(ObjectTable, ColumnsLineUp) {
    EXPECT_EQ(written(kPods, {}),
              "NAME     RESTARTS\n"
              "a        0\n"
              "longer   12\n");
    EXPECT_EQ(written(kPods, {.wide = true, .namespaces = true, .labels = true}),
              "NAMESPACE   NAME     RESTARTS   IP         LABELS\n"
              "x           a        0          10.0.0.1   b=c,k=v\n"
              "default     longer   12                    <none>\n");
    EXPECT_EQ(written(kPods, {.header = false, .name_prefix = "pod/"}),
              "pod/a        0\n"
              "pod/longer   12\n");
}

TEST(ObjectTable, UnitsInTheHeaderStayAsTheyAre) {
    ObjectTable table;
    table.columns = {{"Name", false}, {"Memory(bytes)", false}};
    EXPECT_EQ(TableWriter({}).write(table), "NAME   MEMORY(bytes)\n");
}

TEST(ObjectTable, KnowsWhereItGoesOn) {
    const ObjectTable table = read_table(json::parse(kPods), kNow);
    EXPECT_EQ(table.resource_version, "7");
    EXPECT_EQ(table.continue_, "c");
    const ObjectTable event = read_table(json::parse(R"({"kind":"Table","rows":[
        {"cells":["a"],"object":{"metadata":{"resourceVersion":"9"}}}]})"),
                                         kNow);
    EXPECT_EQ(event.resource_version, "9");
}

TEST(ObjectTable, RowsOfAWatchKeepTheColumns) {
    TableWriter writer({});
    writer.write(read_table(json::parse(kPods), kNow));
    EXPECT_EQ(writer.write(read_table(
                  json::parse(R"({"kind":"Table","rows":[{"cells":["b",3,""]}]})"), kNow)),
              "b        3\n");
}

TEST(ObjectTable, AServerWithoutTablesGivesNamesAndAges) {
    EXPECT_EQ(written(R"({"kind":"PodList","items":[
        {"metadata":{"name":"a","creationTimestamp":"2026-01-02T03:04:00Z"}}]})",
                      {}),
              "NAME   AGE\n"
              "a      5s\n");
    EXPECT_EQ(written(R"({"kind":"Pod","metadata":{"name":"b"}})", {}),
              "NAME   AGE\n"
              "b      <unknown>\n");
}

TEST(ObjectTable, ACellIsOneHarmlessLine) {
    EXPECT_EQ(printable_cell("two\nlines"), "two...");
    EXPECT_EQ(printable_cell("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
    EXPECT_EQ(printable_cell("gr\xc3\xbcn"), "gr\xc3\xbcn");
}

TEST(ObjectTable, WhatIsNoTableHasNoRows) {
    for (const char* document :
         {"null", "[]", R"({"kind":"Table"})", R"({"kind":"Table","rows":[1]})"})
        EXPECT_TRUE(read_table(json::parse(document), kNow).rows.empty()) << document;
}

}  // namespace
}  // namespace muster::cli::object_table_test
