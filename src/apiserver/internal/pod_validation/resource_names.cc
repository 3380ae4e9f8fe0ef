#include "apiserver/internal/pod_validation/resource_names.h"

#include <algorithm>
#include <array>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/objects/metadata_words.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kPages = "hugepages-";
constexpr std::string_view kRequestedPages = "requests.hugepages-";

constexpr std::array<std::string_view, 9> kWholeNumbers = {
    "pods",       "resourcequotas",         "services",
    "secrets",    "replicationcontrollers", "persistentvolumeclaims",
    "configmaps", "services.nodeports",     "services.loadbalancers"};
constexpr std::array<std::string_view, 10> kAmounts = {"cpu",
                                                       "memory",
                                                       "ephemeral-storage",
                                                       "requests.cpu",
                                                       "requests.memory",
                                                       "requests.ephemeral-storage",
                                                       "limits.cpu",
                                                       "limits.memory",
                                                       "limits.ephemeral-storage",
                                                       "requests.storage"};

bool has_domain(std::string_view name) { return name.find('/') != std::string_view::npos; }

bool is_extended_resource(std::string_view name) {
    // A quota names it with a prefix, and has to be able to.
    return !kube::is_native_resource(name) && !name.starts_with("requests.") &&
           is_qualified_name(fmt::format("requests.{}", name));
}

/// Whether it may be the name of something at all.
bool check_form(std::string_view name, const std::string& field, FieldErrors& field_errors) {
    const std::size_t before = field_errors.size();
    check_qualified_name(name, field, Shown::kBare, field_errors);
    return field_errors.size() == before;
}

}  // namespace

bool is_whole_resource(std::string_view name) {
    return !kube::is_native_resource(name) || name.starts_with(kPages);
}

bool is_integer_resource(std::string_view name) {
    return std::ranges::find(kWholeNumbers, name) != kWholeNumbers.end() ||
           is_extended_resource(name);
}

bool is_quota_resource(std::string_view name) {
    return std::ranges::find(kWholeNumbers, name) != kWholeNumbers.end() ||
           std::ranges::find(kAmounts, name) != kAmounts.end() || name.starts_with(kPages) ||
           name.starts_with(kRequestedPages);
}

void check_resource_name(std::string_view name, const std::string& field,
                         FieldErrors& field_errors) {
    if (check_form(name, field, field_errors) && !has_domain(name) && name != "storage" &&
        !is_quota_resource(name))
        field_errors.push_back(invalid_text(
            field, name, "must be a standard resource type or fully qualified", Shown::kBare));
}

void check_container_resource_name(std::string_view name, const std::string& field,
                                   FieldErrors& field_errors) {
    check_resource_name(name, field, field_errors);
    if (!has_domain(name)) {
        if (name != "cpu" && name != "memory" && name != "ephemeral-storage" &&
            !name.starts_with(kPages))
            field_errors.push_back(invalid_text(
                field, name, "must be a standard resource for containers", Shown::kBare));
    } else if (!kube::is_native_resource(name) && !is_extended_resource(name)) {
        field_errors.push_back(invalid_text(
            field, name, "doesn't follow extended resource name standard", Shown::kBare));
    }
}

void check_quota_resource_name(std::string_view name, const std::string& field,
                               FieldErrors& field_errors) {
    if (check_form(name, field, field_errors) && !has_domain(name) && !is_quota_resource(name))
        field_errors.push_back(
            invalid_text(field, name, "must be a standard resource for quota", Shown::kBare));
}

}  // namespace muster::apiserver
