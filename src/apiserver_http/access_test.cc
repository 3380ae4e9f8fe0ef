#include <gmock/gmock.h>

#include "apiserver/resources/access_types.h"
#include "apiserver_http/front_fixture.h"

namespace muster::apiserver_http::access_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kApply = "application/apply-patch+yaml";

/// Roles and bindings as clients make them, and what they come to.
class AccessTest : public FrontFixture {
  protected:
    AccessTest() : FrontFixture({.manage_fields = true, .default_roles = true}) { settle(); }

    static std::string rbac(std::string_view plural, std::string_view ns = "") {
        return ns.empty()
                   ? fmt::format("/apis/rbac.authorization.k8s.io/v1/{}", plural)
                   : fmt::format("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/{}", ns, plural);
    }
    static std::string role(std::string_view name, std::string_view rules) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"rules":{}}})", name, rules);
    }
    static std::string binding(std::string_view name, std::string_view kind, std::string_view role,
                               std::string_view user) {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"roleRef":{{"kind":"{}","name":"{}"}},)"
                           R"("subjects":[{{"kind":"User","name":"{}"}}]}})",
                           name, kind, role, user);
    }
    /// Gives `user` these rules in the whole cluster.
    void allow(std::string_view user, std::string_view rules) {
        const std::string name = fmt::format("of-{}", user);
        ASSERT_EQ(verdict(post(rbac("clusterroles"), role(name, rules))), "allowed");
        ASSERT_EQ(
            verdict(post(rbac("clusterrolebindings"), binding(name, "ClusterRole", name, user))),
            "allowed");
    }
};

TEST_F(AccessTest, ARoleTakesEffectWithItsWriteAndEndsWithIt) {
    EXPECT_EQ(verdict(as("bob", "GET", kPods)),
              "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in "
              "the namespace \"default\"");
    post(rbac("roles", "default"),
         role("r", R"([{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}])"));
    post(rbac("rolebindings", "default"), binding("b", "Role", "r", "bob"));
    EXPECT_EQ(verdict(as("bob", "GET", kPods)), "allowed");
    EXPECT_THAT(verdict(as("bob", "GET", kPods + "?watch=1")), HasSubstr("cannot watch"));
    EXPECT_THAT(verdict(as("bob", "GET", "/api/v1/pods")), HasSubstr("at the cluster scope"));
    send(request("DELETE", rbac("roles", "default") + "/r"));
    EXPECT_THAT(verdict(as("bob", "GET", kPods)),
                testing::EndsWith("RBAC: role.rbac.authorization.k8s.io \"r\" not found"));
}

TEST_F(AccessTest, EverybodyWhoIsKnownMayLookAroundOthersMayAskForTheVersion) {
    for (const char* path : {"/api", "/apis", "/apis/coordination.k8s.io/v1", "/openapi/v3"}) {
        EXPECT_EQ(as("bob", "GET", path).status, 200) << path;
        EXPECT_EQ(reason(as("system:anonymous", "GET", path)), "403 Forbidden") << path;
    }
    EXPECT_EQ(as("system:anonymous", "GET", "/version").status, 200);
    EXPECT_EQ(as("system:anonymous", "GET", "/readyz").status, 200);
}

TEST_F(AccessTest, OnlyWhoMayImpersonateDoes) {
    net::HttpRequest nobody = request("GET", kPods, "", {{"Impersonate-User", "root"}});
    nobody.headers.erase("Authorization");
    EXPECT_EQ(verdict(send(nobody)),
              "users \"root\" is forbidden: User \"system:anonymous\" cannot impersonate resource "
              "\"users\" in API group \"\" at the cluster scope");
    nobody.headers.add("Impersonate-Group", "system:masters");
    EXPECT_EQ(reason(send(nobody)), "403 Forbidden");
    net::HttpRequest masters = request(
        "GET", kPods, "", {{"Impersonate-User", "ann"}, {"Impersonate-Group", "system:masters"}});
    EXPECT_EQ(send(masters).status, 200);
    EXPECT_EQ(reason(send(request("GET", kPods, "", {{"Impersonate-Group", "x"}}))),
              "400 BadRequest");
}

TEST_F(AccessTest, NobodyGivesWhatTheyDoNotHave) {
    allow("ann", R"([{"verbs":["*"],"apiGroups":["rbac.authorization.k8s.io"],
        "resources":["roles","rolebindings","clusterroles","clusterrolebindings"]},
        {"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
    // `*` as a verb would have `escalate` and `bind` among what it gives.
    const std::string own = rbac("clusterroles") + "/of-ann";
    const auto rules = [](std::string_view verbs) {
        return fmt::format(
            R"({{"rules":[{{"verbs":["create","update","patch","get","delete"],)"
            R"("apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings",)"
            R"("clusterroles","clusterrolebindings"]}},)"
            R"({{"verbs":{},"apiGroups":[""],"resources":["pods"]}}]}})",
            verbs);
    };
    ASSERT_EQ(send(request("PATCH", own, rules(R"(["get"])"), {{"Content-Type", kMerge}})).status,
              200);

    const std::string more =
        role("more", R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]},
                         {"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}])");
    const std::string refused =
        "user \"ann\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions "
        "not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n"
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";
    EXPECT_EQ(verdict(as("ann", "POST", rbac("roles", "default"), more)),
              "roles.rbac.authorization.k8s.io \"more\" is forbidden: " + refused);
    EXPECT_EQ(verdict(as("ann", "POST", rbac("clusterroles"), more)),
              "clusterroles.rbac.authorization.k8s.io \"more\" is forbidden: " + refused);
    // Neither as a whole, nor by a change, a patch or an apply.
    const std::string less =
        role("more", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
    EXPECT_EQ(verdict(as("ann", "POST", rbac("roles", "default"), less)), "allowed");
    EXPECT_THAT(verdict(as("ann", "PUT", rbac("roles", "default") + "/more", more)),
                HasSubstr("not currently held"));
    EXPECT_THAT(verdict(as("ann", "PATCH", rbac("roles", "default") + "/more", more, kMerge)),
                HasSubstr("not currently held"));
    EXPECT_THAT(verdict(as("ann", "PATCH", own, rules(R"(["*"])"), kMerge)),
                HasSubstr("not currently held"));
    const std::string applied = R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",
        "metadata":{"name":"new"},
        "rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})";
    EXPECT_THAT(verdict(as("ann", "PATCH", rbac("roles", "default") + "/new?fieldManager=x",
                           applied, kApply)),
                HasSubstr("not currently held"));
    EXPECT_THAT(verdict(as("ann", "POST", rbac("roles", "default") + "?dryRun=All", more)),
                StartsWith("roles.rbac.authorization.k8s.io"));
    EXPECT_EQ(get(rbac("roles", "default") + "/new").status, 404);
    EXPECT_EQ(parsed(get(rbac("roles", "default") + "/more")).at("rules").as_array().size(), 1);
    // A change that gives nothing more needs nothing.
    EXPECT_EQ(verdict(as("ann", "PATCH", rbac("roles", "default") + "/more",
                         R"({"metadata":{"labels":{"a":"b"}}})", kMerge)),
              "allowed");
}

/// What has to be compared takes the time of all clients.
TEST_F(AccessTest, OfManyRulesOneGivesOnlySoManyAtOnce) {
    allow("ann", R"([{"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],
        "resources":["roles"]},{"verbs":["get"],"apiGroups":["*"],"resources":["*"]}])");
    const auto many = [](int count) {
        std::string rules;
        for (int i = 0; i < count; ++i)
            rules += fmt::format(R"({}{{"verbs":["get"],"apiGroups":["g"],"resources":["r{}"]}})",
                                 i == 0 ? "" : ",", i);
        return role(fmt::format("of-{}", count), "[" + rules + "]");
    };
    EXPECT_EQ(verdict(as("ann", "POST", rbac("roles", "default"), many(5000))), "allowed");
    EXPECT_THAT(verdict(as("ann", "POST", rbac("roles", "default"), many(5001))),
                HasSubstr("is attempting to grant 5001 rules; at most 5000 are compared"));
    EXPECT_EQ(post(rbac("roles", "default"), many(5001)).status, 201) << "the admin has all";
}

/// The ways in which one object is changed, as an attacker tries them one after the other.
struct Way {
    const char* method;
    const char* type;
    const char* query;
};
constexpr Way kWays[] = {
    {"PATCH", kMerge, ""},
    {"PATCH", "application/strategic-merge-patch+json", ""},
    {"PATCH", kApply, "?fieldManager=x&force=true"},
    {"PUT", "application/json", ""},
};

TEST_F(AccessTest, ALabelGivesNobodyTheRulesOfARoleThatTheyDoNotHave) {
    // Whoever sees to the labels of roles, and has `view`.
    allow("ann", R"([{"verbs":["get","create","update","patch"],
        "apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"]}])");
    post(rbac("clusterrolebindings"), binding("v", "ClusterRole", "view", "ann"));
    settle();
    const std::string admin = rbac("clusterroles") + "/cluster-admin";
    json::object labelled = parsed(get(admin)).as_object();
    json::object& metadata = labelled["metadata"].as_object();
    metadata["labels"].as_object()["rbac.authorization.k8s.io/aggregate-to-view"] = "true";
    metadata.erase("managedFields");
    metadata.erase("resourceVersion");
    for (const Way& way : kWays) {
        EXPECT_THAT(
            verdict(as("ann", way.method, admin + way.query, json::serialize(labelled), way.type)),
            HasSubstr("not currently held"))
            << way.method << " " << way.type;
    }
    EXPECT_THAT(verdict(as("ann", "PATCH", admin,
                           R"([{"op":"add","path":"/metadata/labels/)"
                           R"(rbac.authorization.k8s.io~1aggregate-to-view","value":"true"}])",
                           "application/json-patch+json")),
                HasSubstr("not currently held"));
    settle();
    EXPECT_THAT(verdict(as("ann", "GET", "/api/v1/namespaces/default/secrets")),
                HasSubstr("cannot list"));
    // Of a role whose rules they have, they see to the labels.
    post(rbac("clusterroles"),
         role("mine", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"));
    EXPECT_EQ(verdict(as("ann", "PATCH", rbac("clusterroles") + "/mine",
                         R"({"metadata":{"labels":{"a":"b"}}})", kMerge)),
              "allowed");
}

TEST_F(AccessTest, WhatGathersRolesIsChangedByThoseWhoHaveEverything) {
    allow("ann", R"([{"verbs":["get","create","update","patch"],
        "apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"]}])");
    post(rbac("clusterrolebindings"), binding("v", "ClusterRole", "view", "ann"));
    settle();
    const std::string view = rbac("clusterroles") + "/view";
    for (const char* change :
         {R"({"aggregationRule":null})", R"({"metadata":{"labels":{"a":"b"}}})",
          R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})"})
        EXPECT_EQ(verdict(as("ann", "PATCH", view, change, kMerge)),
                  "clusterroles.rbac.authorization.k8s.io \"view\" is forbidden: must have "
                  "cluster-admin privileges to use the aggregationRule")
            << change;
    // Clients of the garbage collector may let go of it all the same.
    EXPECT_EQ(verdict(as("ann", "PATCH", view, R"({"metadata":{"finalizers":["a.b/c"]}})", kMerge)),
              "allowed");
}

TEST_F(AccessTest, WhoSetsAnOwnerMayRemoveWhatItOwns) {
    allow("ann", R"([{"verbs":["get","create","update","patch"],"apiGroups":[""],
        "resources":["configmaps"]}])");
    post(kMaps, config_map("theirs"));
    constexpr const char* kOwner =
        R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone",
            "uid":"00000000-0000-0000-0000-000000000001"}]}})";
    EXPECT_THAT(verdict(as("ann", "PATCH", kMaps + "/theirs", kOwner, kMerge)),
                HasSubstr("cannot set an ownerRef on a resource you can't delete"));
    settle();
    EXPECT_EQ(get(kMaps + "/theirs").status, 200);
    allow("bob", R"([{"verbs":["update","patch","delete"],"apiGroups":[""],
        "resources":["configmaps"]}])");
    EXPECT_EQ(verdict(as("bob", "PATCH", kMaps + "/theirs", kOwner, kMerge)), "allowed");
}

TEST_F(AccessTest, WhoBlocksTheDeletionOfAnOwnerMayChangeThatOwner) {
    allow("ann", R"([{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]}])");
    allow("bob", R"([{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]},
        {"verbs":["update"],"apiGroups":[""],"resources":["secrets/finalizers"]}])");
    allow("cleo", R"([{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]},
        {"verbs":["update"],"apiGroups":[""],"resources":["secrets"]}])");
    const auto owned = [](std::string_view name, std::string_view blocking) {
        return fmt::format(R"({{"metadata":{{"name":"{}","ownerReferences":[{{"apiVersion":"v1",)"
                           R"("kind":"Secret","name":"s","uid":"1"{}}}]}}}})",
                           name, blocking);
    };
    constexpr const char* kBlocking = R"(,"blockOwnerDeletion":true)";
    EXPECT_THAT(verdict(as("ann", "POST", kMaps, owned("a", kBlocking))),
                HasSubstr("cannot set blockOwnerDeletion if an ownerReference refers to a "
                          "resource you can't set finalizers on"));
    EXPECT_EQ(verdict(as("ann", "POST", kMaps, owned("b", ""))), "allowed");
    EXPECT_EQ(verdict(as("bob", "POST", kMaps, owned("c", kBlocking))), "allowed");
    EXPECT_EQ(verdict(as("cleo", "POST", kMaps, owned("d", kBlocking))), "allowed");
}

TEST_F(AccessTest, WhatIsNamedInAPodIsNoWayAroundRights) {
    allow("ann", R"([{"verbs":["create","update","patch"],"apiGroups":[""],
        "resources":["pods","pods/status","serviceaccounts"]}])");
    const std::string pod = kPods + "/p";
    post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    // Only who may bind pods gives them a node.
    EXPECT_THAT(verdict(as("ann", "POST", pod + "/binding",
                           R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})")),
                HasSubstr("cannot create resource \"pods/binding\""));
    for (const char* path : {"", "/status"})
        as("ann", "PATCH", pod + path,
           R"({"spec":{"nodeName":"n","serviceAccountName":"other"},
               "metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone",
               "uid":"00000000-0000-0000-0000-000000000001"}]}})",
           kMerge);
    settle();
    const json::value stored = parsed(get(pod));
    EXPECT_EQ(stored.at("spec").as_object().if_contains("nodeName"), nullptr);
    EXPECT_FALSE(stored.at("metadata").as_object().contains("ownerReferences"));
    // An account's token is a resource of its own.
    EXPECT_THAT(verdict(as("ann", "POST",
                           "/api/v1/namespaces/default/serviceaccounts/default/token", "{}")),
                HasSubstr("cannot create resource \"serviceaccounts/token\""));
    EXPECT_THAT(verdict(as("ann", "DELETE", kPods)), HasSubstr("cannot deletecollection"));
}

TEST_F(AccessTest, NobodyBindsARoleThatIsMoreThanTheyHave) {
    allow("ann", R"([{"verbs":["create","update","patch"],
        "apiGroups":["rbac.authorization.k8s.io"],
        "resources":["rolebindings","clusterrolebindings"]}])");
    EXPECT_THAT(verdict(as("ann", "POST", rbac("clusterrolebindings"),
                           binding("b", "ClusterRole", "cluster-admin", "ann"))),
                StartsWith("clusterrolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user "
                           "\"ann\""));
    EXPECT_THAT(verdict(as("ann", "POST", rbac("rolebindings", "default"),
                           binding("b", "ClusterRole", "view", "ann"))),
                HasSubstr("not currently held"));
    EXPECT_EQ(verdict(as("ann", "POST", rbac("rolebindings", "default"),
                         binding("b", "ClusterRole", "none", "ann"))),
              "clusterrole.rbac.authorization.k8s.io \"none\" not found");
    // Who joins a binding that is there gives its role as well.
    post(rbac("rolebindings", "default"), binding("theirs", "ClusterRole", "edit", "dora"));
    EXPECT_THAT(verdict(as("ann", "PATCH", rbac("rolebindings", "default") + "/theirs",
                           R"({"subjects":[{"kind":"User","name":"ann"}]})", kMerge)),
                HasSubstr("not currently held"));
    EXPECT_EQ(verdict(as("ann", "PATCH", rbac("rolebindings", "default") + "/theirs",
                         R"({"metadata":{"finalizers":["a.b/c"]}})", kMerge)),
              "allowed");
}

TEST_F(AccessTest, EscalateAndBindAreVerbsOfTheirOwn) {
    allow("ann", R"([{"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],
        "resources":["roles","rolebindings"]},
        {"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]},
        {"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],
         "resourceNames":["view"]}])");
    EXPECT_EQ(verdict(as("ann", "POST", rbac("roles", "default"),
                         role("r", R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"))),
              "allowed");
    EXPECT_EQ(verdict(as("ann", "POST", rbac("rolebindings", "default"),
                         binding("v", "ClusterRole", "view", "bob"))),
              "allowed");
    EXPECT_THAT(verdict(as("ann", "POST", rbac("rolebindings", "default"),
                           binding("e", "ClusterRole", "edit", "bob"))),
                HasSubstr("not currently held"));
    EXPECT_EQ(verdict(as("bob", "GET", kPods)), "allowed");
    EXPECT_THAT(verdict(as("bob", "GET", "/api/v1/namespaces/default/secrets")),
                HasSubstr("cannot list"));
}

TEST_F(AccessTest, WhatAnApplyOrAPutWouldMakeNeedsTheRightToCreate) {
    allow("ann", R"([{"verbs":["patch","update"],"apiGroups":["","coordination.k8s.io"],
        "resources":["configmaps","leases"]}])");
    const std::string map =
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"v":"1"}})";
    EXPECT_EQ(verdict(as("ann", "PATCH", kMaps + "/a?fieldManager=x", map, kApply)),
              "configmaps \"a\" is forbidden: User \"ann\" cannot create resource \"configmaps\" "
              "in API group \"\" in the namespace \"default\"");
    EXPECT_THAT(verdict(as("ann", "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/a",
                           R"({"metadata":{"name":"a"},"spec":{}})")),
                HasSubstr("cannot create resource \"leases\""));
    post(kMaps, config_map("a"));
    EXPECT_EQ(verdict(as("ann", "PATCH", kMaps + "/a?fieldManager=x&force=true", map, kApply)),
              "allowed");
}

TEST_F(AccessTest, AggregatedRolesFollowTheirParts) {
    post(rbac("rolebindings", "default"), binding("b", "ClusterRole", "view", "bob"));
    settle();
    EXPECT_EQ(verdict(as("bob", "GET", kPods)), "allowed");
    EXPECT_THAT(verdict(as("bob", "GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases")),
                HasSubstr("cannot list"));
    post(rbac("clusterroles"),
         R"({"metadata":{"name":"leases","labels":{"rbac.authorization.k8s.io/aggregate-to-view":
         "true"}},"rules":[{"verbs":["list"],"apiGroups":["coordination.k8s.io"],
         "resources":["leases"]}]})");
    settle();
    const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    EXPECT_EQ(verdict(as("bob", "GET", leases)), "allowed");
    send(request("DELETE", rbac("clusterroles") + "/leases"));
    settle();
    EXPECT_THAT(verdict(as("bob", "GET", leases)), HasSubstr("cannot list"));
    // What someone writes into it does not stay.
    send(request("PATCH", rbac("clusterroles") + "/view",
                 R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})",
                 {{"Content-Type", kMerge}}));
    settle();
    EXPECT_THAT(verdict(as("bob", "GET", leases)), HasSubstr("cannot list"));
}

TEST_F(AccessTest, WhoeverHasNotEverythingMakesNoAggregatedRole) {
    allow("ann", R"([{"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],
        "resources":["clusterroles"]}])");
    EXPECT_EQ(verdict(as("ann", "POST", rbac("clusterroles"),
                         R"({"metadata":{"name":"sum"},"aggregationRule":
                         {"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})")),
              "clusterroles.rbac.authorization.k8s.io \"sum\" is forbidden: must have "
              "cluster-admin privileges to use the aggregationRule");
}

TEST_F(AccessTest, WhatARoleCantBe) {
    struct Row {
        const char* plural;
        const char* body;
        const char* message;
    };
    constexpr Row kRows[] = {
        {"clusterroles", R"({"metadata":{"name":"r"},"rules":[{}]})",
         "[rules[0].verbs: Required value: verbs must contain at least one value, "
         "rules[0].apiGroups: Required value: resource rules must supply at least one api group, "
         "rules[0].resources: Required value: resource rules must supply at least one resource]"},
        {"clusterroles",
         R"({"metadata":{"name":"r"},
             "rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["pods"]}]})",
         "rules[0].nonResourceURLs: Invalid value: [\"/a\"]: rules cannot apply to both regular "
         "resources and non-resource URLs"},
        {"clusterroles", R"({"metadata":{"name":"a/b"}})",
         "metadata.name: Invalid value: \"a/b\": may not be '.', '..' or contain '/' or '%'"},
        {"clusterroles",
         R"({"metadata":{"name":"r"},"aggregationRule":{"clusterRoleSelectors":[]}})",
         "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector "
         "required if aggregationRule is non-nil"},
        {"clusterrolebindings", R"({"metadata":{"name":"b"},"roleRef":{"kind":"R","name":"x"}})",
         "roleRef.kind: Unsupported value: \"R\": supported values: \"ClusterRole\""},
        {"clusterrolebindings",
         R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"x"},
             "subjects":[{"kind":"ServiceAccount","name":"x"}]})",
         "subjects[0].namespace: Required value"},
        {"clusterrolebindings",
         R"({"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"x"},
             "subjects":[{"kind":"Robot","name":"x"}]})",
         "subjects[0].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", "
         "\"User\", \"Group\""},
    };
    for (const Row& row : kRows) {
        const net::HttpResponse answer = post(rbac(row.plural), row.body);
        EXPECT_EQ(answer.status, 422) << row.body;
        EXPECT_THAT(verdict(answer), testing::EndsWith(row.message));
    }
    EXPECT_THAT(verdict(post(rbac("roles", "default"),
                             role("r", R"([{"verbs":["get"],"nonResourceURLs":["/a"]}])"))),
                HasSubstr("namespaced rules cannot apply to non-resource URLs"));
}

TEST_F(AccessTest, ADefinitionTakesNoBuiltInKindsPlace) {
    const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(crds, R"({"metadata":{"name":"clusterroles.rbac.authorization.k8s.io","annotations":
        {"api-approved.kubernetes.io":"unapproved"}},"spec":{"group":"rbac.authorization.k8s.io",
        "scope":"Cluster","names":{"plural":"clusterroles","kind":"Anything"},"versions":[
        {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
        "x-kubernetes-preserve-unknown-fields":true}}}]}})");
    settle();
    EXPECT_EQ(parsed(get(rbac("clusterroles") + "/view")).at("kind"), "ClusterRole");
    EXPECT_EQ(post(rbac("clusterroles"), R"({"metadata":{"name":"r"},"rules":[{}]})").status, 422);
    send(request("DELETE", crds + "/clusterroles.rbac.authorization.k8s.io"));
    settle();
    EXPECT_EQ(parsed(get(rbac("clusterroles") + "/view")).at("kind"), "ClusterRole");
}

TEST_F(AccessTest, ABindingKeepsItsRole) {
    const net::HttpResponse made =
        post(rbac("rolebindings", "default"), binding("b", "ClusterRole", "view", "bob"));
    EXPECT_EQ(parsed(made).at_pointer("/roleRef/apiGroup"), "rbac.authorization.k8s.io");
    EXPECT_EQ(parsed(made).at_pointer("/subjects/0/apiGroup"), "rbac.authorization.k8s.io");
    const net::HttpResponse changed =
        send(request("PATCH", rbac("rolebindings", "default") + "/b",
                     R"({"roleRef":{"name":"edit"}})", {{"Content-Type", kMerge}}));
    EXPECT_EQ(reason(changed), "422 Invalid");
    EXPECT_THAT(verdict(changed), testing::EndsWith("cannot change roleRef"));
}

TEST_F(AccessTest, AccountsThatAreNamedMayWatchWhatTheirRoleNames) {
    allow("ann", R"([{"verbs":["get","list","watch"],"apiGroups":[""],
        "resources":["configmaps"],"resourceNames":["a"]}])");
    EXPECT_EQ(verdict(as("ann", "GET", kMaps + "?fieldSelector=metadata.name%3Da")), "allowed");
    EXPECT_THAT(verdict(as("ann", "GET", kMaps + "?fieldSelector=metadata.name%3Db")),
                HasSubstr("configmaps \"b\" is forbidden"));
    EXPECT_THAT(verdict(as("ann", "GET", kMaps)), HasSubstr("cannot list"));
}

}  // namespace
}  // namespace muster::apiserver_http::access_test
