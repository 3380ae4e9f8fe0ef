#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/internal/install/installation.h"
#include "jobs/kind.h"

namespace muster::cli {

namespace {

json::object head(std::string_view kind, std::string_view name) {
    return {{"apiVersion", "admissionregistration.k8s.io/v1"},
            {"kind", kind},
            {"metadata", {{"name", name}, {"labels", common_labels()}}}};
}

json::array validations(std::span<const jobs::JobKind* const> versions) {
    json::array all;
    for (const jobs::AdmissionRule& rule : jobs::admission_rules(versions)) {
        json::object validation{{"expression", rule.expression}, {"message", rule.message}};
        if (!rule.message_expression.empty())
            validation["messageExpression"] = rule.message_expression;
        all.push_back(std::move(validation));
    }
    return all;
}

/// A rule that can't be evaluated lets a job pass (failurePolicy), as the operator checks all jobs
/// again. Existing jobs are checked when their spec changes, but not for a change of a label.
json::value policy(std::string_view name, std::span<const jobs::JobKind* const> versions) {
    const jobs::JobKind& kind = *versions.front();
    json::array served;
    for (const jobs::JobKind* version : versions)
        served.push_back(json::string(version->resource.version));
    json::array variables;
    for (const auto& [variable, expression] : jobs::admission_variables(kind))
        variables.push_back(json::object{{"name", variable}, {"expression", expression}});
    json::object object = head("ValidatingAdmissionPolicy", name);
    object["spec"] = {
        {"failurePolicy", "Ignore"},
        {"matchConstraints",
         {{"matchPolicy", "Equivalent"},
          {"resourceRules",
           json::array{json::object{{"apiGroups", json::array{kind.resource.group}},
                                    {"apiVersions", std::move(served)},
                                    {"operations", json::array{"CREATE", "UPDATE"}},
                                    {"resources", json::array{kind.resource.plural}},
                                    // As the server fills it in, so that applying it again changes
                                    // nothing.
                                    {"scope", "*"}}}}}},
        {"matchConditions",
         json::array{
             json::object{{"name", "spec-changes"},
                          {"expression", "oldObject == null || object.?spec != oldObject.?spec"}}}},
        {"variables", std::move(variables)},
        {"validations", validations(versions)}};
    return object;
}

json::value binding(const Installation& installation, std::string_view policy) {
    const bool everywhere = installation.watched.empty();
    json::object object =
        head("ValidatingAdmissionPolicyBinding",
             everywhere ? std::string(policy) : fmt::format("{}-{}", policy, installation.watched));
    json::object spec{{"policyName", policy}, {"validationActions", json::array{"Deny"}}};
    if (!everywhere)
        spec["matchResources"] = {
            {"namespaceSelector",
             {{"matchLabels", {{"kubernetes.io/metadata.name", installation.watched}}}}}};
    object["spec"] = std::move(spec);
    return object;
}

}  // namespace

Part admission_policies(const Installation& installation) {
    Part part{.name = "admission-policies", .objects = {}};
    for (const auto& versions : jobs::kinds_by_resource(jobs::all_kinds())) {
        const std::string name = fmt::format("muster-{}", versions.front()->resource.plural);
        part.objects.push_back(policy(name, versions));
        part.objects.push_back(binding(installation, name));
    }
    return part;
}

}  // namespace muster::cli
