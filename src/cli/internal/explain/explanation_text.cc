#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "cli/internal/explain/job_explanation.h"
#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

/// If a type has more replicas, those in the middle are left out.
constexpr std::size_t kAllShown = 4;

std::string indented(std::string_view text, std::size_t spaces) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) out += std::string(spaces, ' ') + std::string(text.substr(0, end));
        out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string counted(std::int32_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The pod without the parts that are shown elsewhere.
json::object without_variables(json::object pod) {
    json::value* const spec = pod.if_contains("spec");
    if (spec == nullptr || !spec->is_object()) return pod;
    for (const std::string_view field : {"containers", "initContainers"}) {
        json::value* const list = spec->get_object().if_contains(field);
        if (list == nullptr || !list->is_array()) continue;
        for (json::value& container : list->get_array())
            if (json::object* fields = container.if_object()) fields->stable_erase("env");
    }
    return pod;
}

std::string variable_line(const ExplainedVariable& variable) {
    return fmt::format("{}={}  # {}{}\n", variable.name, variable.value, variable.rule,
                       variable.hidden ? "; hidden by a later one" : "");
}

/// How a variable differs over the replicas of a type. Of many values only those that are shown are
/// kept, since one may name all replicas.
struct Differing {
    struct Value {
        std::int32_t index = 0;
        std::string text;
    };
    std::string container;
    std::string name;
    std::string rule;
    std::vector<Value> first;  ///< up to kAllShown of them
    Value last;
    std::int32_t count = 0;
    bool counts_up = true;  ///< each is a number, one more for each index

    void add(std::int32_t index, const std::string& text) {
        const auto start = parse_number<std::int64_t>(first.empty() ? text : first.front().text);
        const std::int32_t begin = first.empty() ? index : first.front().index;
        counts_up =
            counts_up && start && parse_number<std::int64_t>(text) == *start + index - begin;
        if (first.size() < kAllShown) first.push_back({index, text});
        last = {index, text};
        ++count;
    }
};

/// Each variable of a replica by its identity; a second one of the same name is separate.
using Key = std::tuple<std::string, std::string, int>;
std::map<Key, const ExplainedVariable*> by_key(const ExplainedPod& pod) {
    std::map<Key, const ExplainedVariable*> found;
    std::map<std::pair<std::string, std::string>, int> seen;
    for (const ExplainedVariable& variable : pod.variables)
        found[{variable.container, variable.name, seen[{variable.container, variable.name}]++}] =
            &variable;
    return found;
}

std::string differing_text(const jobs::JobKind& kind, const std::string& type,
                           const Differing& differing) {
    const auto rank = [&](const Differing::Value& value) {
        return rank_name(kind, {type, value.index});
    };
    const bool many = differing.count > static_cast<std::int32_t>(kAllShown);
    if (many && differing.counts_up)
        return fmt::format("{}={} to {} in {} to {}  # {}\n", differing.name,
                           differing.first.front().text, differing.last.text,
                           rank(differing.first.front()), rank(differing.last), differing.rule);
    std::string out = fmt::format("{}  # {}\n", differing.name, differing.rule);
    const std::size_t shown = many ? 2 : differing.first.size();
    for (std::size_t i = 0; i < shown; ++i)
        out += fmt::format("  {}: {}\n", rank(differing.first[i]), differing.first[i].text);
    if (many)
        out += fmt::format("  ... {} more\n  {}: {}\n", differing.count - 3, rank(differing.last),
                           differing.last.text);
    return out;
}

/// What all replicas of a type have in common, and what not, collected one replica at a time.
class Comparison {
  public:
    explicit Comparison(const ExplainedPod& first) : first_(first) {
        for (const auto& [key, variable] : by_key(first_)) common_.insert(key);
    }

    void add(const ExplainedPod& pod) {
        const auto theirs = by_key(pod);
        const auto ours = by_key(first_);
        for (const auto& [key, variable] : theirs) {
            const auto here = ours.find(key);
            const bool same = here != ours.end() && here->second->value == variable->value &&
                              here->second->rule == variable->rule;
            if (same && common_.contains(key)) continue;
            start(key, *variable, here == ours.end() ? nullptr : here->second, pod.replica.index);
            differing_.at(key).add(pod.replica.index, variable->value);
        }
        for (const auto& [key, variable] : ours)
            if (!theirs.contains(key)) start(key, *variable, variable, pod.replica.index);
    }

    bool is_common(const Key& key) const { return common_.contains(key); }
    const ExplainedPod& first() const { return first_; }
    /// In the order of the first pod; those that it does not have come last.
    std::vector<Differing> differing() const {
        std::vector<Key> keys;
        std::map<std::pair<std::string, std::string>, int> seen;
        for (const ExplainedVariable& variable : first_.variables)
            keys.emplace_back(variable.container, variable.name,
                              seen[{variable.container, variable.name}]++);
        const auto ours = by_key(first_);
        for (const auto& [key, one] : differing_)
            if (!ours.contains(key)) keys.push_back(key);
        std::vector<Differing> all;
        for (const Key& key : keys)
            if (const auto one = differing_.find(key); one != differing_.end())
                all.push_back(one->second);
        return all;
    }

  private:
    /// From here on the key's values are listed one by one; earlier replicas had the first one's.
    void start(const Key& key, const ExplainedVariable& variable, const ExplainedVariable* before,
               std::int32_t index) {
        common_.erase(key);
        const auto [at, fresh] = differing_.emplace(key, Differing{.container = variable.container,
                                                                   .name = variable.name,
                                                                   .rule = variable.rule,
                                                                   .first = {},
                                                                   .last = {}});
        if (!fresh) return;
        for (std::int32_t i = 0; before != nullptr && i < index; ++i)
            at->second.add(i, before->value);
    }

    const ExplainedPod& first_;
    std::set<Key> common_;
    std::map<Key, Differing> differing_;
};

std::string environment_text(const jobs::JobKind& kind, const std::string& type,
                             const Comparison& comparison, std::int32_t replicas) {
    std::vector<std::string> containers;
    for (const ExplainedVariable& variable : comparison.first().variables)
        if (std::ranges::find(containers, variable.container) == containers.end())
            containers.push_back(variable.container);
    std::vector<Differing> differing = comparison.differing();
    std::string out;
    for (const std::string& container : containers) {
        std::string same;
        std::map<std::pair<std::string, std::string>, int> seen;
        for (const ExplainedVariable& variable : comparison.first().variables) {
            const Key key{variable.container, variable.name,
                          seen[{variable.container, variable.name}]++};
            if (variable.container == container && comparison.is_common(key))
                same += variable_line(variable);
        }
        std::string own;
        for (const Differing& one : differing)
            if (one.container == container) own += differing_text(kind, type, one);
        if (!same.empty())
            out += fmt::format("  environment of {}{}:\n", container,
                               replicas > 1 ? ", the same in each" : "") +
                   indented(same, 4);
        if (!own.empty())
            out += fmt::format("  environment of {}, by rank:\n", container) + indented(own, 4);
    }
    return out;
}

std::string service_text(const jobs::Job& job, const jobs::ReplicaId& replica,
                         std::int32_t replicas) {
    const auto service = jobs::build_service(job, replica);
    if (!service) return {};
    std::vector<std::string> ports;
    for (const kube::ServicePort& port : service->spec.ports)
        ports.push_back(port.name.empty() ? std::to_string(port.port)
                                          : fmt::format("{} {}", port.name, port.port));
    return fmt::format("  service{} of the same name: headless, {}\n", replicas == 1 ? "" : "s",
                       ports.empty() ? "without ports" : fmt::format("{}", fmt::join(ports, ", ")));
}

Result<std::string> type_text(const jobs::Job& job, const jobs::ReplicaType& type,
                              std::int32_t replicas) {
    const auto pod_name = [&](std::int32_t index) {
        return jobs::replica_name(job, {type.name, index});
    };
    std::string out = fmt::format("\n{}: {}", type.name, counted(replicas, "pod"));
    if (replicas == 0) return out + "\n";
    out += replicas == 1 ? ", " + pod_name(0)
                         : fmt::format(", {} to {}", pod_name(0), pod_name(replicas - 1));
    const std::string before =
        job.kind->starts_after ? job.kind->starts_after(job, type.name) : std::string();
    if (!before.empty()) out += fmt::format("; made when every {} is Ready", lower_case(before));
    out += '\n';
    if (jobs::has_services(job, type.name)) out += service_text(job, {type.name, 0}, replicas);

    TRY(const ExplainedPod first, explain_pod(job, {type.name, 0}));
    Comparison comparison(first);
    for (std::int32_t index = 1; index < replicas; ++index) {
        TRY(const ExplainedPod pod, explain_pod(job, {type.name, index}));
        comparison.add(pod);
    }
    out += environment_text(*job.kind, type.name, comparison, replicas);
    out += fmt::format("  the pod {}{}:\n", pod_name(0),
                       first.variables.empty() ? "" : ", without its environment");
    return out + indented(manifest::to_yaml(without_variables(first.pod)), 4);
}

std::string owned_objects_text(const jobs::Job& job) {
    if (!job.kind->owned_objects) return {};
    std::string out;
    for (const jobs::OwnedObject& owned_object : job.kind->owned_objects(job, {})) {
        out += fmt::format("  {} {}{}\n", owned_object.type.kind, owned_object.name,
                           owned_object.made_once.empty()
                               ? ""
                               : fmt::format(" ({} made when it is created)",
                                             fmt::join(owned_object.made_once, ", ")));
        for (const auto& [key, value] : owned_object.content) {
            const json::object* fields = value.if_object();
            const bool texts = key == "data" && fields != nullptr;
            if (!texts) {
                out += indented(manifest::to_yaml(json::object{{key, value}}), 4);
                continue;
            }
            for (const auto& [file, content] : *fields)
                out += fmt::format("    {}:\n", std::string_view(file)) +
                       indented(content.is_string() ? std::string_view(content.get_string())
                                                    : std::string_view(),
                                6);
        }
    }
    return out.empty() ? out : "\nBeside the pods, before any of them:\n" + out;
}

std::string title(const jobs::Job& job) {
    return fmt::format("{} {}/{} ({}): {}\n", job.kind->resource.kind, job.metadata.namespace_,
                       job.metadata.name, job.kind->resource.api_version(),
                       counted(job.total_replicas(), "pod"));
}

}  // namespace

Result<std::string> explanation_text(const jobs::Job& job) {
    std::string out = title(job) + owned_objects_text(job);
    for (const jobs::ReplicaType& type : job.kind->replica_types) {
        const jobs::ReplicaSpec* spec = job.replica(type.name);
        if (spec == nullptr) continue;
        TRY(const std::string text, type_text(job, type, spec->replicas.value_or(0)));
        out += text;
    }
    return out;
}

std::string explanation_text(const jobs::Job& job, const ExplainedPod& pod) {
    std::string out = fmt::format("{}: the pod {}\n", rank_name(*job.kind, pod.replica),
                                  jobs::replica_name(job, pod.replica));
    std::string container;
    for (const ExplainedVariable& variable : pod.variables) {
        if (variable.container != container)
            out += fmt::format("  environment of {}:\n", container = variable.container);
        out += "    " + variable_line(variable);
    }
    return out + "  as it will be created:\n" + indented(manifest::to_yaml(pod.pod), 4);
}

}  // namespace muster::cli
