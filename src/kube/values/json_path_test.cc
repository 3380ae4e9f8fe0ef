#include "kube/values/json_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::kube::json_path_test {
namespace {

using testing::HasSubstr;

std::string found(std::string_view path, std::string_view document) {
    const Result<JsonPath> parsed = JsonPath::parse(path);
    if (!parsed) return parsed.error().message();
    const json::value root = json::parse(json::string_view(document));
    json::array all;
    for (const json::value* value : parsed->find(root)) all.push_back(*value);
    return json::serialize(all);
}

TEST(JsonPath, LeadsToValues) {
    struct Row {
        const char* path;
        const char* document;
        const char* found;
    };
    constexpr Row kRows[] = {
        {".a", R"({"a":1})", "[1]"},
        {"$.a.b", R"({"a":{"b":"x"}})", R"(["x"])"},
        {".a.b", R"({"a":[{"b":1}]})", "[]"},
        {".a", "{}", "[]"},
        {".a", R"({"a":null})", "[null]"},
        {".a-b_c", R"({"a-b_c":1})", "[1]"},
        {R"(.labels.app\.io/name)", R"({"labels":{"app.io/name":"x"}})", R"(["x"])"},
        {".labels['app.io/name']", R"({"labels":{"app.io/name":"x"}})", R"(["x"])"},
        {R"(.labels["app\.io/name"].a)", R"({"labels":{"app.io/name":{"a":2}}})", "[2]"},
        {".l[0]", R"({"l":[1,2,3]})", "[1]"},
        {".l[-1]", R"({"l":[1,2,3]})", "[3]"},
        {".l[3]", R"({"l":[1,2,3]})", "[]"},
        {".l[-4]", R"({"l":[1,2,3]})", "[]"},
        {".l[0]", R"({"l":{"0":1}})", "[]"},
        {".l[-1:]", R"({"l":[1,2,3]})", "[3]"},
        {".l[-9:]", R"({"l":[1,2,3]})", "[1,2,3]"},
        {".l[1:]", R"({"l":[1,2,3]})", "[2,3]"},
        {".l[:2]", R"({"l":[1,2,3]})", "[1,2]"},
        {".l[1:9]", R"({"l":[1,2,3]})", "[2,3]"},
        {".l[2:1]", R"({"l":[1,2,3]})", "[]"},
        {".l[:]", R"({"l":[1,2]})", "[1,2]"},
        {".l[*].a", R"({"l":[{"a":1},{"b":2},{"a":3}]})", "[1,3]"},
        {".l.*", R"({"l":{"a":1,"b":2}})", "[1,2]"},
        {".l[*]", R"({"l":7})", "[]"},
        {R"(.c[?(@.type=="Ready")].status)",
         R"({"c":[{"type":"Other","status":"x"},{"type":"Ready","status":"True"}]})",
         R"(["True"])"},
        {"(.c)", "{}", "is an invalid JSON path: expected '.' or '[' at offset 0, found '(.c)'"},
        {".c[?(@.type == 'Ready')].n", R"({"c":[{"type":"Ready","n":1},{"type":"Ready","n":2}]})",
         "[1,2]"},
        {".c[?(@.a.b!='x')].n", R"({"c":[{"a":{"b":"x"},"n":1},{"a":{"b":"y"},"n":2},{"n":3}]})",
         "[2]"},
        {".c[?(@.n)]", R"({"c":[{"n":null},{},{"n":1}]})", R"([{"n":null},{"n":1}])"},
        {".c[?(@.n>1)].n", R"({"c":[{"n":1},{"n":2},{"n":2.5},{"n":"9"}]})", "[2,2.5E0]"},
        {".c[?(@.n>=2)].n", R"({"c":[{"n":1},{"n":2}]})", "[2]"},
        {".c[?(@.n<2)].n", R"({"c":[{"n":1},{"n":2}]})", "[1]"},
        {".c[?(@.n<=1.5)].n", R"({"c":[{"n":1},{"n":2}]})", "[1]"},
        {".c[?(@.on==true)].n", R"({"c":[{"n":1,"on":true},{"n":2,"on":false}]})", "[1]"},
        {".c[?(@==3)]", R"({"c":[1,3]})", "[3]"},
    };
    for (const Row& row : kRows) EXPECT_EQ(found(row.path, row.document), row.found) << row.path;
}

TEST(JsonPath, SaysWhatIsWrongWhere) {
    struct Row {
        const char* path;
        const char* problem;
    };
    constexpr Row kRows[] = {
        {"", "expected a path at offset 0, found the end"},
        {"$", "expected a path at offset 1, found the end"},
        {"a", "expected '.' or '[' at offset 0, found 'a'"},
        {".", "expected a field's name at offset 1, found the end"},
        {".a.", "expected a field's name at offset 3, found the end"},
        {".a..b", "expected one dot (recursive descent is not supported) at offset 2, found '..b'"},
        {".a[", "expected an index, a slice, '*', a quoted key or '?(' at offset 3"},
        {".a[]", "expected an index before ']'"},
        {".a[0", "at offset 4, found the end"},
        {".a[0,1]", "at offset 4, found ',1]'"},
        {".a[0:4:2]", "expected ']' (a slice's step is not supported) at offset 6"},
        {".a['b", "expected a closing quote"},
        {".a['b'", "expected ']'"},
        {".a[99999999999999999999]", "expected a smaller number"},
        {".a[?(b)]", "expected '@'"},
        {".a[?(@.b", "expected a comparison or ')]' at offset 8"},
        {".a[?(@.b==)]", "expected a quoted text, a number, true or false at offset 10"},
        {".a[?(@.b==inf)]", "expected a quoted text, a number, true or false at offset 10"},
        // Not in the middle of a code point, and not for long where there is none.
        {".a(aaaaaaaaaaaaaaaaaa\u20acb", "found '(aaaaaaaaaaaaaaaaaa\u20ac'"},
        {".a(\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
         "\x80\x80\x80\x80\x80\x80\x80\x80",
         "found "
         "'("
         "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
         "'"},
        {"{.a}", "expected '.' or '[' at offset 0"},
    };
    for (const Row& row : kRows) {
        const Result<JsonPath> parsed = JsonPath::parse(row.path);
        ASSERT_FALSE(parsed.has_value()) << row.path;
        EXPECT_EQ(parsed.error().code(), Code::kInvalid);
        EXPECT_THAT(parsed.error().message(), HasSubstr(row.problem)) << row.path;
    }
}

}  // namespace
}  // namespace muster::kube::json_path_test
