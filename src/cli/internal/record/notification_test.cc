#include "cli/internal/record/notification.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace muster::cli::notification_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NotificationUrl, WhereARequestGoes) {
    const auto https = *notification_url("https://hooks.example.com/services/T/B?x=1");
    EXPECT_TRUE(https.tls);
    EXPECT_EQ(https.host, "hooks.example.com");
    EXPECT_EQ(https.port, 443);
    EXPECT_EQ(https.target, "/services/T/B?x=1");
    EXPECT_EQ(https.authority, "hooks.example.com");
    const auto http = *notification_url("http://[::1]:8080");
    EXPECT_FALSE(http.tls);
    EXPECT_EQ(http.host, "::1");
    EXPECT_EQ(http.port, 8080);
    EXPECT_EQ(http.target, "/");
    EXPECT_EQ(http.authority, "[::1]:8080");
    EXPECT_EQ(notification_url("http://h?q")->target, "/?q");
}

TEST(NotificationUrl, WhatIsWrongIsSaid) {
    for (const char* text :
         {"http://", "https:///path", "http://user:pw@host/", "http://host/a b", "http://host/#x",
          "http://host:0/", "http://host:99999/", "http://host:x/", "http://[::1/",
          "http://[::1]8080/", "http://h\nHost: x/"})
        EXPECT_FALSE(notification_url(text)) << text;
    EXPECT_TRUE(is_notification_url("https://x"));
    EXPECT_FALSE(is_notification_url("mail me"));
    EXPECT_FALSE(is_notification_url("HTTP_PROXY=x curl http://x"));
}

TEST(NotificationBody, ATextForPeopleAndFieldsForPrograms) {
    RunRecord record;
    record.name = "digits-3";
    record.subjects = {{"PyTorchJob", "ml", "digits"}};
    record.started = WallTime(std::chrono::seconds(1'700'000'000));
    record.end = RunEnd{.at = record.started + std::chrono::seconds(90),
                        .status = 7,
                        .result = "failed",
                        .why = {"PyTorchJob ml/digits failed", "  \x1b[31mred\x1b[0m \"quoted\""},
                        .restarts = 2,
                        .bytes = 0};
    const json::object body = json::parse(notification_body(record, "node7")).as_object();
    const std::string text(body.at("text").as_string());
    EXPECT_THAT(text, HasSubstr("digits-3 failed on node7 after 1 min 30 s (exit status "
                                "7)\nPyTorchJob ml/digits failed\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_EQ(body.at("exitStatus").as_int64(), 7);
    EXPECT_EQ(body.at("why").as_array().size(), 2U);
    EXPECT_EQ(body.at("started").as_string(), "2023-11-14T22:13:20Z");
    EXPECT_EQ(body.at("restarts").as_int64(), 2);
    record.end->status = 0;
    record.end->result = "succeeded";
    EXPECT_EQ(json::parse(notification_body(record, "node7")).at("text").as_string(),
              "digits-3 succeeded on node7 after 1 min 30 s");
}

}  // namespace
}  // namespace muster::cli::notification_test
