#include "kube/values/namespaced_name.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <set>

#include "kube/values/json_access.h"

namespace muster::kube::namespaced_name_test {
namespace {

TEST(NamespacedName, ItsTextHasASlashOnlyInANamespace) {
    struct Row {
        NamespacedName name;
        std::string text;
    };
    for (const Row& row : {
             Row{{"ml", "digits"}, "ml/digits"},
             Row{{"", "node-1"}, "node-1"},
             Row{{"", ""}, ""},
         })
        EXPECT_EQ(row.name.text(), row.text);
}

TEST(NamespacedName, TheNamespaceGoesFirst) {
    const std::set<NamespacedName> names{{"b", "a"}, {"a-b", "a"}, {"a", "b"}, {"a", "a"}};
    std::string all;
    for (const NamespacedName& name : names) all += name.text() + " ";
    EXPECT_EQ(all, "a/a a/b a-b/a b/a ");
    EXPECT_EQ((NamespacedName{"a", "b"}), (NamespacedName{"a", "b"}));
    EXPECT_NE((NamespacedName{"a", "b"}), (NamespacedName{"b", "a"}));
}

TEST(NamespacedName, IsReadFromMetadata) {
    const auto of = [](std::string_view text) {
        return namespaced_name_of(json::parse(text).get_object());
    };
    EXPECT_EQ(of(R"({"metadata": {"name": "a", "namespace": "ml"}})"), (NamespacedName{"ml", "a"}));
    EXPECT_EQ(of(R"({"metadata": {"name": "a"}})"), (NamespacedName{"", "a"}));
    EXPECT_EQ(of("{}"), NamespacedName());
}

}  // namespace
}  // namespace muster::kube::namespaced_name_test
