#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <map>
#include <utility>

#include "base/check.h"
#include "cli/internal/install/chart_text.h"
#include "cli/internal/install/layouts.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

constexpr std::string_view kWatched = ".Values.watchNamespace";
constexpr std::string_view kMpi = ".Values.mpi";
constexpr std::string_view kAgentTokens = ".Values.agentTokens";
constexpr std::string_view kHasPolicies =
    "and .Values.admissionPolicies (.Capabilities.APIVersions.Has "
    "\"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy\")";

/// What users of the chart may set; the comment precedes it in values.yaml.
struct Value {
    std::string name;
    json::value standard;
    std::string_view comment;
};

json::object& object_at(json::value& value, std::string_view pointer) {
    return value.at_pointer(pointer).as_object();
}

/// Adds to the Deployment the values that only a chart has; returns the values that they replaced.
std::vector<Value> add_values(json::value& deployment) {
    json::object& pod = object_at(deployment, "/spec/template/spec");
    json::object& container = pod["containers"].as_array().front().as_object();
    const json::value resources = container["resources"];
    container["resources"] = chart_value(".Values.resources");
    container["imagePullPolicy"] = chart_value(".Values.imagePullPolicy");
    container["args"].as_array().push_back(json::string(chart_items(".Values.extraArgs")));
    pod["imagePullSecrets"] = chart_value(".Values.imagePullSecrets");
    pod["nodeSelector"] = chart_value(".Values.nodeSelector");
    pod["tolerations"] = chart_value(".Values.tolerations");
    return {{"imagePullPolicy", "IfNotPresent", "When a node fetches the image."},
            {"imagePullSecrets", json::array(), "Secrets for pulling it, as in - name: NAME."},
            {"extraArgs", json::array(), "More flags of muster operator, one a line."},
            {"resources", resources, "Resources of the operator's container."},
            {"nodeSelector", json::object(), "Nodes that may run it."},
            {"tolerations", json::array(), "Taints that it tolerates."}};
}

json::value& deployment_in(std::vector<json::value>& objects) {
    const auto found = std::ranges::find_if(
        objects, [](const json::value& object) { return object.at("kind") == "Deployment"; });
    CHECK(found != objects.end(), "the operator is a Deployment");
    return *found;
}

std::string values_file(const Installation& installation, const std::vector<Value>& more) {
    std::vector<Value> values = {
        {"image", installation.image, "The operator's image, with its tag or digest."},
        {"replicas", installation.replicas, "One of them leads; the others wait to take over."},
        {"watchNamespace", "",
         "The only namespace whose jobs are run, with roles only there; empty: all namespaces."},
        {"mpi", installation.mpi,
         "Run MPIJobs, too. For them the operator may read and write all Secrets, and run commands "
         "in pods, wherever it runs jobs."},
        {"agentTokens", installation.agent_tokens,
         "Give the agents of elastic PyTorchJobs (muster-run) a token of their job. For that the "
         "operator may read and make all Secrets wherever it runs jobs."},
        {"networkPolicy", true,
         "Let only scrapes and probes connect to the operator, where the cluster's network knows "
         "policies."},
        {"admissionPolicies", installation.admission_policies,
         "Reject invalid jobs when they are created (Kubernetes 1.30 or later)."},
        {"userRoles", true,
         "Let users who may view or edit the pods of a namespace view or edit its jobs. A cluster "
         "needs these roles only once."}};
    values.insert(values.end(), more.begin(), more.end());
    std::string text(kOrigin);
    for (const Value& value : values)
        text += fmt::format("\n# {}\n{}", value.comment,
                            manifest::to_yaml(json::object{{value.name, value.standard}}));
    return text;
}

std::string chart_file(std::string_view version) {
    return manifest::to_yaml(
        json::object{{"apiVersion", "v2"},
                     {"name", "muster"},
                     {"description",
                      "An operator for distributed training jobs: PyTorchJob, TFJob, "
                      "MPIJob and the others of kubeflow.org"},
                     {"type", "application"},
                     {"version", version},
                     {"appVersion", version},
                     {"kubeVersion", ">=1.23.0-0"}});
}

/// Everything that is installed, with marks for its values.
std::map<std::string, std::string> marked_parts(Installation chosen, std::vector<Value>& values) {
    chosen.namespace_ = chart_value(".Release.Namespace");
    chosen.image = json::string(chart_value(".Values.image"));
    chosen.replicas = json::string(chart_value(".Values.replicas"));
    std::vector<Part> parts = parts_of(chosen);
    std::map<std::string, std::string> texts;
    for (Part& part : parts) {
        if (part.name == "operator") values = add_values(deployment_in(part.objects));
        texts[part.name] = with_expressions(yaml_stream(part.objects));
    }
    return texts;
}

/// The texts of both installations as one; a part that only the first one has is as it is there.
std::map<std::string, std::string> merged(std::string_view condition,
                                          std::map<std::string, std::string> then,
                                          const std::map<std::string, std::string>& otherwise) {
    for (auto& [name, text] : then)
        if (const auto other = otherwise.find(name); other != otherwise.end())
            text = either(condition, text, other->second);
    return then;
}

}  // namespace

Files helm_chart(const Installation& installation, std::string_view version) {
    Files files = definition_files();
    std::vector<Value> values;
    const auto with_or_without_mpi = [&](Installation chosen) {
        Installation with_mpi = chosen;
        with_mpi.mpi = true;
        return merged(kMpi, marked_parts(std::move(with_mpi), values),
                      marked_parts(std::move(chosen), values));
    };
    const auto of = [&](const std::string& watched) {
        return merged(kAgentTokens, with_or_without_mpi({.watched = watched, .agent_tokens = true}),
                      with_or_without_mpi({.watched = watched}));
    };
    auto texts = merged(kWatched, of(chart_value(kWatched)), of(""));
    for (auto& [name, text] : texts) {
        if (name == "admission-policies") text = only_if(kHasPolicies, text);
        if (name == "user-roles") text = only_if(".Values.userRoles", text);
        if (name == "network-policy") text = only_if(".Values.networkPolicy", text);
        if (name == "rbac-mpi") text = only_if(kMpi, text);
        if (name == "rbac-tokens") text = only_if(kAgentTokens, text);
        files[fmt::format("templates/{}.yaml", name)] = std::string(kOrigin) + text;
    }
    files["Chart.yaml"] = std::string(kOrigin) + chart_file(version);
    files["values.yaml"] = values_file(installation, values);
    return files;
}

}  // namespace muster::cli
