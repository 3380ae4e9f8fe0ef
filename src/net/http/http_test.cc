#include "net/http/http.h"

#include <gtest/gtest.h>

namespace muster::net::http_test {
namespace {

std::string text_of(const HttpHeaders& headers) {
    std::string text;
    for (const HttpHeader field : headers)
        text.append(field.name).append("=").append(field.value).append(";");
    return text;
}

TEST(HttpHeaders, KeepTheirOrderAndAreFoundWithoutCase) {
    HttpHeaders headers{{"Host", "a"}, {"Accept", "x"}, {"accept", "y"}};
    EXPECT_EQ(headers.find("HOST"), "a");
    EXPECT_EQ(headers.find("ACCEPT"), "x") << "the first";
    EXPECT_EQ(headers.count("Accept"), 2u);
    EXPECT_FALSE(headers.contains("Hos"));
    EXPECT_EQ(text_of(headers), "Host=a;Accept=x;accept=y;");
}

TEST(HttpHeaders, SetReplacesAllOfAName) {
    HttpHeaders headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
    headers.set("A", "4");
    EXPECT_EQ(text_of(headers), "B=2;A=4;");
    headers.set(headers[0].name, headers[1].value);
    EXPECT_EQ(text_of(headers), "A=4;B=4;") << "its own text given back to it";
    headers.erase("b");
    EXPECT_EQ(text_of(headers), "A=4;");
    headers.clear();
    EXPECT_TRUE(headers.empty());
}

TEST(HttpHeaders, TokensOfAListAreFoundWhole) {
    const HttpHeaders headers{{"Connection", "keep-alive, Upgrade"}, {"connection", " close "}};
    for (const char* token : {"keep-alive", "upgrade", "close"})
        EXPECT_TRUE(headers.has_token("Connection", token)) << token;
    for (const char* token : {"keep", "alive", "keep-alive, Upgrade"})
        EXPECT_FALSE(headers.has_token("Connection", token)) << token;
}

TEST(Http, HeadersThatWouldEndTheirLineAreNotValid) {
    EXPECT_TRUE(is_valid_header("X-Name", "value with \t and \xc3\xa4"));
    EXPECT_TRUE(is_valid_header("X", ""));
    for (const char* name : {"", "a b", "a:", "a\r", "\xc3\xa4"})
        EXPECT_FALSE(is_valid_header(name, "value")) << name;
    for (const std::string& value :
         {std::string("a\rb"), std::string("a\nb"), std::string("a\0b", 3)})
        EXPECT_FALSE(is_valid_header("Name", value));
}

TEST(Http, ATargetIsPathAndQuery) {
    HttpRequest request;
    request.target = "/api/v1?watch=true?x";
    EXPECT_EQ(request.path(), "/api/v1");
    EXPECT_EQ(request.query(), "watch=true?x");
    request.target = "/api";
    EXPECT_EQ(request.path(), "/api");
    EXPECT_EQ(request.query(), "");
}

TEST(Http, DatesAreWrittenAsTheStandardSays) {
    using namespace std::chrono;
    EXPECT_EQ(http_date(sys_days(1994y / 11 / 6) + 8h + 49min + 37s),
              "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(sys_days(2024y / 2 / 29)), "Thu, 29 Feb 2024 00:00:00 GMT");
}

}  // namespace
}  // namespace muster::net::http_test
