#include "cli/internal/install/installation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

#include "base/test_inputs.h"
#include "cli/internal/install/permissions.h"

namespace muster::cli::installation_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;

std::string text(const json::value& object, std::string_view pointer) {
    const json::value* found = nullptr;
    boost::system::error_code absent;
    found = object.find_pointer(pointer, absent);
    return found == nullptr ? "" : std::string(found->as_string());
}

/// "Kind namespace/name" of everything but definitions.
std::vector<std::string> names_of(const Installation& installation) {
    std::vector<std::string> names;
    for (const Part& part : parts_of(installation))
        for (const json::value& object : part.objects)
            names.push_back(text(object, "/kind") + " " + text(object, "/metadata/namespace") +
                            "/" + text(object, "/metadata/name"));
    return names;
}

json::value object_of(const Installation& installation, std::string_view kind) {
    for (const Part& part : parts_of(installation))
        for (const json::value& object : part.objects)
            if (text(object, "/kind") == kind) return object;
    ADD_FAILURE() << "there is no " << kind;
    return {};
}

TEST(Installation, OfAWholeClusterHasClusterRoles) {
    const std::vector<std::string> names = names_of({.image = "a/b:1"});
    EXPECT_THAT(names, Contains("ClusterRole /muster-operator"));
    EXPECT_THAT(names, Not(Contains("Role kubeflow/muster-operator")));
    EXPECT_THAT(names, Contains("Role kubeflow/muster-operator-leader"));
    EXPECT_THAT(names, Contains("ValidatingAdmissionPolicyBinding /muster-pytorchjobs"));
    EXPECT_THAT(names, Contains("Deployment kubeflow/muster-operator"));
}

TEST(Installation, OfOneNamespaceHasItsRolesThere) {
    const Installation team{.namespace_ = "ops", .watched = "team", .image = "a/b:1"};
    const std::vector<std::string> names = names_of(team);
    EXPECT_THAT(names, Contains("Role team/muster-operator"));
    EXPECT_THAT(names, Contains("RoleBinding team/muster-operator"));
    EXPECT_THAT(names, Contains("Role ops/muster-operator-leader"));
    // Another installation has its own beside it.
    EXPECT_THAT(names, Contains("ClusterRole /muster-operator-team"));
    EXPECT_THAT(names, Contains("ValidatingAdmissionPolicyBinding /muster-pytorchjobs-team"));
    EXPECT_THAT(names, Not(Contains("ClusterRole /muster-operator")));
    const json::value deployment = object_of(team, "Deployment");
    EXPECT_EQ(deployment.at_pointer("/spec/template/spec/containers/0/args"),
              json::parse(R"(["operator","--leader-elect","--log-format=json",
                  "--enable-scheme=ElasticJob,JAXJob,MXJob,PaddleJob,PyTorchJob,TFJob,XGBoostJob",
                  "--namespace=team"])"));
    EXPECT_EQ(object_of(team, "ValidatingAdmissionPolicyBinding")
                  .at_pointer("/spec/matchResources/namespaceSelector/matchLabels"),
              json::parse(R"({"kubernetes.io/metadata.name":"team"})"));
}

TEST(Installation, WithoutPoliciesHasNone) {
    for (const std::string& name : names_of({.image = "a", .admission_policies = false}))
        EXPECT_FALSE(name.starts_with("ValidatingAdmission")) << name;
}

TEST(Installation, PartsSelectTheOperatorsPods) {
    const Installation plain{.image = "a/b:1"};
    const json::value labels =
        object_of(plain, "Deployment").at_pointer("/spec/template/metadata/labels");
    EXPECT_EQ(object_of(plain, "Deployment").at_pointer("/spec/selector/matchLabels"), labels);
    EXPECT_EQ(object_of(plain, "PodDisruptionBudget").at_pointer("/spec/selector/matchLabels"),
              labels);
    EXPECT_EQ(object_of(plain, "Service").at_pointer("/spec/selector"), labels);
}

// So that a leak does not take the memory of its node.
TEST(Installation, TheOperatorsMemoryHasALimit) {
    const json::value limits = object_of({.image = "a"}, "Deployment")
                                   .at_pointer("/spec/template/spec/containers/0/resources/limits");
    EXPECT_EQ(limits, (json::value{{"memory", "1Gi"}}));
}

TEST(Installation, DefinitionsFitAClientSideApply) {
    constexpr std::size_t kLimit = 200'000;  // of 262,144 for all annotations of an object
    const Part definitions = job_definitions();
    EXPECT_EQ(definitions.objects.size(), 9);  // with ScalePlan
    for (const json::value& definition : definitions.objects)
        EXPECT_LT(json::serialize(definition).size(), kLimit) << text(definition, "/metadata/name");
}

// --- permissions

TEST(Permissions, CoverEachKindAndWhatItAttaches) {
    const std::vector<Permission> all = operator_permissions(jobs::all_kinds());
    const auto may = [&](std::string_view group, const std::string& resource,
                         const std::string& verb) {
        return std::ranges::any_of(all, [&](const Permission& each) {
            return each.reach == Reach::kJobs && each.group == group &&
                   std::ranges::find(each.resources, resource) != each.resources.end() &&
                   std::ranges::find(each.verbs, verb) != each.verbs.end();
        });
    };
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        const std::string& plural = kind->resource.plural;
        for (const char* verb : {"get", "list", "watch", "delete"})
            EXPECT_TRUE(may(kind->resource.group, plural, verb)) << plural << " " << verb;
        EXPECT_FALSE(may(kind->resource.group, plural, "update")) << plural;
        EXPECT_TRUE(may(kind->resource.group, plural + "/status", "update")) << plural;
        EXPECT_TRUE(may(kind->resource.group, plural + "/finalizers", "update")) << plural;
        for (const auto& types : {kind->owned_types, kind->master_types})
            for (const kube::ResourceType& type : types)
                for (const char* verb : {"get", "list", "watch", "create"})
                    EXPECT_TRUE(may(type.group, type.plural, verb)) << type.plural << " " << verb;
    }
}

TEST(Permissions, AreNoWildcardsAndSayWhatTheyAreFor) {
    for (const Permission& each : operator_permissions(jobs::all_kinds())) {
        SCOPED_TRACE(each.resources.front());
        EXPECT_FALSE(each.why.empty());
        EXPECT_THAT(each.verbs,
                    IsSubsetOf({"get", "list", "watch", "create", "update", "patch", "delete"}));
        EXPECT_THAT(each.resources, Not(Contains("*")));
        if (each.reach == Reach::kCluster)
            EXPECT_THAT(each.verbs, IsSubsetOf({"get", "list", "watch"}));
    }
}

TEST(Permissions, AreInTheDocuments) {
    std::ifstream in(source_path("docs/cluster.md"));
    const std::string document((std::istreambuf_iterator<char>(in)), {});
    for (const Permission& each : operator_permissions(jobs::all_kinds())) {
        const std::string row =
            fmt::format("| {}{} | {} | {} |", fmt::join(each.resources, ", "),
                        each.group.empty() ? "" : fmt::format(" ({})", each.group),
                        fmt::join(each.verbs, ", "), each.why);
        EXPECT_NE(document.find(row), std::string::npos) << "docs/cluster.md lacks: " << row;
    }
}

TEST(Permissions, OfANamespaceAndOfTheClusterAreAllThatAWholeClusterHas) {
    const std::vector<Permission> all = operator_permissions(jobs::all_kinds());
    const json::value wide = object_of({.image = "a"}, "ClusterRole").at("rules");
    EXPECT_EQ(wide.as_array().size(),
              role_rules(all, Reach::kJobs).size() + role_rules(all, Reach::kCluster).size());
    EXPECT_EQ(role_rules(all, Reach::kOwnNamespace).size(), 2);
}

/// Resources of all roles of the operator.
std::vector<std::string> granted(const Installation& installation) {
    std::vector<std::string> resources;
    for (const Part& part : parts_of(installation)) {
        if (!part.name.starts_with("rbac")) continue;
        for (const json::value& object : part.objects) {
            const json::value* rules = object.as_object().if_contains("rules");
            if (rules == nullptr) continue;
            for (const json::value& rule : rules->as_array())
                for (const json::value& resource : rule.at("resources").as_array())
                    resources.emplace_back(resource.as_string());
        }
    }
    return resources;
}

TEST(Permissions, WithoutMPIJobsNoSecretIsReadAndNoCommandRun) {
    for (const char* watched : {"", "team"}) {
        const std::vector<std::string> least = granted({.watched = watched, .image = "a"});
        const std::vector<std::string> all =
            granted({.watched = watched, .image = "a", .mpi = true});
        for (const char* resource : {"secrets", "pods/exec"}) {
            EXPECT_THAT(least, Not(Contains(resource)));
            EXPECT_THAT(all, Contains(resource));
        }
        EXPECT_THAT(least, Contains("pods"));
    }
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        if (kind->resource.kind == "MPIJob") continue;
        for (const auto& types : {kind->owned_types, kind->master_types})
            for (const kube::ResourceType& type : types)
                EXPECT_THAT(granted({.image = "a"}), Contains(type.plural)) << kind->resource.kind;
    }
}

/// The rules of the roles of one part.
json::array rules_of(const Part& part) {
    json::array rules;
    for (const json::value& object : part.objects)
        if (const json::value* found = object.as_object().if_contains("rules"))
            rules.insert(rules.end(), found->as_array().begin(), found->as_array().end());
    return rules;
}

TEST(Permissions, TokensOfAgentsNeedSecretsAndNothingElse) {
    for (const char* watched : {"", "team"}) {
        const Installation chosen{.watched = watched, .image = "a", .agent_tokens = true};
        EXPECT_EQ(rules_of(token_access(chosen)),
                  json::parse(R"([{"apiGroups":[""],"resources":["secrets"],
                                   "verbs":["get","list","watch","create"]}])")
                      .as_array());
        std::vector<std::string> more = granted(chosen);
        ASSERT_EQ(std::erase(more, "secrets"), 1u);
        EXPECT_EQ(more, granted({.watched = watched, .image = "a"}));
    }
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        const std::vector<std::string> may = granted({.image = "a", .agent_tokens = true});
        for (const kube::ResourceType& type : kind->token_types)
            EXPECT_THAT(may, Contains(type.plural)) << kind->resource.kind;
    }
}

TEST(Installation, HandsOutTokensIfThatIsChosen) {
    constexpr const char* kArguments = "/spec/template/spec/containers/0/args";
    for (const bool chosen : {false, true}) {
        const json::value deployment =
            object_of({.image = "a", .agent_tokens = chosen}, "Deployment");
        const json::array& arguments = deployment.at_pointer(kArguments).as_array();
        EXPECT_EQ(std::ranges::count(arguments, json::value("--agent-tokens")), chosen ? 1 : 0);
    }
}

TEST(Installation, RunsMPIJobsIfThatIsChosen) {
    const json::value plain = object_of({.image = "a"}, "Deployment");
    const json::value chosen = object_of({.image = "a", .mpi = true}, "Deployment");
    constexpr const char* kArguments = "/spec/template/spec/containers/0/args";
    EXPECT_THAT(json::serialize(plain.at_pointer(kArguments)),
                testing::HasSubstr("--enable-scheme=ElasticJob,"));
    EXPECT_THAT(json::serialize(plain.at_pointer(kArguments)), Not(testing::HasSubstr("MPIJob")));
    EXPECT_THAT(json::serialize(chosen.at_pointer(kArguments)),
                Not(testing::HasSubstr("--enable-scheme")));
}

TEST(Installation, ConnectionsToTheOperatorAreScrapesAndProbes) {
    const json::value policy = object_of({.image = "a"}, "NetworkPolicy");
    EXPECT_EQ(policy.at_pointer("/spec/podSelector/matchLabels"), json::value(pod_labels()));
    EXPECT_EQ(policy.at_pointer("/spec/policyTypes"), json::parse(R"(["Ingress"])"));
    EXPECT_EQ(policy.at_pointer("/spec/ingress"),
              json::parse(R"([{"ports":[{"port":8080,"protocol":"TCP"},
                                        {"port":8081,"protocol":"TCP"}]}])"));
}

}  // namespace
}  // namespace muster::cli::installation_test
