#include "apiserver/internal/pod_validation/windows_options.h"

#include <algorithm>

#include "apiserver/internal/pod_validation/name_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostSpecBytes = 64 * 1024;
constexpr std::size_t kMostDomain = 255;
constexpr std::size_t kMostUser = 104;
constexpr std::size_t kMostNetBios = 15;
constexpr std::size_t kMostDnsLabel = 63;

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_net_bios_name(std::string_view name) {
    const auto characters = std::ranges::count_if(
        name, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return !name.empty() && name.front() != '.' &&
           static_cast<std::size_t>(characters) <= kMostNetBios &&
           name.find_first_of("\\/:*?\"<>|") == std::string_view::npos;
}

bool is_dns_name(std::string_view name) {
    while (true) {
        const std::size_t dot = name.find('.');
        const std::string_view label = name.substr(0, dot);
        if (label.empty() || label.size() > kMostDnsLabel || !is_alphanumeric(label.front()) ||
            !is_alphanumeric(label.back()) ||
            !std::ranges::all_of(label, [](char c) { return is_alphanumeric(c) || c == '-'; }))
            return false;
        if (dot == std::string_view::npos) return true;
        name.remove_prefix(dot + 1);
    }
}

/// `[DOMAIN\]USER`.
std::vector<std::string_view> user_name_problems(std::string_view name) {
    if (name.empty()) return {"runAsUserName cannot be an empty string"};
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; };
    if (std::ranges::any_of(name, is_control))
        return {"runAsUserName cannot contain control characters"};
    const auto backslashes = std::ranges::count(name, '\\');
    if (backslashes > 1) return {"runAsUserName cannot contain more than one backslash"};
    const std::size_t split = name.find('\\');
    const std::string_view user = backslashes == 0 ? name : name.substr(split + 1);
    const std::string_view domain = backslashes == 0 ? std::string_view() : name.substr(0, split);
    std::vector<std::string_view> problems;
    if (domain.size() > kMostDomain)
        problems.emplace_back("runAsUserName's Domain length must be under 256 characters");
    if (backslashes > 0 && !is_net_bios_name(domain) && !is_dns_name(domain))
        problems.emplace_back(
            "runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    if (user.empty())
        problems.emplace_back("runAsUserName's User cannot be empty");
    else if (user.size() > kMostUser)
        problems.emplace_back("runAsUserName's User length must not be longer than 104 characters");
    if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos)
        problems.emplace_back("runAsUserName's User cannot contain only periods or spaces");
    if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos)
        problems.emplace_back(
            "runAsUserName's User cannot contain the following characters: "
            "\"/\\:;|=,+*?<>@[]");
    return problems;
}

/// Whether a security context says that this is a process of the host; null: neither.
const json::value* host_process_of(const json::object& container_or_pod) {
    const json::object& context = child(container_or_pod, "securityContext");
    const json::value* says = child(context, "windowsOptions").if_contains("hostProcess");
    return says != nullptr && says->is_bool() ? says : nullptr;
}

}  // namespace

void check_windows_options(const json::object& context, const std::string& in,
                           FieldErrors& field_errors) {
    const json::object* options = object_at(context, "windowsOptions");
    if (options == nullptr) return;
    const std::string field = in + ".windowsOptions";
    if (options->contains("gmsaCredentialSpecName"))
        check_dns_subdomain(string_at(*options, "gmsaCredentialSpecName"),
                            field + ".gmsaCredentialSpecName", field_errors);
    if (const json::value* spec = options->if_contains("gmsaCredentialSpec")) {
        const std::size_t bytes = string_at(*options, "gmsaCredentialSpec").size();
        if (bytes == 0)
            field_errors.push_back(invalid_value(field + ".gmsaCredentialSpec", *spec,
                                                 "gmsaCredentialSpec cannot be an empty string"));
        else if (bytes > kMostSpecBytes)
            field_errors.push_back(invalid_value(field + ".gmsaCredentialSpec", *spec,
                                                 "gmsaCredentialSpec size must be under 64 KiB"));
    }
    if (const json::value* user = options->if_contains("runAsUserName"))
        for (const std::string_view problem :
             user_name_problems(string_at(*options, "runAsUserName")))
            field_errors.push_back(invalid_value(field + ".runAsUserName", *user, problem));
}

void check_host_processes(const json::object& spec, const std::string& in,
                          FieldErrors& field_errors) {
    const json::value* of_pod = host_process_of(spec);
    std::size_t containers = 0;
    std::size_t processes = 0;
    for (const char* key : {"initContainers", "containers", "ephemeralContainers"}) {
        const auto listed = objects_at(spec, key);
        containers += listed.size();
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const json::value* own = host_process_of(*listed[i]);
            if (of_pod != nullptr && own != nullptr && *of_pod != *own)
                field_errors.push_back(invalid_value(
                    fmt::format("{}.{}[{}].securityContext.windowsOptions.hostProcess", in, key, i),
                    *own,
                    fmt::format("pod hostProcess value must be identical if both are specified, "
                                "was {}",
                                of_pod->get_bool())));
            const json::value* says = own != nullptr ? own : of_pod;
            if (says != nullptr && says->get_bool()) ++processes;
        }
    }
    if (processes == 0) return;
    if (processes != containers)
        field_errors.push_back(invalid_value(in, json::value(""),
                                             "If pod contains any hostProcess containers then all "
                                             "containers must be HostProcess containers"));
    if (!bool_at(spec, "hostNetwork"))
        field_errors.push_back(
            invalid_value(in + ".hostNetwork", json::value(false),
                          "hostNetwork must be true if pod contains any hostProcess containers"));
}

}  // namespace muster::apiserver
