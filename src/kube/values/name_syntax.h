#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::kube {

// What names may look like: each rule of Kubernetes once, for code that checks names and for code
// that makes them. The caller words the refusal.

inline constexpr std::size_t kMaxLabelName =
    63;  ///< of a DNS label, and of a label's name or value
inline constexpr std::size_t kMaxSubdomain = 253;  ///< of a DNS subdomain

/// Lower-case letters, digits and '-', a letter or digit at both ends, at most 63 characters
/// (RFC 1123): namespaces, containers, volumes.
bool is_dns1123_label(std::string_view text);
/// DNS labels of any length joined by '.', at most 253 characters: most objects' names.
bool is_dns1123_subdomain(std::string_view text);
/// A DNS label that starts with a letter (RFC 1035): services, the words of a custom resource.
bool is_dns1035_label(std::string_view text);
/// The same whatever their lengths, for names whose length counts together with what follows them,
/// or is a problem of its own.
bool has_dns1123_form(std::string_view text);
bool has_subdomain_form(std::string_view text);
bool has_dns1035_form(std::string_view text);
/// Letters, digits, '-', '_' and '.', with a letter or digit at both ends: what labels hold.
bool has_label_form(std::string_view text);
/// A container port's name: at most 15 of [a-z0-9-], with at least one letter, no '-' at either end
/// and no two in a row (the services of IANA).
bool is_port_name(std::string_view text);

/// A variable of a container: printable ASCII characters other than '='.
bool is_env_name(std::string_view text);
/// A resource that Kubernetes itself knows ("cpu", "kubernetes.io/batch-cpu"). Any other
/// ("nvidia.com/gpu") is a device, which can't be overcommitted.
bool is_native_resource(std::string_view name);

/// What is wrong with a key of labels or annotations, or "". `[prefix/]name`: the prefix is a DNS
/// subdomain; the name is up to 63 letters, digits, '-', '_' and '.', with a letter or digit at
/// both ends.
std::string label_key_problem(std::string_view key);
/// What is wrong with a label's value, or "": it must be empty, or like the name of a key.
std::string label_value_problem(std::string_view value);

}  // namespace muster::kube
