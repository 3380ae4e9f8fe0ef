#include "kube/client_config/server_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::server_url_test {
namespace {

using testing::HasSubstr;

TEST(ServerUrl, HasAHostAPortAndAPrefix) {
    struct Row {
        const char* text;
        bool tls_is_meant;
        ServerUrl url;
        const char* again;
    };
    const Row kRows[] = {
        {"https://127.0.0.1:6443", true, {true, "127.0.0.1", 6443, ""}, "https://127.0.0.1:6443"},
        {"https://a.example", true, {true, "a.example", 443, ""}, "https://a.example:443"},
        {"https://a.example/", true, {true, "a.example", 443, ""}, "https://a.example:443"},
        {"https://a/k8s/c-1/", true, {true, "a", 443, "/k8s/c-1"}, "https://a:443/k8s/c-1"},
        {"http://a", true, {false, "a", 80, ""}, "http://a:80"},
        {"https://[::1]:1", true, {true, "::1", 1, ""}, "https://[::1]:1"},
        {"https://[::1]", true, {true, "::1", 443, ""}, "https://[::1]:443"},
        {"a:8080", false, {false, "a", 8080, ""}, "http://a:8080"},
        {"a", true, {true, "a", 443, ""}, "https://a:443"},
    };
    for (const Row& row : kRows) {
        const auto url = parse_server_url(row.text, row.tls_is_meant);
        ASSERT_TRUE(url) << row.text << ": " << url.error().message();
        EXPECT_EQ(*url, row.url) << row.text;
        EXPECT_EQ(url->text(), row.again);
    }
}

TEST(ServerUrl, SaysWhatIsWrong) {
    const std::pair<const char*, const char*> kRows[] = {
        {"", "names no host"},           {"https://", "names no host"},
        {"https://:1", "names no host"}, {"ftp://a", "scheme"},
        {"unix:///run/x", "scheme"},     {"https://a:", "port"},
        {"https://a:0", "port"},         {"https://a:65536", "port"},
        {"https://a:b", "port"},         {"https://::1", "names no host"},
        {"https://[::1", "']'"},         {"https://[::1]x", "between"},
        {"https://a?b", "query"},        {"https://u:p@a", "user"},
    };
    for (const auto& [text, why] : kRows) {
        const auto url = parse_server_url(text, true);
        ASSERT_FALSE(url) << text;
        EXPECT_THAT(url.error().message(), HasSubstr(why)) << text;
    }
}

}  // namespace
}  // namespace muster::kube::server_url_test
