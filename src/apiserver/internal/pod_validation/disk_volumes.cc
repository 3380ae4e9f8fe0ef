#include "apiserver/internal/pod_validation/disk_volumes.h"

#include <algorithm>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostLun = 255;
constexpr std::size_t kMostTenant = 64;
constexpr std::size_t kMostDriverName = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string lower(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return made;
}

std::string go_texts(const std::vector<std::string>& texts) {
    std::string made;
    for (const std::string& text : texts)
        made += fmt::format("{}{}", made.empty() ? "" : ", ", json::serialize(json::value(text)));
    return made;
}

/// iqn.2001-04.com.example:storage
bool is_iqn(std::string_view name) {
    constexpr std::string_view kForm = "iqn.dddd-dd.";
    if (name.size() <= kForm.size()) return false;
    for (std::size_t i = 0; i < kForm.size(); ++i)
        if (kForm[i] == 'd' ? !is_digit(name[i]) : name[i] != kForm[i]) return false;
    name.remove_prefix(kForm.size());
    const std::size_t colon = name.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == name.size()) return false;
    const auto is_authority = [](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; };
    return std::ranges::all_of(name.substr(0, colon), is_authority) &&
           name.find_first_of(",;*&$| \t\n\v\f\r", colon) == std::string_view::npos;
}

/// A prefix, any character and so many letters or digits.
bool has_code(std::string_view name, std::size_t digits) {
    constexpr std::size_t kBefore = 4;
    return name.size() == kBefore + digits &&
           std::ranges::all_of(name.substr(kBefore), is_alphanumeric);
}

/// What is wrong with the name of a node of iSCSI, or "".
std::string_view iscsi_name_problem(std::string_view name) {
    constexpr std::size_t kEuiDigits = 16;
    constexpr std::size_t kNaaDigits = 32;
    const bool iqn = name.starts_with("iqn");
    const bool eui = name.starts_with("eui");
    if (!iqn && !eui && !name.starts_with("naa"))
        return "must be valid format starting with iqn, eui, or naa";
    const bool valid = iqn ? is_iqn(name) : has_code(name, eui ? kEuiDigits : kNaaDigits);
    return valid ? "" : "must be valid format";
}

bool is_host_and_port(std::string_view pair) {
    const std::size_t colon = pair.rfind(':');
    if (colon == std::string_view::npos) return false;
    if (!pair.starts_with('['))
        return pair.find(':') == colon && pair.find_first_of("[]") == std::string_view::npos;
    const std::size_t end = pair.find(']');
    return end != std::string_view::npos && end + 1 == colon &&
           pair.find('[', 1) == std::string_view::npos &&
           pair.find(']', end + 1) == std::string_view::npos;
}

}  // namespace

void check_iscsi_volume(const json::object& source, const std::string& field,
                        FieldErrors& field_errors) {
    const auto check_name = [&](std::string_view name, const std::string& at) {
        if (const std::string_view problem = iscsi_name_problem(name); !problem.empty())
            field_errors.push_back(invalid_value(at, json::value(name), problem));
    };
    if (const std::string_view name = string_at(source, "iqn"); !name.empty())
        check_name(name, field + ".iqn");
    check_range(source, "lun", 0, kMostLun, field, field_errors);
    if ((bool_at(source, "chapAuthDiscovery") || bool_at(source, "chapAuthSession")) &&
        object_at(source, "secretRef") == nullptr)
        field_errors.push_back(required(field + ".secretRef"));
    if (source.contains("initiatorName"))
        check_name(string_at(source, "initiatorName"), field + ".initiatorname");
}

void check_fc_volume(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    const std::vector<std::string> targets = strings_at(source, "targetWWNs");
    const bool by_id = !strings_at(source, "wwids").empty();
    if (targets.empty()) {
        if (!by_id)
            field_errors.push_back(required(
                field + ".targetWWNs", "must specify either targetWWNs or wwids, but not both"));
        return;
    }
    if (by_id)
        field_errors.push_back(
            invalid_text(field + ".targetWWNs", fmt::format("[]string{{{}}}", go_texts(targets)),
                         "targetWWNs and wwids can not be specified simultaneously", Shown::kBare));
    if (!source.contains("lun"))
        field_errors.push_back(
            required(field + ".lun", "lun is required if targetWWNs is specified"));
    else
        check_range(source, "lun", 0, kMostLun, field, field_errors);
}

void check_quobyte_volume(const json::object& source, const std::string& field,
                          FieldErrors& field_errors) {
    constexpr std::string_view kPairs =
        "must be a host:port pair or multiple pairs separated by commas";
    const std::string_view registry = string_at(source, "registry");
    if (registry.empty()) {
        field_errors.push_back(required(field + ".registry", kPairs));
    } else if (string_at(source, "tenant").size() > kMostTenant) {
        field_errors.push_back(required(
            field + ".tenant", "must be a UUID and may not exceed a length of 64 characters"));
    } else {
        // Upstream repeats itself for each wrong pair; there may be very many.
        std::string_view rest = registry;
        while (true) {
            const std::size_t comma = rest.find(',');
            if (!is_host_and_port(rest.substr(0, comma))) {
                field_errors.push_back(
                    invalid_value(field + ".registry", json::value(registry), kPairs));
                break;
            }
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
}

void check_azure_disk_volume(const json::object& source, const std::string& field,
                             FieldErrors& field_errors) {
    const std::string_view uri = string_at(source, "diskURI");
    const std::string_view kind = string_at(source, "kind");
    check_choice(source, "cachingMode", {"None", "ReadOnly", "ReadWrite"}, field, field_errors);
    check_choice(source, "kind", {"Dedicated", "Managed", "Shared"}, field, field_errors);
    if (kind == "Managed" && !uri.starts_with("/subscriptions/"))
        field_errors.push_back(
            not_supported(field + ".diskURI", uri,
                          {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                           "microsoft.compute/disks/{disk-id}"}));
    if (source.contains("kind") && kind != "Managed" && !uri.starts_with("https://"))
        field_errors.push_back(not_supported(field + ".diskURI", uri,
                                             {"https://{account-name}.blob.core.windows.net/"
                                              "{container-name}/{disk-name}.vhd"}));
}

void check_flex_volume(const json::object& source, const std::string& field,
                       FieldErrors& field_errors) {
    for (const auto& entry : child(source, "options")) {
        const std::string_view key = entry.key();
        const std::string domain = "." + lower(key.substr(0, key.find('/')));
        if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io"))
            field_errors.push_back(
                invalid_value(fmt::format("{}.options[{}]", field, key), json::value(key),
                              "kubernetes.io and k8s.io namespaces are reserved"));
    }
}

void check_storageos_volume(const json::object& source, const std::string& field,
                            FieldErrors& field_errors) {
    if (const std::string_view name = string_at(source, "volumeName"); !name.empty())
        check_dns_label(name, field + ".volumeName", field_errors);
    if (const std::string_view space = string_at(source, "volumeNamespace"); !space.empty())
        check_dns_label(space, field + ".volumeNamespace", field_errors);
}

void check_csi_volume(const json::object& source, const std::string& field,
                      FieldErrors& field_errors) {
    const std::string_view driver = string_at(source, "driver");
    const std::string at = field + ".driver";
    if (driver.empty()) field_errors.push_back(required(at));
    if (driver.size() > kMostDriverName) field_errors.push_back(too_long(at, kMostDriverName));
    check_dns_subdomain(lower(driver), at, field_errors, driver);
    const json::object* secret = object_at(source, "nodePublishSecretRef");
    if (secret == nullptr) return;
    if (const std::string_view name = string_at(*secret, "name"); name.empty())
        field_errors.push_back(required(field + ".nodePublishSecretRef.name"));
    else
        check_dns_subdomain(name, field + ".name", field_errors);
}

void check_flocker_volume(const json::object& source, const std::string& field,
                          FieldErrors& field_errors) {
    const std::string_view name = string_at(source, "datasetName");
    const bool by_id = !string_at(source, "datasetUUID").empty();
    if (name.empty() && !by_id)
        field_errors.push_back(required(field, "one of datasetName and datasetUUID is required"));
    if (!name.empty() && by_id)
        field_errors.push_back(
            invalid_value(field, json::value("resource"),
                          "datasetName and datasetUUID can not be specified simultaneously"));
    if (name.find('/') != std::string_view::npos)
        field_errors.push_back(
            invalid_value(field + ".datasetName", json::value(name), "must not contain '/'"));
}

}  // namespace muster::apiserver
