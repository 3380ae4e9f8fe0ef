#include "apiserver/aggregation/extension_action.h"

#include <gtest/gtest.h>

namespace muster::apiserver::extension_action_test {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

/// "verb resource/subresource name in namespace".
std::string text(const Action& action) {
    if (action.resource.empty()) return fmt::format("{} {}", action.verb, action.path);
    return fmt::format("{} {}/{} {} in {}", action.verb, action.resource, action.subresource,
                       action.name, action.namespace_);
}

// As upstream's RequestInfoResolver reads them.
TEST(ExtensionAction, ThePathSaysWhatIsAskedFor) {
    using enum kube::Method;
    struct Case {
        const char* path;
        kube::Method method;
        Query query;
        const char* expected;
    };
    const std::vector<Case> cases = {
        {"/apis/g/v1", kGet, {}, "get /apis/g/v1"},
        {"/apis/g/v1", kPost, {}, "post /apis/g/v1"},
        {"/apis/g/v1/things", kGet, {}, "list things/  in "},
        {"/apis/g/v1/things", kGet, {{"watch", "true"}}, "watch things/  in "},
        {"/apis/g/v1/things", kGet, {{"watch", ""}}, "watch things/  in "},
        {"/apis/g/v1/things", kGet, {{"watch", "0"}}, "list things/  in "},
        {"/apis/g/v1/things", kPost, {}, "create things/  in "},
        {"/apis/g/v1/things", kDelete, {}, "deletecollection things/  in "},
        {"/apis/g/v1/things/a", kGet, {{"watch", "1"}}, "get things/ a in "},
        {"/apis/g/v1/things/a/status", kPut, {}, "update things/status a in "},
        {"/apis/g/v1/things/a/exec/b/c", kGet, {}, "get things/exec a in "},
        {"/apis/g/v1/namespaces/n/things", kGet, {}, "list things/  in n"},
        {"/apis/g/v1/namespaces/n/things/a", kPatch, {}, "patch things/ a in n"},
        {"/apis/g/v1/namespaces/n/things/a/log", kDelete, {}, "delete things/log a in n"},
        {"/apis/g/v1/namespaces", kGet, {}, "list namespaces/  in "},
        {"/apis/g/v1/namespaces/n", kGet, {}, "get namespaces/ n in n"},
        {"/apis/g/v1/namespaces/n/status", kPut, {}, "update namespaces/status n in n"},
        {"/apis/g/v1/things", kGet, {{"fieldSelector", "metadata.name=a"}}, "list things/ a in "},
        {"/apis/g/v1/things",
         kGet,
         {{"watch", "1"}, {"fieldSelector", "metadata.name=a,spec.x=y"}},
         "watch things/ a in "},
        {"/apis/g/v1/things", kGet, {{"fieldSelector", "=="}}, "list things/  in "},
        {"/apis/g/v1/things", kPost, {{"fieldSelector", "metadata.name=a"}}, "create things/  in "},
    };
    for (const Case& c : cases) {
        const Action action = action_on_extension(c.path, c.method, c.query);
        EXPECT_EQ(text(action), c.expected) << c.path;
        if (!action.resource.empty()) EXPECT_EQ(action.group, "g");
    }
}

TEST(ExtensionAction, ALongPathCostsNoMoreThanAShortOne) {
    std::string path = "/apis/g/v1/things/a";
    for (int i = 0; i < 10'000; ++i) path += "/x";
    EXPECT_EQ(text(action_on_extension(path, kube::Method::kGet, {})), "get things/x a in ");
}

}  // namespace
}  // namespace muster::apiserver::extension_action_test
