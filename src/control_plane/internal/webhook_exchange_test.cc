#include "control_plane/internal/webhook_exchange.h"

#include <gtest/gtest.h>

namespace muster::control_plane::webhook_exchange_test {
namespace {

TEST(WebhookExchange, ALocationLeadsOn) {
    const HttpPlace from{.tls = true, .host = "h", .port = 8443, .target = "/a/b?timeout=1s"};
    struct Case {
        const char* location;
        HttpPlace to;
    };
    const std::vector<Case> cases = {
        {"/final", {true, "h", 8443, "/final"}},
        {"c", {true, "h", 8443, "/a/c"}},
        {"../c/./d", {true, "h", 8443, "/c/d"}},
        {"/x/..", {true, "h", 8443, "/"}},
        {"/../../x", {true, "h", 8443, "/x"}},
        {"?q=1", {true, "h", 8443, "/a/b?q=1"}},
        {"", {true, "h", 8443, "/a/b?timeout=1s"}},
        {"/x#f", {true, "h", 8443, "/x"}},
        {"//other/x", {true, "other", 443, "/x"}},
        {"https://other", {true, "other", 443, "/"}},
        {"https://other?x", {true, "other", 443, "/?x"}},
        {"http://other:1/x?y:z", {false, "other", 1, "/x?y:z"}},
        {"https://u:p@[::1]:2/x", {true, "::1", 2, "/x"}},
        {"http://other/", {false, "other", 80, "/"}},
    };
    for (const auto& [location, to] : cases) {
        const auto place = redirected(from, location);
        ASSERT_TRUE(place) << location << ": " << place.error().message();
        EXPECT_EQ(place->host, to.host) << location;
        EXPECT_EQ(place->target, to.target) << location;
        EXPECT_EQ(*place, to) << location;
    }
}

TEST(WebhookExchange, ALocationThatIsNoneSaysWhy) {
    const HttpPlace from{.tls = true, .host = "h", .port = 443, .target = "/"};
    for (const auto& [location, why] : std::vector<std::pair<const char*, const char*>>{
             {"ftp://h/", "unsupported protocol scheme \"ftp\""},
             {"https:x", "no Host in request URL"},
             {"https:///x", "no Host in request URL"},
             {"https://[::1/x", "missing ']' in host"},
             {"https://h:x/", "invalid port \":x\" after host"},
             {"/a\r\nHost: b", "invalid character"}}) {
        const auto place = redirected(from, location);
        ASSERT_FALSE(place) << location;
        EXPECT_NE(place.error().message().find(why), std::string::npos) << place.error().message();
    }
}

// Seen at a kube-apiserver 1.33.
TEST(WebhookExchange, AFailureIsToldInTheWordsOfClientGo) {
    struct Case {
        unsigned status;
        const char* type;
        const char* body;
        const char* expected;
    };
    for (const Case& c : {
             Case{500, "text/plain", "it is broken",
                  "an error on the server (\"it is broken\") has prevented the request from "
                  "succeeding"},
             Case{500, "application/json", "{}",
                  "an error on the server (\"unknown\") has prevented the request from succeeding"},
             Case{404, "text/plain", "nothing", "the server could not find the requested resource"},
             Case{200, "application/json", "",
                  "0-length response with status code: 200 and content type: application/json"},
         }) {
        const auto body = body_or_failure(
            {.status = c.status, .headers = {{"Content-Type", c.type}}, .body = c.body});
        ASSERT_FALSE(body);
        EXPECT_EQ(body.error().message(), c.expected);
    }
    EXPECT_EQ(body_or_failure({.status = 201, .headers = {}, .body = "x"}).value(), "x");
}

TEST(WebhookExchange, OnlySomeRedirectsRepeatTheRequest) {
    EXPECT_EQ(redirect_of(307), Redirect::kSame);
    EXPECT_EQ(redirect_of(308), Redirect::kSame);
    for (const unsigned status : {301u, 302u, 303u}) EXPECT_EQ(redirect_of(status), Redirect::kGet);
    for (const unsigned status : {200u, 300u, 304u, 305u})
        EXPECT_EQ(redirect_of(status), Redirect::kNone);
}

}  // namespace
}  // namespace muster::control_plane::webhook_exchange_test
