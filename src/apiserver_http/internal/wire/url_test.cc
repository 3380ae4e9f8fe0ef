#include "apiserver_http/internal/wire/url.h"

#include <gtest/gtest.h>

namespace muster::apiserver_http::url_test {
namespace {

TEST(Url, PathsAndQueriesAreDecoded) {
    struct Case {
        const char* target;
        const char* path;
        std::vector<std::pair<std::string, std::string>> query;
    };
    const Case cases[] = {
        {"/", "", {}},
        {"/api/v1/pods", "/api/v1/pods", {}},
        {"/api/v1/pods/", "/api/v1/pods", {}},
        {"//api///v1", "/api/v1", {}},
        {"/api/v1/nodes/system%3Anode", "/api/v1/nodes/system:node", {}},
        {"/x?a=1&b=2", "/x", {{"a", "1"}, {"b", "2"}}},
        {"/x?a=1&a=2", "/x", {{"a", "1"}, {"a", "2"}}},
        {"/x?labelSelector=a%3Db%2Cc+in+%28d%29", "/x", {{"labelSelector", "a=b,c in (d)"}}},
        {"/x?watch", "/x", {{"watch", ""}}},
        {"/x?a=b=c", "/x", {{"a", "b=c"}}},
        {"/x?&&a=1&", "/x", {{"a", "1"}}},
        {"/a+b?c", "/a+b", {{"c", ""}}},
    };
    for (const Case& c : cases) {
        const apiserver::StatusResult<Url> url = parse_url(c.target);
        ASSERT_TRUE(url.has_value()) << c.target;
        EXPECT_EQ(url->path, c.path) << c.target;
        EXPECT_EQ(url->query, c.query) << c.target;
    }
}

TEST(Url, WhatCouldMeanAnotherPathIsRefused) {
    for (const char* target : {"", "api/v1", "*", "http://x/api", "/api/../etc", "/api/%2e%2e/etc",
                               "/api/./v1", "/api/v1/pods/a%2Fb", "/api/v1/pods/a%00b", "/api/%",
                               "/api/%4", "/api/%zz", "/x?a=%", "/x?%g1=b"}) {
        const apiserver::StatusResult<Url> url = parse_url(target);
        ASSERT_FALSE(url.has_value()) << target;
        EXPECT_EQ(url.error().error.code(), Code::kBadRequest) << target;
    }
}

TEST(Url, TheOldFormOfAWatch) {
    struct Case {
        const char* path;
        bool watch;
        const char* without;
    };
    for (const Case& c :
         {Case{"/api/v1/watch/pods", true, "/api/v1/pods"},
          Case{"/api/v1/watch/namespaces/a/pods", true, "/api/v1/namespaces/a/pods"},
          Case{"/apis/g.io/v1/watch/jobs", true, "/apis/g.io/v1/jobs"},
          Case{"/api/v1/namespaces/watch/pods", false, ""},
          Case{"/apis/g.io/v1/namespaces/a/jobs/watch", false, ""},
          Case{"/apis/g.io/v1/namespaces/watch/jobs", false, ""},
          Case{"/api/v1/pods", false, ""}}) {
        std::string path = c.path;
        EXPECT_EQ(take_watch_prefix(path), c.watch) << c.path;
        EXPECT_EQ(path, c.watch ? c.without : c.path);
    }
}

}  // namespace
}  // namespace muster::apiserver_http::url_test
