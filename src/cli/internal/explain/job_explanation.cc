#include "cli/internal/explain/job_explanation.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <map>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "kube/objects/codec.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

std::string value_text(const json::object& variable) {
    const json::object* from = kube::object_at(variable, "valueFrom");
    if (from == nullptr) return std::string(kube::string_at(variable, "value"));
    if (const json::object* field = kube::object_at(*from, "fieldRef"))
        return fmt::format("<{}>", kube::string_at(*field, "fieldPath"));
    return fmt::format("<{}>", json::serialize(*from));
}

std::string rule_text(const jobs::VariableOrigin& origin) {
    using Source = jobs::VariableOrigin::Source;
    switch (origin.source) {
        case Source::kTemplate:
            return "of the manifest";
        case Source::kRule:
            return std::string(origin.rule);
        case Source::kPod:
            break;
    }
    return "comes with what the kind adds to the pod";
}

void add_variables(const kube::Container& container,
                   const std::vector<jobs::VariableOrigin>& origins,
                   std::vector<ExplainedVariable>& variables) {
    for (std::size_t i = 0; i < container.env.size(); ++i) {
        const json::value variable = kube::encode(container.env[i]);
        variables.push_back({.container = container.name,
                             .name = container.env[i].name,
                             .value = value_text(variable.get_object()),
                             .rule = rule_text(origins[i])});
    }
}

/// If several have the same name, the last one counts.
void mark_hidden(std::vector<ExplainedVariable>& variables) {
    std::map<std::pair<std::string, std::string>, ExplainedVariable*> last;
    for (ExplainedVariable& variable : variables) {
        ExplainedVariable*& known = last[{variable.container, variable.name}];
        if (known != nullptr) known->hidden = true;
        known = &variable;
    }
}

}  // namespace

Result<ExplainedPod> explain_pod(const jobs::Job& job, const jobs::ReplicaId& replica) {
    TRY(const kube::Pod pod, jobs::build_pod(job, replica));
    TRY(const auto origins, jobs::variable_origins(job, replica, pod));
    ExplainedPod explained{.replica = replica, .pod = {}, .variables = {}};
    json::value encoded = kube::encode(pod);
    explained.pod = std::move(encoded.get_object());
    std::size_t c = 0;
    for (const auto* const containers : {&pod.spec.containers, &pod.spec.init_containers})
        for (const kube::Container& container : *containers)
            add_variables(container, origins[c++], explained.variables);
    mark_hidden(explained.variables);
    return explained;
}

std::string rank_name(const jobs::JobKind& kind, const jobs::ReplicaId& replica) {
    const jobs::ReplicaType* type = kind.replica_type(replica.type);
    const std::string name = lower_case(replica.type);
    return type != nullptr && !type->numbered ? name : fmt::format("{}-{}", name, replica.index);
}

std::optional<jobs::ReplicaId> find_rank(const jobs::Job& job, std::string_view name) {
    const std::string wanted = lower_case(name);
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        std::string_view rest = wanted;
        if (!rest.starts_with(type.lower())) continue;
        rest.remove_prefix(type.lower().size());
        std::int32_t index = 0;
        if (!rest.empty()) {
            if (rest.front() != '-') continue;
            rest.remove_prefix(1);
            const auto number = parse_number<std::int32_t>(rest);
            if (!number) continue;
            index = *number;
        } else if (type.numbered) {
            continue;
        }
        if (index >= 0 && index < spec->replicas.value_or(0))
            return jobs::ReplicaId{type.name, index};
    }
    return std::nullopt;
}

Result<json::value> explanation_json(const jobs::Job& job,
                                     const std::optional<jobs::ReplicaId>& only) {
    json::array replicas;
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        for (std::int32_t index = 0; index < spec->replicas.value_or(0); ++index) {
            const jobs::ReplicaId replica{type.name, index};
            if (only && *only != replica) continue;
            TRY(ExplainedPod pod, explain_pod(job, replica));
            json::array environment;
            for (ExplainedVariable& variable : pod.variables) {
                json::object one{{"container", variable.container},
                                 {"name", variable.name},
                                 {"value", variable.value},
                                 {"rule", variable.rule}};
                if (variable.hidden) one["hidden"] = true;
                environment.push_back(std::move(one));
            }
            json::object one{{"rank", rank_name(*job.kind, replica)},
                             {"type", type.name},
                             {"index", index},
                             {"pod", std::move(pod.pod)},
                             {"environment", std::move(environment)}};
            if (jobs::has_services(job, type.name)) {
                TRY(const kube::Service service, jobs::build_service(job, replica));
                one["service"] = kube::encode(service);
            }
            replicas.push_back(std::move(one));
        }
    }
    json::array owned_objects;
    if (job.kind->owned_objects && !only)
        for (const jobs::OwnedObject& owned_object : job.kind->owned_objects(job, {}))
            owned_objects.push_back(jobs::owned_object_manifest(job, owned_object));
    return json::object{{"apiVersion", job.kind->resource.api_version()},
                        {"kind", job.kind->resource.kind},
                        {"namespace", job.metadata.namespace_},
                        {"name", job.metadata.name},
                        {"replicas", std::move(replicas)},
                        {"attachments", std::move(owned_objects)}};
}

}  // namespace muster::cli
