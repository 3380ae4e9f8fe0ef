#include "apiserver/internal/webhooks/webhook_url.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster::apiserver::webhook_url_test {
namespace {

TEST(WebhookUrl, NamesHostPortAndPath) {
    const std::vector<std::pair<const char*, WebhookUrl>> cases = {
        {"https://h", {"h", 443, "/"}},        {"https://h:", {"h", 443, "/"}},
        {"https://h:1/a/b", {"h", 1, "/a/b"}}, {"https://[::1]:8443/a", {"::1", 8443, "/a"}},
        {"https://h/a?", {"h", 443, "/a"}},    {"https://h/a#", {"h", 443, "/a"}},
    };
    for (const auto& [text, url] : cases) EXPECT_EQ(parse_webhook_url(text, "url"), url) << text;
}

TEST(WebhookUrl, WhatItMayNotBeOrHave) {
    const std::vector<std::pair<std::string, const char*>> cases = {
        {"", "Invalid value: \"\": 'https' is the only allowed URL scheme"},
        {"h/v", "Invalid value: \"\": 'https' is the only allowed URL scheme"},
        {"http://h", "Invalid value: \"http\": 'https' is the only allowed URL scheme"},
        {"https://", "host must be specified"},
        {"https:h", "host must be specified"},
        {"https:///v", "host must be specified"},
        {"https://:1", "host must be specified"},
        {"https://h:0", "invalid port \":0\" after host"},
        {"https://h:65536", "invalid port \":65536\" after host"},
        {"https://h:1x", "invalid port \":1x\" after host"},
        {"https://u:p@h", "Invalid value: \"u:p\": user information is not permitted"},
        {"https://h/?q", "Invalid value: \"q\": query parameters are not permitted"},
        {"https://h/#f", "Invalid value: \"f\": fragments are not permitted"},
        {"https://[::1", "missing ']' in host"},
        {"https://h h/", "invalid character \" \" in host name"},
        {"https://h/%zz", "invalid URL escape"},
        {"https://h/%6", "invalid URL escape"},
        {"https://h/a\nb", "invalid control character"},
        {std::string("https://h/a\0b", 13), "invalid control character"},
    };
    for (const auto& [text, why] : cases) {
        const auto url = parse_webhook_url(text, "url");
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().field, "url");
        EXPECT_NE(url.error().message.find(why), std::string::npos) << url.error().message;
    }
}

// As client-go asks for them: seen at a kube-apiserver 1.33.
TEST(WebhookUrl, ThePathOfTheRequest) {
    const std::vector<std::pair<const char*, const char*>> cases = {
        {"", "/"},
        {"/", "/"},
        {"/v/", "/v"},
        {"//v", "/v"},
        {"/a/../v", "/v"},
        {"/a//b/", "/a/b"},
        {"/a/./b", "/a/b"},
        {"/%61/%2f/b", "/a/b"},
        {"/a b", "/a%20b"},
        {"/../..", "/"},
        {"/\xc3\xa4", "/%C3%A4"},
        {"/a%3Fb%23c", "/a%3Fb%23c"},
        {"/a%25", "/a%25"},
        {"/-_.~$&+,:;=@", "/-_.~$&+,:;=@"},
    };
    for (const auto& [path, asked] : cases) EXPECT_EQ(request_path(path), asked) << path;
}

}  // namespace
}  // namespace muster::apiserver::webhook_url_test
