#include "apiserver/internal/pod_validation/security.h"

#include <algorithm>
#include <limits>
#include <set>

#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/pod_validation/windows_options.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostId = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostSysctl = 253;
constexpr std::string_view kNotOnWindows = "cannot be set for a windows pod";

void check_ids(const json::object& context, const std::string& field, FieldErrors& field_errors) {
    for (const char* key : {"runAsUser", "runAsGroup", "fsGroup"})
        check_range(context, key, 0, kMostId, field, field_errors);
    const json::array* groups = array_at(context, "supplementalGroups");
    if (groups == nullptr) return;
    for (std::size_t i = 0; i < groups->size(); ++i) {
        const std::int64_t* group = (*groups)[i].if_int64();
        if (group != nullptr && (*group < 0 || *group > kMostId))
            field_errors.push_back(invalid_value(fmt::format("{}.supplementalGroups[{}]", field, i),
                                                 json::value(*group),
                                                 "must be between 0 and 2147483647, inclusive"));
    }
}

/// The name of a profile that the kernel has loaded, which often is a path.
void check_app_armor_path(std::string_view path, const std::string& field,
                          FieldErrors& field_errors) {
    constexpr std::string_view kBlanks = " \t\n\v\f\r";
    constexpr std::size_t kMostBytes = 4095;
    if (kBlanks.find(path.front()) != std::string_view::npos ||
        kBlanks.find(path.back()) != std::string_view::npos)
        field_errors.push_back(
            invalid_value(field, json::value(path), "must not be padded with whitespace"));
    if (path.size() > kMostBytes) field_errors.push_back(too_long(field, kMostBytes));
}

/// A seccomp or AppArmor profile.
void check_profile(const json::object& context, const char* key, std::string_view name,
                   const std::string& in, FieldErrors& field_errors) {
    const json::object* profile = object_at(context, key);
    if (profile == nullptr) return;
    const std::string field = fmt::format("{}.{}", in, key);
    const std::string_view type = string_at(*profile, "type");
    const json::value* path = profile->if_contains("localhostProfile");
    if (type.empty())
        field_errors.push_back(
            required(field + ".type", fmt::format("type is required when {} is set", key)));
    else
        check_choice(*profile, "type", {"Localhost", "RuntimeDefault", "Unconfined"}, field,
                     field_errors);
    if (type == "Localhost") {
        const std::string_view text = string_at(*profile, "localhostProfile");
        const std::string at = field + ".localhostProfile";
        if (text.empty())
            field_errors.push_back(
                required(at, fmt::format("must be set when {} type is Localhost", name)));
        else if (name == "seccomp")
            check_descending_path(text, at, field_errors);
        else
            check_app_armor_path(text, at, field_errors);
    } else if (path != nullptr &&
               (name == "seccomp" || type == "RuntimeDefault" || type == "Unconfined")) {
        field_errors.push_back(
            invalid_value(field + ".localhostProfile", *path,
                          fmt::format("can only be set when {} type is Localhost", name)));
    }
}

void check_profiles(const json::object& context, const std::string& field,
                    FieldErrors& field_errors) {
    check_profile(context, "seccompProfile", "seccomp", field, field_errors);
    check_profile(context, "appArmorProfile", "AppArmor", field, field_errors);
    check_windows_options(context, field, field_errors);
}

/// Words of [-_a-z0-9] between dots or slashes, with a letter or digit at both ends.
bool is_sysctl_name(std::string_view name) {
    if (name.empty() || name.size() > kMostSysctl) return false;
    const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    while (true) {
        const std::size_t end = name.find_first_of("./");
        const std::string_view word = name.substr(0, end);
        if (word.empty() || !alnum(word.front()) || !alnum(word.back())) return false;
        if (!std::ranges::all_of(word, [&](char c) { return alnum(c) || c == '-' || c == '_'; }))
            return false;
        if (end == std::string_view::npos) return true;
        name.remove_prefix(end + 1);
    }
}

void check_sysctls(const json::object& context, const std::string& field,
                   FieldErrors& field_errors) {
    const auto sysctls = objects_at(context, "sysctls");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < sysctls.size(); ++i) {
        const std::string at = fmt::format("{}.sysctls[{}].name", field, i);
        const std::string_view name = string_at(*sysctls[i], "name");
        if (name.empty())
            field_errors.push_back(required(at));
        else if (!is_sysctl_name(name))
            field_errors.push_back(
                invalid_value(at, json::value(name),
                              "must have at most 253 characters and match regex "
                              "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9]"
                              ")?$"));
        else if (seen.contains(name))
            field_errors.push_back(duplicate(at, json::value(name)));
        seen.insert(name);
    }
}

void check_host_namespaces(const json::object& spec, const std::string& in,
                           FieldErrors& field_errors) {
    if (bool_at(spec, "hostPID") && bool_at(spec, "shareProcessNamespace"))
        field_errors.push_back(
            invalid_value(in + ".securityContext.shareProcessNamespace", json::value(true),
                          "ShareProcessNamespace and HostPID cannot both be enabled"));
    const json::value* users = spec.if_contains("hostUsers");
    if (users == nullptr || *users != false) return;
    for (const char* key : {"hostNetwork", "hostPID", "hostIPC"})
        if (bool_at(spec, key))
            field_errors.push_back(forbidden_field(fmt::format("{}.{}", in, key),
                                                   "when `pod.Spec.HostUsers` is false"));
}

std::string_view os_of(const json::object& spec) {
    const json::object* os = object_at(spec, "os");
    return os == nullptr ? std::string_view() : string_at(*os, "name");
}

void forbid_fields(const json::object& object, std::initializer_list<const char*> keys,
                   const std::string& in, std::string_view why, FieldErrors& field_errors) {
    for (const char* key : keys)
        if (object.contains(key))
            field_errors.push_back(forbidden_field(fmt::format("{}.{}", in, key), why));
}

void check_os(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    if (!spec.contains("os")) return;
    const std::string_view os = os_of(spec);
    const json::object& context = child(spec, "securityContext");
    const std::string field = in + ".securityContext";
    if (os.empty()) {
        field_errors.push_back(required(in + ".os.name", "cannot be empty"));
    } else if (os == "linux") {
        forbid_fields(context, {"windowsOptions"}, field,
                      "windows options cannot be set for a linux pod", field_errors);
    } else if (os == "windows") {
        forbid_fields(context,
                      {"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup",
                       "fsGroupChangePolicy", "sysctls", "runAsUser", "runAsGroup",
                       "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"},
                      field, kNotOnWindows, field_errors);
        forbid_fields(spec, {"hostUsers", "shareProcessNamespace"}, in, kNotOnWindows,
                      field_errors);
        for (const char* key : {"hostPID", "hostIPC"})
            if (bool_at(spec, key))
                field_errors.push_back(
                    forbidden_field(fmt::format("{}.{}", in, key), kNotOnWindows));
    } else {
        field_errors.push_back(not_supported(in + ".os", os, {"linux", "windows"}));
    }
}

void check_escalation(const json::object& context, const std::string& field,
                      FieldErrors& field_errors) {
    const json::value* escalation = context.if_contains("allowPrivilegeEscalation");
    if (escalation == nullptr || *escalation != false) return;
    if (bool_at(context, "privileged"))
        field_errors.push_back(invalid_value(field, context,
                                             "cannot set `allowPrivilegeEscalation` to false and "
                                             "`privileged` to true"));
    const std::vector<std::string> added = strings_at(child(context, "capabilities"), "add");
    if (std::ranges::find(added, "CAP_SYS_ADMIN") != added.end())
        field_errors.push_back(invalid_value(field, context,
                                             "cannot set `allowPrivilegeEscalation` to false and "
                                             "`capabilities.Add` CAP_SYS_ADMIN"));
}

}  // namespace

void check_pod_security(const json::object& spec, const std::string& in,
                        FieldErrors& field_errors) {
    check_os(spec, in, field_errors);
    check_host_namespaces(spec, in, field_errors);
    check_host_processes(spec, in, field_errors);
    const json::object* context = object_at(spec, "securityContext");
    if (context == nullptr) return;
    const std::string field = in + ".securityContext";
    check_ids(*context, field, field_errors);
    check_profiles(*context, field, field_errors);
    check_sysctls(*context, field, field_errors);
    check_choice(*context, "fsGroupChangePolicy", {"Always", "OnRootMismatch"}, field,
                 field_errors);
    check_choice(*context, "supplementalGroupsPolicy", {"Merge", "Strict"}, field, field_errors);
    check_choice(*context, "seLinuxChangePolicy", {"Recursive"}, field, field_errors);
}

void check_container_security(const json::object& container, const json::object& spec,
                              const std::string& in, FieldErrors& field_errors) {
    const json::object* context = object_at(container, "securityContext");
    if (context == nullptr) return;
    const std::string field = in + ".securityContext";
    check_ids(*context, field, field_errors);
    check_profiles(*context, field, field_errors);
    check_choice(*context, "procMount", {"Default", "Unmasked"}, field, field_errors);
    if (const json::value* users = spec.if_contains("hostUsers");
        string_at(*context, "procMount") == "Unmasked" && (users == nullptr || *users != false))
        field_errors.push_back(invalid_value(field + ".procMount", json::value("Unmasked"),
                                             "`hostUsers` must be false to use `Unmasked`"));
    check_escalation(*context, field, field_errors);
    if (os_of(spec) == "linux")
        forbid_fields(*context, {"windowsOptions"}, field,
                      "windows options cannot be set for a linux pod", field_errors);
    if (os_of(spec) == "windows")
        forbid_fields(*context,
                      {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                       "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation",
                       "procMount", "runAsUser", "runAsGroup"},
                      field, kNotOnWindows, field_errors);
}

}  // namespace muster::apiserver
