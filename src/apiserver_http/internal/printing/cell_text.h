#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/objects/label_selection.h"
#include "base/time/clock.h"
#include "kube/objects/age.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

// How single values are written in a cell.

inline constexpr std::string_view kUnsetText = "<unset>";
inline constexpr std::string_view kUnknownText = "<unknown>";

using kube::age_text;
using kube::duration_text;
using kube::span_between;
/// The time since an object was created.
std::string age_of(const json::object& object, WallTime now);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",");
/// Joins at most `shown` parts and says how many more there are; `empty` if there are none.
std::string shortened(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view empty);
inline std::string or_else(std::string_view text, std::string_view instead) {
    return std::string(text.empty() ? instead : text);
}

struct ContainerTexts {
    std::string names;
    std::string images;
};
/// For the containers of the pod template at `spec.template`.
ContainerTexts template_containers(const json::object& spec);

}  // namespace muster::apiserver_http
