#include <gmock/gmock.h>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::role_aggregation_test {
namespace {

const std::string kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class RoleAggregationTest : public ServerFixture {
  protected:
    void make_part(std::string_view name, std::string_view labels) {
        EXPECT_EQ(post(kRoles, fmt::format(R"({{"metadata":{{"name":"{0}","labels":{1}}},"rules":)"
                                           R"([{{"verbs":["get"],"apiGroups":[""],)"
                                           R"("resources":["{0}"]}}]}})",
                                           name, labels))
                      .status,
                  201);
    }
    void make_whole(std::string_view selector) {
        EXPECT_EQ(post(kRoles, fmt::format(R"({{"metadata":{{"name":"whole"}},"aggregationRule":)"
                                           R"({{"clusterRoleSelectors":[{}]}}}})",
                                           selector))
                      .status,
                  201);
    }
    /// The resources of the whole's rules.
    std::string rules() {
        settle();
        std::string all;
        const json::value found = at(get(kRoles + "/whole"), "rules");
        if (!found.is_array()) return all;
        for (const json::value& rule : found.get_array())
            all += std::string(rule.at("resources").at(0).as_string()) + " ";
        return all;
    }
};

TEST_F(RoleAggregationTest, TheRulesFollowTheLabelsOfTheParts) {
    make_part("a", R"({"x":"y","other":"z"})");
    make_whole(R"({"matchLabels":{"x":"y"}})");
    EXPECT_EQ(rules(), "a ");
    make_part("b", R"({"x":"y"})");
    make_part("c", R"({"x":"n"})");
    EXPECT_EQ(rules(), "a b ");
    merge_patch(kRoles + "/c", R"({"metadata":{"labels":{"x":"y"}}})");
    merge_patch(kRoles + "/a", R"({"metadata":{"labels":{"x":null}}})");
    EXPECT_EQ(rules(), "b c ");
    remove(kRoles + "/b");
    EXPECT_EQ(rules(), "c ");
    merge_patch(kRoles + "/whole",
                R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"other":"z"}}]}})");
    EXPECT_EQ(rules(), "a ");
}

TEST_F(RoleAggregationTest, ASelectorWithoutTheValueOfALabelLooksAtAll) {
    make_whole(R"({"matchExpressions":[{"key":"x","operator":"Exists"}]})");
    make_part("a", R"({"x":"1"})");
    make_part("b", R"({"y":"1"})");
    EXPECT_EQ(rules(), "a ");
}

}  // namespace
}  // namespace muster::apiserver::role_aggregation_test
