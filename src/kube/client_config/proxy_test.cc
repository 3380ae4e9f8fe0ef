#include "kube/client_config/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::proxy_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Proxy::Kind;

TEST(ParseProxy, HasASchemeAHostAPortAndALogin) {
    struct Row {
        const char* text;
        Proxy proxy;
        const char* again;
    };
    const Row kRows[] = {
        {"http://p:3128", {Kind::kHttp, "p", 3128, {}}, "http://p:3128"},
        {"http://p", {Kind::kHttp, "p", 80, {}}, "http://p:80"},
        {"HTTPS://p/", {Kind::kHttps, "p", 443, {}}, "https://p:443"},
        {"socks5://p", {Kind::kSocks5, "p", 1080, {}}, "socks5://p:1080"},
        {"socks5h://p:1?x", {Kind::kSocks5, "p", 1, {}}, "socks5://p:1"},
        {"http://[::1]:1", {Kind::kHttp, "::1", 1, {}}, "http://[::1]:1"},
        {"http://u:s%40c%2f@p:1", {Kind::kHttp, "p", 1, {"u", "s@c/"}}, "http://p:1"},
        {"http://u@p:1", {Kind::kHttp, "p", 1, {"u", ""}}, "http://p:1"},
        {"http://u:a:b@p:1", {Kind::kHttp, "p", 1, {"u", "a:b"}}, "http://p:1"},
    };
    for (const Row& row : kRows) {
        const auto proxy = parse_proxy(row.text);
        ASSERT_TRUE(proxy) << row.text << ": " << proxy.error().message();
        EXPECT_EQ(*proxy, row.proxy) << row.text;
        EXPECT_EQ(proxy->text(), row.again);
    }
}

TEST(ParseProxy, SaysWhatIsWrongWithoutThePassword) {
    const std::pair<const char*, const char*> kRows[] = {
        {"", "no scheme"},
        {"p:3128", "no scheme"},
        {"ftp://u:secret@p", "\"ftp\""},
        {"http://", "names no host"},
        {"http://u:secret@:1", "names no host"},
        {"http://u:secret@p:x", "a port"},
        {"http://u:secret%4@p:1", "'%'"},
        {"http://u:secret%zz@p:1", "'%'"},
    };
    for (const auto& [text, why] : kRows) {
        const auto proxy = parse_proxy(text);
        ASSERT_FALSE(proxy) << text;
        EXPECT_THAT(proxy.error().message(), HasSubstr(why)) << text;
        EXPECT_THAT(proxy.error().message(), Not(HasSubstr("secret"))) << text;
    }
}

// The cases of Go's golang.org/x/net/http/httpproxy, which other clients use, grouped by its rules.
TEST(IsWithoutProxy, IsReadAsOthersReadIt) {
    struct Row {
        const char* list;
        const char* host;
        bool without;
    };
    const Row kRows[] = {
        {"", "a.b", false},
        {"*", "a.b", true},
        {" , *", "10.0.0.1", true},
        {"a.b", "a.b", true},
        {"A.B", "a.b", true},
        {"a.b", "A.b", true},
        {"a.b", "x.a.b", true},
        {"a.b", "xa.b", false},
        {"a.b", "b", false},
        {".a.b", "a.b", false},
        {".a.b", "x.a.b", true},
        {"*.a.b", "x.a.b", true},
        {"*.a.b", "a.b", false},
        {"x, a.b ,y", "a.b", true},
        {"a.b:6443", "a.b", true},
        {"a.b:443", "a.b", false},
        {":6443", "a.b", false},
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1:6443", "10.0.0.1", true},
        {"10.0.0.1:443", "10.0.0.1", false},
        {"10.0.0.1", "10.0.0.11", false},
        {"10.0.0.0/8", "10.1.2.3", true},
        {"10.9.9.9/8", "10.1.2.3", true},
        {"10.0.0.0/8", "11.1.2.3", false},
        {"10.0.0.0/8", "a.b", false},
        {"0.0.0.0/0", "fd00::1", false},
        {"fd00::/8", "fd00::1", true},
        {"fd00::/8", "fe00::1", false},
        {"fd00::1", "fd00::1", true},
        {"[fd00::1]", "fd00::1", true},
        {"[fd00::1]:6443", "fd00::1", true},
        {"[fd00::1]:443", "fd00::1", false},
        {"::ffff:10.0.0.1", "10.0.0.1", true},
        {"0.0.1", "10.0.0.1", true},
        {"[fd00::1", "fd00::1", false},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(is_without_proxy(row.list, row.host, 6443), row.without)
            << row.list << " and " << row.host;
}

TEST(ProxyFromEnvironment, IsChosenByTheSchemeOfTheServer) {
    struct Row {
        const char* server;
        std::vector<std::string> environment;
        const char* proxy;
    };
    const Row kRows[] = {
        {"https://a", {}, ""},
        {"https://a", {"HTTPS_PROXY=http://p:1"}, "http://p:1"},
        {"https://a", {"https_proxy=http://p:1"}, "http://p:1"},
        {"https://a", {"https_proxy=http://q:1", "HTTPS_PROXY=http://p:1"}, "http://p:1"},
        {"https://a", {"https_proxy=http://q:1", "HTTPS_PROXY="}, "http://q:1"},
        {"https://a", {"HTTPS_PROXY=p:1"}, "http://p:1"},
        {"https://a", {"HTTPS_PROXY=socks5://p"}, "socks5://p:1080"},
        {"https://a", {"HTTP_PROXY=http://p:1", "ALL_PROXY=http://p:1"}, ""},
        {"http://a", {"HTTP_PROXY=http://p:1"}, "http://p:1"},
        {"http://a", {"http_proxy=http://p:1"}, "http://p:1"},
        {"http://a", {"HTTPS_PROXY=http://p:1"}, ""},
        {"https://a", {"HTTPS_PROXY=http://p:1", "NO_PROXY=a"}, ""},
        {"https://a", {"HTTPS_PROXY=http://p:1", "no_proxy=a"}, ""},
        {"https://a", {"HTTPS_PROXY=http://p:1", "NO_PROXY=b", "no_proxy=a"}, "http://p:1"},
        {"https://a:1", {"HTTPS_PROXY=http://p:1", "NO_PROXY=a:443"}, "http://p:1"},
        {"https://localhost:1", {"HTTPS_PROXY=http://p:1"}, ""},
        {"https://127.0.0.9:1", {"HTTPS_PROXY=http://p:1"}, ""},
        {"https://[::1]:1", {"HTTPS_PROXY=http://p:1"}, ""},
    };
    for (const Row& row : kRows) {
        const auto proxy =
            proxy_from_environment(parse_server_url(row.server, true).value(), row.environment);
        ASSERT_TRUE(proxy) << proxy.error().message();
        EXPECT_EQ(*proxy ? (*proxy)->text() : "", row.proxy)
            << row.server << ": " << testing::PrintToString(row.environment);
    }
    const auto wrong = proxy_from_environment(parse_server_url("https://a", true).value(),
                                              {"https_proxy=ftp://p"});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message(), HasSubstr("HTTPS_PROXY"));
}

}  // namespace
}  // namespace muster::kube::proxy_test
