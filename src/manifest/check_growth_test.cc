#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "manifest/check.h"

// Manifests are read and checked in proportion to their size, whatever in them is long.

namespace muster::manifest::check_growth_test {
namespace {

std::string documents(std::size_t size) {
    return repeated(size, [](std::size_t i) {
        return fmt::format(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{}}}\ndata: {{a: b}}\n---\n", i);
    });
}
std::string same_documents(std::size_t size) {
    return repeated(size, [](std::size_t) {
        return std::string("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n---\n");
    });
}
std::string unknown_kinds(std::size_t size) {
    return repeated(size, [](std::size_t i) {
        return fmt::format("apiVersion: a.io/v1\nkind: K{}\nmetadata: {{name: m}}\n---\n", i);
    });
}
std::string a_list(std::size_t size) {
    return "apiVersion: v1\nkind: List\nitems:\n" + repeated(size, [](std::size_t i) {
               return fmt::format(
                   "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: m{}}}\n", i);
           });
}
std::string a_block(std::size_t size) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: |\n" +
           repeated(size, [](std::size_t) { return std::string("    a line of a script\n"); });
}
std::string aliases(std::size_t size) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: &a b\n" +
           repeated(size, [](std::size_t i) { return fmt::format("  k{}: *a\n", i); });
}
std::string broken(std::size_t size) {
    return repeated(size, [](std::size_t) { return std::string("a: [b\n---\n"); });
}

std::string job(const std::string& container, const std::string& spec = "") {
    return "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\nspec:\n"
           "  pytorchReplicaSpecs:\n    Worker:\n      replicas: 2\n      template:\n        "
           "spec:\n" +
           spec + "          containers:\n          - name: pytorch\n            image: a\n" +
           container;
}
std::string environment(std::size_t size) {
    return job("            env:\n" + repeated(size, [](std::size_t i) {
                   return fmt::format("            - {{name: V{}, value: \"$(V0)\"}}\n", i);
               }));
}
std::string arguments(std::size_t size) {
    return job("            args:\n" + repeated(size, [](std::size_t i) {
                   return fmt::format("            - --flag{}=$(V)\n", i);
               }));
}
std::string a_script(std::size_t size) {
    return job("            command: [bash, -c, \"" +
               repeated(size,
                        [](std::size_t i) {
                            return fmt::format("export A{}=b; torchrun x.py 'a' $A; ", i);
                        }) +
               "\"]\n");
}
std::string volumes(std::size_t size) {
    return job("            volumeMounts:\n" +
                   repeated(size,
                            [](std::size_t i) {
                                return fmt::format(
                                    "            - {{name: v{0}, mountPath: /m{0}}}\n", i);
                            }),
               "          volumes:\n" + repeated(size, [](std::size_t i) {
                   return fmt::format("          - {{name: v{}, emptyDir: {{}}}}\n", i);
               }));
}
std::string unknown_fields(std::size_t size) {
    return job(
        repeated(size, [](std::size_t i) { return fmt::format("            envs{}: 1\n", i); }));
}
std::string more_containers(std::size_t size) {
    return job(repeated(size, [](std::size_t i) {
        return fmt::format(
            "          - {{name: c{}, image: a, resources: {{limits: {{cpu: x}}}}}}\n", i);
    }));
}
std::string replica_types(std::size_t size) {
    return job("") +
           repeated(size, [](std::size_t i) { return fmt::format("    T{}: {{}}\n", i); });
}

void check(std::string_view text) {
    Manifest manifest = read_manifest(text, "m.yaml");
    std::vector<Problem> problems = std::move(manifest.problems);
    CheckResult checked = check_documents(std::move(manifest.documents), {});
    problems.insert(problems.end(), checked.problems.begin(), checked.problems.end());
    sort_problems(problems);
    for (const Problem& problem : problems) (void)format(problem);
}

class CheckGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(CheckGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(Files, CheckGrowth,
                         ::testing::Values(GrowthCase{"documents", documents, check, 100},
                                           GrowthCase{"same_documents", same_documents, check, 100},
                                           GrowthCase{"unknown_kinds", unknown_kinds, check, 100},
                                           GrowthCase{"a_list", a_list, check, 100},
                                           GrowthCase{"a_block", a_block, check, 1'000},
                                           GrowthCase{"aliases", aliases, check, 50},
                                           GrowthCase{"broken", broken, check, 50}),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Jobs, CheckGrowth,
                         ::testing::Values(GrowthCase{"environment", environment, check, 200},
                                           GrowthCase{"arguments", arguments, check, 500},
                                           GrowthCase{"a_script", a_script, check, 300},
                                           GrowthCase{"volumes", volumes, check, 150},
                                           GrowthCase{"unknown_fields", unknown_fields, check, 300},
                                           GrowthCase{"more_containers", more_containers, check,
                                                      50},
                                           GrowthCase{"replica_types", replica_types, check, 300}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::manifest::check_growth_test
