#include "jobs/internal/variables.h"

#include <fmt/format.h>

#include "jobs/internal/text.h"

namespace muster::jobs {

void Variables::add(std::string_view name, std::string value, std::string_view rule) {
    list_.push_back(
        {.env = {.name = std::string(name), .value = std::move(value), .value_from = {}},
         .rule = rule});
}

void Variables::add_field(std::string_view name, std::string_view path, std::string_view rule) {
    add(name, {}, rule);
    list_.back().env.value_from.emplace().field_ref.emplace().field_path = path;
}

std::vector<kube::EnvVar> Variables::take_without_rules() {
    std::vector<kube::EnvVar> plain;
    plain.reserve(list_.size());
    for (Variable& variable : list_) plain.push_back(std::move(variable.env));
    list_.clear();
    return plain;
}

Result<std::int32_t> port_of(const Job& job, std::string_view type) {
    const JobKind& kind = *job.kind;
    if (const ReplicaSpec* spec = job.replica(std::string(type)))
        if (const kube::Container* container = default_container(kind, spec->template_.spec))
            for (const kube::ContainerPort& port : container->ports)
                if (port.name == kind.port_name) return port.container_port;
    return Error(Code::kInvalid, fmt::format("the {} container of {} has no port \"{}\"",
                                             kind.container_name, type, kind.port_name));
}

std::int32_t port_or_default(const Job& job, std::string_view type) {
    return port_of(job, type).value_or(job.kind->port);
}

std::int32_t wanted(const Job& job, const std::string& type) {
    const ReplicaSpec* spec = job.replica(type);
    if (spec == nullptr) return 0;
    const ReplicaType* known = job.kind->replica_type(type);
    return spec->replicas.value_or(known == nullptr ? 1 : known->default_replicas);
}

std::int32_t all_wanted(const Job& job) {
    std::int32_t sum = 0;
    for (const ReplicaType& type : job.kind->written_types()) sum += wanted(job, type.name);
    return sum;
}

std::optional<Cause> too_long(const Job& job, std::string_view variable, std::size_t bytes,
                              std::int32_t replicas, std::string_view way_out) {
    if (bytes <= kLongestVariable || replicas < 1) return std::nullopt;
    const std::size_t each = bytes / static_cast<std::size_t>(replicas);
    return invalid("spec." + job.kind->replicas_field,
                   fmt::format("{} names all {} replicas and would have {} bytes, of which Linux "
                               "passes {} to a program: about {} replicas fit; {}",
                               variable, replicas, bytes, kLongestVariable,
                               kLongestVariable / std::max<std::size_t>(each, 1), way_out));
}

}  // namespace muster::jobs
