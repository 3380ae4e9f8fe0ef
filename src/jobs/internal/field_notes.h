#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/schema/schema.h"

namespace muster::jobs {

/// What the OpenAPI schema says about a member beyond its name and type. A function beside a struct
/// returns its notes, found by argument-dependent lookup:
///
///     FieldNotes field_notes(const RunPolicy*);
struct FieldNote {
    std::string_view member;  ///< as in C++: "backoff_limit"
    std::string text;         ///< what `kubectl explain` prints
    bool required = false;
    std::optional<std::int64_t> minimum = std::nullopt;
    std::optional<std::int64_t> maximum = std::nullopt;
    std::vector<std::string> values = {};  ///< the only ones allowed
    json::value default_value = nullptr;   ///< filled in by the API server; null: none
    kube::Schema::Ptr schema = nullptr;    ///< instead of that of the member's type
};
using FieldNotes = std::vector<FieldNote>;

/// Adds a member to the schema of its struct, with its note if there is one.
void add_property(kube::Schema& object, std::string_view json_name, kube::Schema::Ptr type,
                  const FieldNote* note);
/// The note of a member, or null.
const FieldNote* note_of(const FieldNotes& notes, std::string_view member);

}  // namespace muster::jobs
