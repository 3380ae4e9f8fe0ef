#include "apiserver_http/internal/wire/impersonation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::apiserver_http::impersonation_test {
namespace {

using testing::ElementsAre;

/// "users ann", "serviceaccounts a/robot", "userextras/scopes x".
std::vector<std::string> needs(const Impersonation& wanted) {
    std::vector<std::string> texts;
    for (const apiserver::Action& action : wanted.needed) {
        EXPECT_EQ(action.verb, "impersonate");
        std::string text = action.resource;
        if (!action.subresource.empty()) text += "/" + action.subresource;
        text += " ";
        if (!action.namespace_.empty()) text += action.namespace_ + "/";
        texts.push_back(text + action.name);
    }
    return texts;
}

TEST(Impersonation, NobodyIsImpersonatedUnlessAskedFor) {
    const auto wanted = read_impersonation({{"Authorization", "x"}, {"Impersonate", "ann"}});
    ASSERT_TRUE(wanted.has_value());
    EXPECT_FALSE(wanted->has_value());
}

TEST(Impersonation, AUserWithGroupsUidAndMore) {
    const auto wanted = read_impersonation({{"Impersonate-User", "ann"},
                                            {"impersonate-group", "dev"},
                                            {"Impersonate-Group", "ops"},
                                            {"Impersonate-Uid", "7"},
                                            {"Impersonate-Extra-Acme.com%2FScopes", "a"},
                                            {"Impersonate-Extra-Acme.com%2Fscopes", "b"}});
    ASSERT_TRUE(wanted && *wanted);
    const apiserver::User& user = (*wanted)->user;
    EXPECT_EQ(user.name, "ann");
    EXPECT_EQ(user.uid, "7");
    EXPECT_THAT(user.groups, ElementsAre("dev", "ops", "system:authenticated"));
    EXPECT_THAT(user.extra.at("acme.com/scopes"), ElementsAre("a", "b"));
    EXPECT_THAT(needs(**wanted),
                ElementsAre("users ann", "groups dev", "groups ops", "uids 7",
                            "userextras/acme.com/scopes a", "userextras/acme.com/scopes b"));
}

TEST(Impersonation, ServiceAccountsHaveTheGroupsOfTheirNamespace) {
    const auto wanted = read_impersonation({{"Impersonate-User", "system:serviceaccount:a:robot"}});
    ASSERT_TRUE(wanted && *wanted);
    EXPECT_THAT(
        (*wanted)->user.groups,
        ElementsAre("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"));
    EXPECT_THAT(needs(**wanted), ElementsAre("serviceaccounts a/robot"));
    const auto odd = read_impersonation({{"Impersonate-User", "system:serviceaccount:a"}});
    ASSERT_TRUE(odd && *odd);
    EXPECT_THAT(needs(**odd), ElementsAre("users system:serviceaccount:a"));
}

TEST(Impersonation, TheAnonymousStayUnauthenticated) {
    const auto wanted = read_impersonation({{"Impersonate-User", "system:anonymous"}});
    ASSERT_TRUE(wanted && *wanted);
    EXPECT_THAT((*wanted)->user.groups, ElementsAre("system:unauthenticated"));
}

TEST(Impersonation, WhatCantBeMeantIsRefused) {
    const net::HttpHeaders kWrong[] = {
        {{"Impersonate-Group", "dev"}},
        {{"Impersonate-Uid", "7"}},
        {{"Impersonate-Extra-A", "b"}},
        {{"Impersonate-User", ""}},
        {{"Impersonate-User", "ann"}, {"Impersonate-User", "root"}},
        {{"Impersonate-User", "ann"}, {"Impersonate-Uid", "1"}, {"Impersonate-Uid", "2"}},
        {{"Impersonate-User", "ann"}, {"Impersonate-Extra-", "b"}},
        {{"Impersonate-User", "ann"}, {"Impersonate-Extra-a%2", "b"}},
    };
    for (const net::HttpHeaders& headers : kWrong) {
        const auto wanted = read_impersonation(headers);
        ASSERT_FALSE(wanted.has_value()) << headers[0].name << ": " << headers[0].value;
        EXPECT_EQ(wanted.error().error.code(), Code::kBadRequest);
    }
}

}  // namespace
}  // namespace muster::apiserver_http::impersonation_test
