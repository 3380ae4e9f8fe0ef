#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "jobs/internal/text.h"
#include "jobs/kind.h"
#include "kube/values/name_syntax.h"

// The rules of validate.cc in CEL, for a server that refuses a job before it is stored. Each is
// true for every job that validate() accepts: keys in any spelling, fields that are not written,
// defaults that are filled in later. Rules that CEL can't express (the length of TF_CONFIG,
// quantities) are left to the operator.

namespace muster::jobs {
namespace {

std::string cel_literal(std::string_view text) { return fmt::format("'{}'", text); }

std::string list_of(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    all.reserve(texts.size());
    for (const std::string& text : texts) all.push_back(cel_literal(text));
    return fmt::format("[{}]", fmt::join(all, ", "));
}

/// `what`, for every replica type in the job that is this one; `t` is its key.
std::string of_type(const ReplicaType& type, std::string_view what) {
    return fmt::format("variables.replicas.all(t, t.lowerAscii() != '{}' || {})", type.lower(),
                       what);
}

AdmissionRule name_form() {
    return {.expression = "object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            .message =
                "metadata.name: it takes lower-case letters, digits and '-', a letter first "
                "and no '-' last, since it becomes the name of services"};
}

AdmissionRule name_length() {
    return {.expression = fmt::format("size(object.metadata.name) <= {}", kube::kMaxLabelName),
            .message = fmt::format("metadata.name: it may have {} characters: shorten it",
                                   kube::kMaxLabelName)};
}

/// For the pod with the largest index.
AdmissionRule pod_name_length(const JobKind& kind, const ReplicaType& type) {
    std::string suffix = replica_name(kind, "", {type.name, 0});
    std::string length = fmt::format("size(object.metadata.name) + {}", suffix.size());
    if (type.numbered && !type.only_replicas) {
        const std::string replicas =
            fmt::format("variables.replicas[t].?replicas.orValue({})", type.default_replicas);
        length = fmt::format("size(object.metadata.name) + {} + size(string({} > 1 ? {} - 1 : 0))",
                             suffix.size() - 1, replicas, replicas);
    }
    return {.expression = of_type(type, fmt::format("{} <= {}", length, kube::kMaxLabelName)),
            .message = fmt::format(
                "metadata.name: the name of its last {} pod would have more than {} characters: "
                "shorten it",
                type.name, kube::kMaxLabelName),
            .message_expression = fmt::format(
                "'metadata.name: the name has ' + string(size(object.metadata.name)) + ' "
                "characters, and that of its last {} pod would have more than {}: shorten it'",
                type.name, kube::kMaxLabelName)};
}

AdmissionRule known_types(const JobKind& kind, const std::string& path) {
    std::vector<std::string> names, lower;
    for (const ReplicaType& type : kind.written_types()) {
        names.push_back(type.name);
        lower.push_back(type.lower());
    }
    const std::string is_known = fmt::format("t.lowerAscii() in {}", list_of(lower));
    const std::string rest =
        fmt::format("is not a replica type of a {}; write {}", kind.resource.kind, one_of(names));
    return {.expression = fmt::format("variables.replicas.all(t, {})", is_known),
            .message = fmt::format("{}: a key {}", path, rest),
            .message_expression =
                fmt::format("'{}: ' + variables.replicas.filter(t, !({})).join(', ') + ' {}'", path,
                            is_known, rest)};
}

AdmissionRule distinct_types(const std::string& path) {
    return {.expression =
                "variables.replicas.all(t, variables.replicas.exists_one(u, "
                "u.lowerAscii() == t.lowerAscii()))",
            .message = fmt::format(
                "{}: one replica type is there in two spellings; keep one of them", path)};
}

/// The rules that follow from the data of one type.
void add_type_rules(const JobKind& kind, const ReplicaType& type, const std::string& path,
                    std::vector<AdmissionRule>& rules) {
    if (type.required)
        rules.push_back(
            {.expression = fmt::format(
                 "size(variables.replicas) == 0 || variables.replicas.exists(t, t.lowerAscii() == "
                 "'{}')",
                 type.lower()),
             .message = fmt::format("{}.{}: a {} needs this replica type", path, type.name,
                                    kind.resource.kind)});
    if (type.only_replicas)
        rules.push_back(
            {.expression =
                 of_type(type, fmt::format("variables.replicas[t].?replicas.orValue({0}) == {0}",
                                           *type.only_replicas)),
             .message =
                 fmt::format("{}.{}.replicas: must be {}", path, type.name, *type.only_replicas)});
    if (!type.restart_policies.empty()) {
        std::vector<std::string> allowed = type.restart_policies;
        allowed.emplace_back();
        rules.push_back(
            {.expression =
                 of_type(type, fmt::format("variables.replicas[t].?restartPolicy.orValue('') in {}",
                                           list_of(allowed))),
             .message = fmt::format("{}.{}.restartPolicy: write {}", path, type.name,
                                    one_of(type.restart_policies))});
    }
    rules.push_back(pod_name_length(kind, type));
}

AdmissionRule containers(const JobKind& kind, const std::string& path) {
    const std::string all = "variables.replicas[t].?template.?spec.?containers.orValue([])";
    if (kind.container_name.empty() || kind.any_container)
        return {.expression = fmt::format("variables.replicas.all(t, size({}) > 0)", all),
                .message = fmt::format("{}: a replica type has no containers; add one", path)};
    return {.expression = fmt::format(
                "variables.replicas.all(t, {}.exists(c, c.?name.orValue('') in ['', '{}']))", all,
                kind.container_name),
            .message = fmt::format("{}: each replica type needs a container that is named \"{}\": "
                                   "the one that trains",
                                   path, kind.container_name)};
}

AdmissionRule images(const JobKind& kind, const std::string& path) {
    std::vector<std::string> without;
    for (const ReplicaType& type : kind.written_types())
        if (type.own_program) without.push_back(type.lower());
    const std::string exempt =
        without.empty() ? "" : fmt::format("t.lowerAscii() in {} || ", list_of(without));
    const auto have = [](std::string_view list) {
        return fmt::format(
            "variables.replicas[t].?template.?spec.?{}.orValue([]).all(c, c.?image.orValue('') != "
            "'')",
            list);
    };
    const std::string all = fmt::format("{} && {}", have("containers"), have("initContainers"));
    return {.expression = exempt.empty()
                              ? fmt::format("variables.replicas.all(t, {})", all)
                              : fmt::format("variables.replicas.all(t, {}({}))", exempt, all),
            .message = fmt::format("{}: a container has no image", path)};
}

/// Fields that may not change while a job exists; `oldObject` is null when it is created.
std::vector<AdmissionRule> update_rules() {
    const auto was = [](std::string_view field) {
        return fmt::format("oldObject.spec.?runPolicy.?{}.orValue('')", field);
    };
    const auto is = [](std::string_view field) {
        return fmt::format("object.spec.?runPolicy.?{}.orValue('')", field);
    };
    const auto same = [&](std::string_view field) {
        return fmt::format("{} == {}", was(field), is(field));
    };
    const auto cant_change = [&](std::string_view field) {
        return fmt::format(
            "'spec.runPolicy.{}: can\\'t change while the job exists; it is \"' + {} + '\"'", field,
            was(field));
    };
    constexpr std::string_view kManagedBy = "managedBy";
    constexpr std::string_view kQueue = "schedulingPolicy.?queue";
    return {
        {.expression = fmt::format("oldObject == null || {}", same(kManagedBy)),
         .message = "spec.runPolicy.managedBy: can't change while the job exists",
         .message_expression = cant_change(kManagedBy)},
        {.expression =
             fmt::format("oldObject == null || {} == '' || {}", was(kQueue), same(kQueue)),
         .message = "spec.runPolicy.schedulingPolicy.queue: can't change while the job exists"}};
}

/// The rules of one version, whatever the others' are.
std::vector<AdmissionRule> rules_of(const JobKind& kind) {
    const std::string path = "spec." + kind.replicas_field;
    std::vector<std::string> type_names;
    for (const ReplicaType& type : kind.written_types()) type_names.push_back(type.name);
    std::vector<AdmissionRule> rules = {
        name_form(),
        name_length(),
        {.expression = "size(variables.replicas) > 0",
         .message = fmt::format("{}: there are no replicas; add {}", path, one_of(type_names))},
        known_types(kind, path),
        distinct_types(path)};
    for (const ReplicaType& type : kind.written_types()) add_type_rules(kind, type, path, rules);
    rules.push_back(containers(kind, path));
    rules.push_back(images(kind, path));
    rules.insert(rules.end(), kind.own_admission_rules.begin(), kind.own_admission_rules.end());
    std::ranges::move(update_rules(), std::back_inserter(rules));
    return rules;
}

}  // namespace

std::vector<AdmissionRule> admission_rules(std::span<const JobKind* const> versions) {
    // By mark, since several versions may share a convention.
    std::map<std::string, std::vector<AdmissionRule>> by_mark;
    for (const JobKind* kind : versions) by_mark.try_emplace(kind->version_mark, rules_of(*kind));
    std::vector<AdmissionRule> all;
    for (const auto& [mark, rules] : by_mark)
        for (AdmissionRule rule : rules) {
            const auto has_it = [&](const auto& other) {
                return std::ranges::find(other.second, rule) != other.second.end();
            };
            if (!std::ranges::all_of(by_mark, has_it))
                rule.expression =
                    fmt::format("object.spec.?{}.orValue('') != '{}' || ({})",
                                versions.front()->version_field, mark, rule.expression);
            if (std::ranges::find(all, rule) == all.end()) all.push_back(std::move(rule));
        }
    return all;
}

std::vector<std::pair<std::string, std::string>> admission_variables(const JobKind& kind) {
    return {{"replicas", fmt::format("object.?spec.?{}.orValue({{}})", kind.replicas_field)}};
}

}  // namespace muster::jobs
