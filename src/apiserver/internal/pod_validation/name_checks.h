#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

// A cause for each rule of a name that a text breaks, as upstream lists them. `field` is its path.

/// RFC 1123: lower-case letters, digits and '-'.
void check_dns_label(std::string_view text, const std::string& field, FieldErrors& field_errors);
/// Such labels joined by '.'. `shown`: the value that causes name, if it is another one.
void check_dns_subdomain(std::string_view text, const std::string& field, FieldErrors& field_errors,
                         std::optional<std::string_view> shown = std::nullopt);
/// The same with underscores, as the domains of services have.
void check_search_domain(std::string_view text, const std::string& field,
                         FieldErrors& field_errors);
void check_label_value(std::string_view text, const std::string& field, FieldErrors& field_errors);
/// `[prefix/]name`.
void check_qualified_name(std::string_view text, const std::string& field,
                          FieldErrors& field_errors);

/// How causes show a value: a text in quotes, or, if upstream has a type of its own for it, bare.
enum class Shown { kQuoted, kBare };
Cause invalid_text(const std::string& field, std::string_view text, std::string_view why,
                   Shown shown);
void check_qualified_name(std::string_view text, const std::string& field, Shown shown,
                          FieldErrors& field_errors);

}  // namespace muster::apiserver
