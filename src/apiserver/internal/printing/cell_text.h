#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/json.h"

namespace muster::apiserver {

// How single values are written in a cell.

inline constexpr std::string_view kNoneText = "<none>";
inline constexpr std::string_view kUnsetText = "<unset>";
inline constexpr std::string_view kUnknownText = "<unknown>";

/// A span of time in one or two units, the coarser the longer it is: 47s, 5m30s, 3h, 4d2h, 2y31d.
/// What lies more than a second in the future is <invalid>.
std::string duration_text(std::chrono::seconds span);
/// From one time to the other; both ends may be anywhere in WallTime's range.
std::chrono::seconds span_between(WallTime from, WallTime to);
/// The time since a timestamp of the API: <unknown> for none, <invalid> for what is no time.
std::string age_text(std::string_view timestamp, WallTime now);
std::string age_of(const json::object& object, WallTime now);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",");
/// Joins at most `shown` parts and says how many there are more; `empty` for none.
std::string shortened(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view empty);
inline std::string or_else(std::string_view text, std::string_view instead) {
    return std::string(text.empty() ? instead : text);
}

/// `a=b,c=d` in the order of the keys, or <none>. Null: none.
std::string labels_text(const json::object* labels);
/// A LabelSelector as kubectl's -l writes it.
std::string selector_text(const json::object* selector);

/// Of a quantity, int-or-string or number: as text. "" for null.
std::string scalar_text(const json::value* value);

struct ContainerTexts {
    std::string names;
    std::string images;
};
/// Of the containers of the pod template at `spec.template`.
ContainerTexts template_containers(const json::object& spec);

}  // namespace muster::apiserver
