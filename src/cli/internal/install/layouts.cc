#include "cli/internal/install/layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <iterator>

#include "base/check.h"
#include "base/lower_case.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

const std::string_view kOrigin =
    "# Made by `muster manifests --layout`: edit src/cli/internal/install instead.\n";

namespace {

std::string file_of(const std::vector<json::value>& objects) {
    return std::string(kOrigin) + yaml_stream(objects);
}

}  // namespace

std::string yaml_stream(const std::vector<json::value>& objects) {
    std::string text;
    for (const json::value& object : objects)
        text += (text.empty() ? "" : "---\n") + manifest::to_yaml(object);
    return text;
}

Files definition_files() {
    Files files;
    for (const json::value& definition : job_definitions().objects) {
        const std::string_view name = definition.at_pointer("/metadata/name").as_string();
        files[fmt::format("crds/{}.yaml", name)] = file_of({definition});
    }
    return files;
}

// --- kustomize

namespace {

json::value kustomization_file(json::array resources) {
    return json::object{{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                        {"kind", "Kustomization"},
                        {"resources", std::move(resources)}};
}

json::array operation(std::string_view path, json::value value) {
    return {json::object{{"op", "add"}, {"path", path}, {"value", std::move(value)}}};
}

/// Removes an object of the base.
json::value removal(const json::value& object) {
    return json::object{{"$patch", "delete"},
                        {"apiVersion", object.at("apiVersion")},
                        {"kind", object.at("kind")},
                        {"metadata", {{"name", object.at_pointer("/metadata/name")}}}};
}

bool contains(const std::vector<json::value>& objects, const json::value& object) {
    return std::ranges::find(objects, object) != objects.end();
}

/// The patches of a kustomization, each in a file of its own.
class Patches {
  public:
    Patches(Files& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

    /// `target` null: the patch itself names its target.
    void add(const std::string& name, json::value target, const json::value& content) {
        files_[fmt::format("{}/{}.yaml", folder_, name)] = file_of({content});
        json::object entry{{"path", name + ".yaml"}};
        if (!target.is_null()) entry["target"] = std::move(target);
        entries_.push_back(std::move(entry));
    }
    json::array take() { return std::move(entries_); }

  private:
    Files& files_;
    std::string folder_;
    json::array entries_;
};

json::value deployment_of(const Installation& installation) {
    const Part part = workload(installation);
    const auto found = std::ranges::find_if(
        part.objects, [](const json::value& object) { return object.at("kind") == "Deployment"; });
    CHECK(found != part.objects.end(), "the operator is a Deployment");
    return *found;
}

/// From the base to the same installation for jobs of its own namespace.
void add_overlay(const Installation& everywhere, Files& files) {
    const std::string folder = "overlays/namespaced";
    Installation own = everywhere;
    own.watched = own.namespace_;
    const std::vector<json::value> wide = operator_access(everywhere).objects;
    const std::vector<json::value> narrow = operator_access(own).objects;
    Patches patches(files, folder);
    for (const json::value& object : wide)
        if (!contains(narrow, object))
            patches.add(fmt::format("no-{}", lower_case(object.at("kind").as_string())), nullptr,
                        removal(object));
    // Whatever name a user of this overlay gives the namespace.
    patches.add(
        "one-namespace", json::object{{"kind", "Deployment"}, {"name", kOperatorName}},
        operation("/spec/template/spec/containers/0/args/-", "--namespace=$(MY_POD_NAMESPACE)"));
    const json::value binding = admission_policies(own).objects.back();
    patches.add("one-namespace-policies",
                json::object{{"kind", "ValidatingAdmissionPolicyBinding"}},
                operation("/spec/matchResources", binding.at_pointer("/spec/matchResources")));
    std::vector<json::value> added;
    for (const json::value& object : narrow)
        if (!contains(wide, object)) added.push_back(object);
    files[folder + "/rbac.yaml"] = file_of(added);
    json::value file = kustomization_file({"../../base", "rbac.yaml"});
    file.get_object()["patches"] = patches.take();
    files[folder + "/kustomization.yaml"] = file_of({file});
}

/// The kustomization of a component of one file of roles.
std::string component(std::string_view roles, json::array patches) {
    json::value file = kustomization_file(json::array{json::string(roles)});
    file.get_object()["apiVersion"] = "kustomize.config.k8s.io/v1alpha1";
    file.get_object()["kind"] = "Component";
    file.get_object()["patches"] = std::move(patches);
    return file_of({file});
}

/// What runs MPIJobs, too, to be added to the base or to an overlay of one namespace.
void add_mpi_component(const Installation& plain, bool own_namespace, Files& files) {
    const std::string folder = own_namespace ? "components/mpi-namespaced" : "components/mpi";
    Installation with_mpi = plain;
    with_mpi.mpi = true;
    if (own_namespace) with_mpi.watched = plain.namespace_;
    files[folder + "/rbac-mpi.yaml"] = file_of(mpi_access(with_mpi).objects);
    // The flag by which MPIJobs are left alone goes: the first argument that they don't share.
    constexpr const char* kArguments = "/spec/template/spec/containers/0/args";
    const auto arguments = [&](const Installation& of) {
        return deployment_of(of).at_pointer(kArguments).as_array();
    };
    const json::array before = arguments(plain);
    const json::array after = arguments(with_mpi);
    const auto same = std::ranges::mismatch(before, after);
    const auto place = fmt::format("{}/{}", kArguments, std::distance(before.begin(), same.in1));
    Patches patches(files, folder);
    patches.add("all-kinds", json::object{{"kind", "Deployment"}, {"name", kOperatorName}},
                json::array{json::object{{"op", "test"}, {"path", place}, {"value", *same.in1}},
                            json::object{{"op", "remove"}, {"path", place}}});
    files[folder + "/kustomization.yaml"] = component("rbac-mpi.yaml", patches.take());
}

/// What gives agents tokens, likewise.
void add_token_component(const Installation& plain, bool own_namespace, Files& files) {
    const std::string folder =
        own_namespace ? "components/agent-tokens-namespaced" : "components/agent-tokens";
    Installation with_tokens = plain;
    with_tokens.agent_tokens = true;
    if (own_namespace) with_tokens.watched = plain.namespace_;
    files[folder + "/rbac-tokens.yaml"] = file_of(token_access(with_tokens).objects);
    Patches patches(files, folder);
    patches.add("agent-tokens", json::object{{"kind", "Deployment"}, {"name", kOperatorName}},
                operation("/spec/template/spec/containers/0/args/-", "--agent-tokens"));
    files[folder + "/kustomization.yaml"] = component("rbac-tokens.yaml", patches.take());
}

}  // namespace

Files kustomization(const Installation& installation) {
    Files files;
    json::array resources;
    for (const auto& [path, text] : definition_files()) {
        resources.push_back(json::string(path));
        files["base/" + path] = text;
    }
    const auto add = [&](const std::string& name, const std::vector<json::value>& objects) {
        resources.push_back(json::string(name + ".yaml"));
        files[fmt::format("base/{}.yaml", name)] = file_of(objects);
    };
    add("namespace", {namespace_object(installation)});
    for (const Part& part : parts_of(installation)) add(part.name, part.objects);
    files["base/kustomization.yaml"] = file_of({kustomization_file(std::move(resources))});
    add_overlay(installation, files);
    add_mpi_component(installation, false, files);
    add_mpi_component(installation, true, files);
    add_token_component(installation, false, files);
    add_token_component(installation, true, files);
    return files;
}

}  // namespace muster::cli
