#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "jobs/internal/converter.h"
#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

// MPIJob v1alpha1 (mpi-operator v0.3, pkg/controllers/v1alpha1): one template for launcher and
// workers, and a number of GPUs or CPUs from which the number of workers follows.

namespace muster::jobs {
namespace {

using kube::array_at;
using kube::object_at;

constexpr std::string_view kTemplate = "template";
constexpr std::string_view kReplicaSpecs = "mpiReplicaSpecs";
constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::int64_t kBackoffLimit = 6;  ///< of the batch Job that was the launcher
const std::string kLauncher = "spec.mpiReplicaSpecs.Launcher";
const std::string kWorker = "spec.mpiReplicaSpecs.Worker";
const std::string kFirstContainer = ".template.spec.containers[0]";

/// The three ways to say how large a job is.
struct Size {
    std::string_view field;
    std::string_view per_node;  ///< empty: `field` counts workers
};
constexpr std::array<Size, 3> kSizes = {{
    {"gpus", "gpusPerNode"},
    {"processingUnits", "processingUnitsPerNode"},
    {"replicas", ""},
}};
/// The fields that the conversion reads and v1 does not have.
constexpr std::array<std::string_view, 10> kConsumed = {
    "gpus",         "gpusPerNode",          "processingUnits",        "processingUnitsPerNode",
    "replicas",     "launcherOnMaster",     "processingResourceType", "template",
    "backoffLimit", "activeDeadlineSeconds"};

std::optional<std::int64_t> whole_number(const json::value* value) {
    if (value == nullptr) return std::nullopt;
    if (const auto* number = value->if_int64()) return *number;
    const json::string* text = value->if_string();
    if (text == nullptr || text->empty() || text->size() > 9 ||
        !std::ranges::all_of(*text, [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    return std::stoll(std::string(*text));
}

/// The containers of a template; null if it has no list of them.
json::array* containers_of(json::object& template_) {
    json::object* spec = object_at(template_, "spec");
    return spec == nullptr ? nullptr : array_at(*spec, "containers");
}

json::object* first_container(json::object& template_) {
    json::array* list = containers_of(template_);
    return list == nullptr || list->empty() ? nullptr : list->front().if_object();
}

/// How the job is divided into workers.
struct Cut {
    const Size* size = nullptr;
    std::int64_t workers = 0;
    std::optional<std::int64_t> units;  ///< of each worker
    std::string resource;
};

std::string resource_type(const json::object& spec, const Size& size) {
    const std::string_view written = kube::string_at(spec, "processingResourceType");
    if (size.field == "gpus" || written.empty() || written == "gpu") return std::string(kGpu);
    return std::string(written);
}

bool is_number_of_workers(std::optional<std::int64_t> number) {
    return number && *number >= 1 && *number <= kMaxReplicas;
}

/// nullopt after a problem was noted.
std::optional<Cut> cut_of(const json::object& spec, ConversionNotes& notes) {
    Cut cut;
    for (const Size& size : kSizes) {
        if (!spec.contains(size.field)) continue;
        if (cut.size != nullptr) {
            notes.refused(forbidden(in_spec(size.field),
                                    fmt::format("spec.{} is set too, and both say how many workers "
                                                "there are; keep only one of them",
                                                cut.size->field)));
            return std::nullopt;
        }
        cut.size = &size;
    }
    if (cut.size == nullptr) {
        notes.refused(required("spec",
                               "write how large the job is: one of gpus, processingUnits and "
                               "replicas"));
        return std::nullopt;
    }
    const std::string field = in_spec(cut.size->field);
    const auto total = whole_number(&spec.at(cut.size->field));
    if (!is_number_of_workers(total)) {
        notes.refused(invalid(field, fmt::format("must be a number from 1 to {}", kMaxReplicas)));
        return std::nullopt;
    }
    cut.resource = resource_type(spec, *cut.size);
    if (cut.size->per_node.empty()) {
        cut.workers = *total;
        return cut;
    }
    const json::value* written = spec.if_contains(cut.size->per_node);
    const auto per_node = written == nullptr ? 1 : whole_number(written);
    if (!per_node || *per_node < 1) {
        notes.refused(invalid(in_spec(cut.size->per_node), "must be a number from 1 on"));
        return std::nullopt;
    }
    cut.units = std::min(*total, *per_node);
    cut.workers = *total / *cut.units;
    if (*total % *cut.units != 0) {
        notes.refused(invalid(field, fmt::format("{} can't be divided among workers of {} each "
                                                 "(spec.{})",
                                                 *total, *per_node, cut.size->per_node)));
        return std::nullopt;
    }
    notes.changed(field, fmt::format("is {} worker{} of {} {} each{}", cut.workers,
                                     cut.workers == 1 ? "" : "s", *cut.units, cut.resource,
                                     written == nullptr ? fmt::format("; write spec.{} to have "
                                                                      "fewer and larger ones",
                                                                      cut.size->per_node)
                                                        : ""));
    return cut;
}

/// The operator of that time did not run a command of the template in the workers; the default is
/// the same as today's.
json::object worker_template(json::object made, Cut& cut, ConversionNotes& notes) {
    json::object* first = first_container(made);
    if (first == nullptr) return made;
    first->stable_erase("command");
    first->stable_erase("args");
    if (!cut.units) {
        const json::object* resources = object_at(*first, "resources");
        const json::object* limits =
            resources == nullptr ? nullptr : object_at(*resources, "limits");
        if (limits != nullptr) cut.units = whole_number(limits->if_contains(cut.resource));
        return made;
    }
    json::value& resources = (*first)["resources"];
    if (!resources.is_object()) resources = json::object();
    json::value& limits = resources.get_object()["limits"];
    if (!limits.is_object()) limits = json::object();
    limits.get_object()[cut.resource] = *cut.units;
    notes.moved(in_spec(cut.size->field),
                kWorker + kFirstContainer + ".resources.limits[" + cut.resource + "]");
    return made;
}

/// The launcher only launches: it gets no resources.
json::object launcher_template(json::object made) {
    if (json::array* containers = containers_of(made))
        for (json::value& container : *containers)
            if (json::object* fields = container.if_object()) fields->stable_erase("resources");
    return made;
}

void put_on_master(json::object& template_) {
    static constexpr const char* kLabel = "node-role.kubernetes.io/master";
    json::object* pod = object_at(template_, "spec");
    if (pod == nullptr) return;
    json::value& tolerations = (*pod)["tolerations"];
    if (!tolerations.is_array()) tolerations = json::array();
    tolerations.get_array().push_back({{"key", kLabel}, {"effect", "NoSchedule"}});
    (*pod)["affinity"] = {
        {"nodeAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution",
           {{"nodeSelectorTerms",
             json::array{json::object{
                 {"matchExpressions",
                  json::array{json::object{{"key", kLabel}, {"operator", "Exists"}}}}}}}}}}}};
}

/// The policy that the template named, removed from it: it is the replica's now.
std::string take_restart_policy(json::object& template_) {
    json::object* pod = object_at(template_, "spec");
    if (pod == nullptr) return {};
    std::string policy(kube::string_at(*pod, "restartPolicy"));
    pod->stable_erase("restartPolicy");
    return policy;
}

json::object run_policy(const json::object& spec, ConversionNotes& notes) {
    json::object policy{{"cleanPodPolicy", "Running"}};
    notes.changed("spec",
                  "spec.runPolicy.cleanPodPolicy is \"Running\": the workers end with the "
                  "launcher, as they did");
    for (const std::string_view field : {"backoffLimit", "activeDeadlineSeconds"}) {
        const json::value* written = spec.if_contains(field);
        if (written == nullptr) continue;
        policy[field] = *written;
        const std::string now = fmt::format("spec.runPolicy.{}", field);
        notes.changed(in_spec(field), fmt::format("is {} in {}", now, notes.to()));
        notes.moved(in_spec(field), now);
    }
    if (!policy.contains("backoffLimit")) {
        policy["backoffLimit"] = kBackoffLimit;
        notes.changed("spec",
                      fmt::format("spec.runPolicy.backoffLimit is {}, which was the default "
                                  "of {}",
                                  kBackoffLimit, notes.from()));
    }
    return policy;
}

void up(json::object& spec, ConversionNotes& notes) {
    const json::object* template_ = object_at(spec, kTemplate);
    if (template_ == nullptr) {
        notes.refused(required(in_spec(kTemplate), "write what the pods are made from"));
        return;
    }
    std::optional<Cut> cut = cut_of(spec, notes);
    if (!cut) return;

    json::object both = *template_;
    const std::string policy = take_restart_policy(both);
    json::object worker = worker_template(both, *cut, notes);
    json::object launcher = launcher_template(std::move(both));
    if (kube::bool_at(spec, "launcherOnMaster")) {
        put_on_master(launcher);
        notes.changed("spec.launcherOnMaster",
                      fmt::format("is a toleration and an affinity of {}", kLauncher));
    }
    json::object made;
    if (const json::value* slots = spec.if_contains("slotsPerWorker")) {
        made["slotsPerWorker"] = *slots;
    } else if (cut->units.value_or(0) > 0) {
        made["slotsPerWorker"] = *cut->units;
        notes.moved(in_spec(cut->size->field), "spec.slotsPerWorker");
    }
    made["runPolicy"] = run_policy(spec, notes);
    notes.changed(in_spec(kTemplate),
                  fmt::format("is that of {0} (without resources) and of {1} (without the command)",
                              kLauncher, kWorker));
    made[kReplicaSpecs] = {{"Launcher",
                            {{"replicas", 1},
                             {"restartPolicy", policy == "Never" ? "Never" : "OnFailure"},
                             {"template", std::move(launcher)}}},
                           {"Worker",
                            {{"replicas", cut->workers},
                             {"restartPolicy", "Always"},
                             {"template", std::move(worker)}}}};
    for (const auto& [key, value] : spec)
        if (std::ranges::find(kConsumed, std::string_view(key)) == kConsumed.end() &&
            !made.contains(key))
            made[key] = value;
    spec = std::move(made);
    for (const std::string& replica : {kLauncher, kWorker}) {
        notes.moved("spec", replica);
        notes.moved(in_spec(kTemplate), replica + ".template");
    }
    notes.moved(in_spec(cut->size->field), kWorker + ".replicas");
    notes.moved("spec", in_spec(kReplicaSpecs));
}

/// Adds the workers' resources to the template, which otherwise equals the launcher's.
void add_resources(json::object& template_, json::object& worker) {
    json::array* to = containers_of(template_);
    json::array* from = containers_of(worker);
    if (to == nullptr || from == nullptr) return;
    for (std::size_t i = 0; i < std::min(to->size(), from->size()); ++i) {
        json::object* container = (*to)[i].if_object();
        const json::object* source = (*from)[i].if_object();
        const json::value* resources =
            source == nullptr ? nullptr : source->if_contains("resources");
        if (container != nullptr && resources != nullptr) (*container)["resources"] = *resources;
    }
}

void down(json::object& spec, ConversionNotes& notes) {
    json::object* specs = object_at(spec, kReplicaSpecs);
    json::object* launcher = specs == nullptr ? nullptr : object_at(*specs, "Launcher");
    json::object* worker = specs == nullptr ? nullptr : object_at(*specs, "Worker");
    json::object* template_ = launcher == nullptr ? nullptr : object_at(*launcher, kTemplate);
    if (template_ == nullptr || worker == nullptr || !worker->contains("replicas")) {
        notes.refused(
            required(template_ == nullptr ? kLauncher : kWorker,
                     fmt::format("{} has a launcher and a number of workers, always", notes.to())));
        return;
    }
    if (!is_number_of_workers(whole_number(&worker->at("replicas")))) {
        notes.refused(invalid(
            kWorker + ".replicas",
            fmt::format("{} has a number of workers from 1 to {}", notes.to(), kMaxReplicas)));
        return;
    }
    json::object made;
    made["replicas"] = worker->at("replicas");
    notes.changed(kWorker + ".replicas", fmt::format("is spec.replicas in {}", notes.to()));
    json::object both = *template_;
    if (json::object* other = object_at(*worker, kTemplate)) {
        add_resources(both, *other);
        notes.changed(kWorker + ".template",
                      fmt::format("{} has one template for all pods: the launcher's, with the "
                                  "workers' resources",
                                  notes.to()));
    }
    if (kube::string_at(*launcher, "restartPolicy") == "Never")
        if (json::object* pod = object_at(both, "spec")) (*pod)["restartPolicy"] = "Never";
    made[kTemplate] = std::move(both);
    if (const json::value* slots = spec.if_contains("slotsPerWorker"))
        made["slotsPerWorker"] = *slots;
    const json::object* policy = object_at(spec, "runPolicy");
    for (const std::string_view field : {"backoffLimit", "activeDeadlineSeconds"}) {
        const json::value* written = policy == nullptr ? nullptr : policy->if_contains(field);
        if (written == nullptr) written = spec.if_contains(field);
        if (written != nullptr) made[field] = *written;
    }
    for (const auto& [key, value] : spec) {
        if (key == kReplicaSpecs || key == "runPolicy" || made.contains(key)) continue;
        if (key == "dialect")
            notes.changed(in_spec(key),
                          fmt::format("{} has the conventions of v1 alone: the workers "
                                      "are reached by kubectl exec",
                                      notes.to()));
        else
            notes.dropped(in_spec(key));
    }
    spec = std::move(made);
}

}  // namespace

Converter mpi_v1alpha1_converter() {
    return {.kind = "MPIJob",
            .old_version = "v1alpha1",
            .version = "v1",
            .up = up,
            .down = down,
            .as_a_whole = true};
}

}  // namespace muster::jobs
