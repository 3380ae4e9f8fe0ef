#include "apiserver_http/internal/extensions/forwarded_headers.h"

#include <gtest/gtest.h>

namespace muster::apiserver_http::forwarded_headers_test {
namespace {

std::string lines(const net::HttpHeaders& headers) {
    std::string text;
    for (const auto& [name, value] : headers) text += fmt::format("{}: {}\n", name, value);
    return text;
}

const apiserver::User kUser{
    "ada", "7", {"devs", "system:authenticated"}, {{"example.org/A%b", {"x", "y"}}}};

TEST(ForwardedHeaders, TellWhoTheUserIs) {
    EXPECT_EQ(lines(forwarded_headers({{"Accept", "a/b"}, {"User-Agent", "u"}}, kUser)),
              "Accept: a/b\nUser-Agent: u\nX-Remote-User: ada\nX-Remote-Uid: 7\n"
              "X-Remote-Group: devs\nX-Remote-Group: system:authenticated\n"
              "X-Remote-Extra-example.org%2FA%25b: x\nX-Remote-Extra-example.org%2FA%25b: y\n");
    EXPECT_EQ(lines(forwarded_headers({}, {"b", "", {}, {}})), "X-Remote-User: b\n");
}

TEST(ForwardedHeaders, NothingThatTheClientSentSaysWhoItIs) {
    const net::HttpHeaders sent{{"Authorization", "Bearer secret"},
                                {"X-Remote-User", "root"},
                                {"x-remote-user", "root"},
                                {"X_Remote_User", "root"},
                                {"X-REMOTE-GROUP", "system:masters"},
                                {"X-Remote_Group", "system:masters"},
                                {"X-Remote-Uid", "0"},
                                {"X-Remote-Extra-Scopes", "all"},
                                {"x-remote-extra-", "all"},
                                {"Impersonate-User", "root"},
                                {"Impersonate-Extra-a", "b"},
                                {"X-Forwarded-For", "10.0.0.1"},
                                {"Connection", "close, X-Secret"},
                                {"X-Secret", "s"},
                                {"Transfer-Encoding", "chunked"},
                                {"Content-Length", "5"},
                                {"Host", "h"},
                                {"Expect", "100-continue"},
                                {"Upgrade", "websocket"},
                                {"Proxy-Authorization", "p"},
                                {"Content-Type", "application/json"}};
    EXPECT_EQ(lines(forwarded_headers(sent, {"ada", "", {}, {}})),
              "Content-Type: application/json\nX-Remote-User: ada\n");
}

TEST(ForwardedHeaders, WhatCountsForOneConnectionIsNotReturned) {
    EXPECT_EQ(lines(returned_headers({{"Content-Type", "a/b"},
                                      {"Connection", "keep-alive, X-Hop"},
                                      {"X-Hop", "h"},
                                      {"Transfer-Encoding", "chunked"},
                                      {"Content-Length", "7"},
                                      {"Date", "d"},
                                      {"Warning", "299 - w"}})),
              "Content-Type: a/b\nWarning: 299 - w\n");
}

TEST(ForwardedHeaders, EmptySegmentsOfThePathAreLeftOut) {
    EXPECT_EQ(forwarded_target("/apis//g/v1///x/?a=//b"), "/apis/g/v1/x/?a=//b");
    EXPECT_EQ(forwarded_target("/a%20b?"), "/a%20b?");
    EXPECT_EQ(forwarded_target(""), "");
}

TEST(ForwardedHeaders, AnUpgradeNeedsBothFields) {
    EXPECT_TRUE(asks_for_upgrade({{"Connection", "keep-alive, Upgrade"}, {"Upgrade", "x"}}));
    EXPECT_FALSE(asks_for_upgrade({{"Upgrade", "x"}}));
    EXPECT_FALSE(asks_for_upgrade({{"Connection", "Upgrade"}}));
}

}  // namespace
}  // namespace muster::apiserver_http::forwarded_headers_test
