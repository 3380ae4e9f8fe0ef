#include "cli/internal/objects/json_path_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::cli::json_path_template_test {
namespace {

using testing::HasSubstr;

std::string rendered(std::string_view text) {
    static const json::value root = json::parse(R"({"kind":"List","items":[
        {"metadata":{"name":"a"},"n":1,"list":["x","y"]},
        {"metadata":{"name":"b"},"n":2.5,"flag":true}]})");
    const auto layout = JsonPathTemplate::parse(text);
    return layout ? layout->render(root) : layout.error().message();
}

TEST(JsonPathTemplate, PathsTextsAndRanges) {
    const std::pair<const char*, const char*> kRows[] = {
        {"{.kind}", "List"},
        {".kind", "List"},
        {"kind", "List"},
        {"{$.kind}!", "List!"},
        {"{.items[*].metadata.name}", "a b"},
        {"{.items[*].n}", "1 2.5E0"},
        {"{.items[0].list}", R"(["x","y"])"},
        {"{.items[0].metadata}", R"({"name":"a"})"},
        {"{.missing}", ""},
        {"[{.kind}]", "[List]"},
        {"{range .items[*]}{.metadata.name}{'='}{.n}{\"\\n\"}{end}", "a=1\nb=2.5E0\n"},
        {"{range .items[*]}{$.kind}/{@.metadata.name} {end}", "List/a List/b "},
        {"{range .items[0].list[*]}<{@}>{end}", "<x><y>"},
        {"{range .items[*]}{range .list[*]}{.}{end};{end}", "xy;;"},
        {"{\"}\"}", "}"},
        {"{.items[?(@.n==1)].metadata.name}", "a"},
    };
    for (const auto& [text, result] : kRows) EXPECT_EQ(rendered(text), result) << text;
}

TEST(JsonPathTemplate, SaysWhatIsWrong) {
    const std::pair<const char*, const char*> kRows[] = {
        {"{.a", "'}'"},         {"{range .a}", "{end}"}, {"{end}", "without a {range}"},
        {"{.a[}", "JSON path"}, {"{..a}", "recursive"},
    };
    for (const auto& [text, why] : kRows) EXPECT_THAT(rendered(text), HasSubstr(why)) << text;
}

}  // namespace
}  // namespace muster::cli::json_path_template_test
