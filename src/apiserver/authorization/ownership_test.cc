#include "apiserver/authorization/ownership.h"

#include <gmock/gmock.h>

#include "apiserver/authorization/authorization_fixture.h"
#include "base/test_growth.h"

namespace muster::apiserver::ownership_test {
namespace {

using testing::HasSubstr;

json::object map_owned_by(json::array owners) {
    return {
        {"metadata", {{"name", "m"}, {"namespace", "a"}, {"ownerReferences", std::move(owners)}}}};
}

json::object blocking(std::string_view kind, std::string name, std::string uid) {
    return {{"apiVersion", "v1"},
            {"kind", kind},
            {"name", std::move(name)},
            {"uid", std::move(uid)},
            {"blockOwnerDeletion", true}};
}

class OwnershipTest : public AuthorizationFixture {
  protected:
    /// What bob may do in the whole cluster.
    void grant(json::array rules) {
        const json::object role{{"metadata", {{"name", "r"}}}, {"rules", std::move(rules)}};
        const json::object binding{{"metadata", {{"name", "b"}}},
                                   {"roleRef", {{"kind", "ClusterRole"}, {"name", "r"}}},
                                   {"subjects", json::array{{{"kind", "User"}, {"name", "bob"}}}}};
        load(kClusterRoles, std::vector<json::value>(1, role));
        load(kClusterRoleBindings, std::vector<json::value>(1, binding));
    }
    StatusResult<void> check(const json::object* before, const json::object& after) {
        const StatusResult<Target> target = route(registry_, "/api/v1/namespaces/a/configmaps/m");
        return check_ownership(cache_, registry_, bob_, *target, before, after);
    }
    std::string verdict(const json::object* before, const json::object& after) {
        const StatusResult<void> answer = check(before, after);
        return answer ? "allowed" : answer.error().error.message();
    }
};

json::object rule(std::string_view verb, std::string_view resource, json::array names = {}) {
    json::object rule{{"verbs", json::array{verb}},
                      {"apiGroups", json::array{""}},
                      {"resources", json::array{resource}}};
    if (!names.empty()) rule["resourceNames"] = std::move(names);
    return rule;
}

TEST_F(OwnershipTest, EachBlockingOwnerMayBeChangedByTheAuthor) {
    grant({rule("update", "secrets", {"s1", "s2"}), rule("update", "secrets/finalizers", {"s3"}),
           rule("update", "pods"), rule("delete", "configmaps")});
    const auto owned = [](std::initializer_list<std::pair<const char*, const char*>> owners) {
        json::array list;
        for (const auto& [kind, name] : owners) list.push_back(blocking(kind, name, "1"));
        return map_owned_by(std::move(list));
    };
    EXPECT_EQ(verdict(nullptr, owned({{"Secret", "s1"}, {"Secret", "s3"}, {"Secret", "s2"}})),
              "allowed");
    EXPECT_EQ(verdict(nullptr, owned({{"Pod", "p1"}, {"Secret", "s1"}, {"Pod", "p2"}})), "allowed");
    EXPECT_EQ(verdict(nullptr, owned({{"Unknown", "u"}, {"Unknown", "v"}})), "allowed");
    for (const char* other : {"s4", "p1", ""})
        EXPECT_THAT(verdict(nullptr, owned({{"Secret", "s1"}, {"Secret", other}, {"Pod", "p1"}})),
                    HasSubstr("cannot set blockOwnerDeletion"))
            << other;
    EXPECT_THAT(verdict(nullptr, owned({{"Secret", "s1"}, {"Service", "s1"}})),
                HasSubstr("cannot set blockOwnerDeletion"));
}

TEST_F(OwnershipTest, WhatBlockedBeforeNeedsNothing) {
    grant({rule("delete", "configmaps")});
    const json::object before =
        map_owned_by({blocking("Secret", "s", "1"), blocking("Secret", "t", "2")});
    EXPECT_EQ(verdict(&before, map_owned_by({blocking("Secret", "t", "2")})), "allowed");
    for (const json::object& owner : {blocking("Secret", "t", "1"), blocking("Secret", "s", "2"),
                                      blocking("Pod", "s", "1"), blocking("Secret", "x", "3")})
        EXPECT_THAT(verdict(&before, map_owned_by({owner})),
                    HasSubstr("cannot set blockOwnerDeletion"))
            << json::serialize(owner);
    json::object released = blocking("Secret", "s", "1");
    released["blockOwnerDeletion"] = false;
    const json::object unblocked = map_owned_by({released});
    EXPECT_THAT(verdict(&unblocked, map_owned_by({blocking("Secret", "s", "1")})),
                HasSubstr("cannot set blockOwnerDeletion"));
}

TEST_F(OwnershipTest, WorkIsNoProductOfOwnersNorOfOwnersAndRules) {
    const auto owned = [](std::size_t count, std::size_t first_uid) {
        json::array owners;
        for (std::size_t i = 0; i < count; ++i)
            owners.push_back(
                blocking("Secret", fmt::format("s{}", i), fmt::format("{}", first_uid + i)));
        return map_owned_by(std::move(owners));
    };
    grant({rule("delete", "configmaps"), rule("update", "secrets/finalizers")});
    EXPECT_LE(growth_by_ten(300,
                            [&](std::size_t size) {
                                const json::object before = owned(size, 0);
                                ASSERT_TRUE(check(&before, owned(size, size)));
                            }),
              kLinearGrowth);
    EXPECT_LE(
        growth_by_ten(100,
                      [&](std::size_t size) {
                          json::array many;
                          for (std::size_t i = 0; i < size; ++i)
                              many.push_back(rule("update", "secrets", {fmt::format("s{}", i)}));
                          grant(std::move(many));
                          ASSERT_TRUE(check(nullptr, owned(size, 0)));
                      }),
        kLinearGrowth);
}

TEST_F(OwnershipTest, OwnersOfManyKindsAndLargeRoles) {
    json::array owners;
    for (const auto& [name, def] : registry_.resources()) {
        if (owners.size() == 30) break;
        owners.push_back(blocking(def->type.kind, "x", def->type.kind));
        owners.back().get_object()["apiVersion"] = def->type.api_version();
    }
    ASSERT_EQ(owners.size(), 30U);
    json::object all = rule("update", "*");
    all["apiGroups"] = json::array{"*"};
    grant({all});
    EXPECT_EQ(verdict(nullptr, map_owned_by(owners)), "allowed");
    json::array many;
    for (int i = 0; i < 10'000; ++i) many.push_back(rule("get", fmt::format("r{}", i)));
    many.push_back(all);
    grant(many);
    EXPECT_THAT(verdict(nullptr, map_owned_by(owners)),
                HasSubstr("there are too many kinds of owners for so large roles"));
    owners.resize(3);
    EXPECT_EQ(verdict(nullptr, map_owned_by(owners)), "allowed");
}

}  // namespace
}  // namespace muster::apiserver::ownership_test
