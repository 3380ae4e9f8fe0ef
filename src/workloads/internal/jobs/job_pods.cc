#include "workloads/internal/jobs/job_pods.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/internal/pods/controlled.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

namespace {

constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";
/// The API adds five characters to a generated name, of 63.
constexpr std::size_t kLongestGeneratedName = 58;

void add_index_variable(json::object& pod_spec) {
    for (const char* list : {"initContainers", "containers"}) {
        json::array* containers = kube::array_at(pod_spec, list);
        if (containers == nullptr) continue;
        for (json::value& value : *containers) {
            json::object* container = value.if_object();
            if (container == nullptr) continue;
            if (kube::array_at(*container, "env") == nullptr) (*container)["env"].emplace_array();
            json::array& variables = container->at("env").get_array();
            const bool known = std::ranges::any_of(variables, [](const json::value& variable) {
                const json::object* object = variable.if_object();
                return object != nullptr && kube::string_at(*object, "name") == kIndexVariable;
            });
            if (known) continue;
            const std::string path = fmt::format("metadata.labels['{}']", kIndexKey);
            variables.push_back(
                {{"name", kIndexVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
        }
    }
}

void add_index(json::object& pod, std::string_view job, std::int64_t index) {
    const std::string number = fmt::format("{}", index);
    json::object& metadata = pod.at("metadata").get_object();
    const std::string suffix = fmt::format("-{}-", index);
    metadata["generateName"] =
        fmt::format("{}{}", job.substr(0, kLongestGeneratedName - suffix.size()), suffix);
    object_in(metadata, "annotations")[kIndexKey] = number;
    object_in(metadata, "labels")[kIndexKey] = number;
    json::object& spec = object_in(pod, "spec");
    spec["hostname"] = fmt::format("{}-{}", job, index);
    add_index_variable(spec);
}

void add_failures(json::object& pod, const IndexFailures& failures) {
    json::object& annotations = object_in(object_in(pod, "metadata"), "annotations");
    annotations[kIndexFailuresKey] = fmt::format("{}", failures.counted);
    if (failures.ignored > 0)
        annotations[kIgnoredIndexFailuresKey] = fmt::format("{}", failures.ignored);
}

}  // namespace

json::object job_pod(const json::object& job, std::optional<std::int64_t> index,
                     std::optional<IndexFailures> failures) {
    const std::string_view name = kube::name_of(job);
    json::object pod = from_template(kube::child(kube::child(job, "spec"), "template"),
                                     owner_of(kube::types::kBatchJobs, job));
    json::object& metadata = pod.at("metadata").get_object();
    metadata["generateName"] = fmt::format("{}-", name);
    if (kube::array_at(metadata, "finalizers") == nullptr) metadata["finalizers"].emplace_array();
    json::array& finalizers = metadata.at("finalizers").get_array();
    if (std::ranges::find(finalizers, json::value(kTrackingFinalizer)) == finalizers.end())
        finalizers.emplace_back(kTrackingFinalizer);
    if (index) add_index(pod, name, *index);
    if (failures) add_failures(pod, *failures);
    return pod;
}

}  // namespace muster::workloads
