#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

inline constexpr std::string_view kAutoManaged = "kube-aggregator.kubernetes.io/automanaged";
inline constexpr std::string_view kOnStart = "onstart";
inline constexpr std::string_view kAlways = "true";

/// The APIService of a version that this server serves; `def`: one of its kinds. Pure.
json::object local_api_service(const ResourceDef& def);

/// The name of the APIService of a version: VERSION.GROUP.
std::string api_service_name(std::string_view group, std::string_view version);
/// The apiVersion of an APIService by its name.
std::string api_version_of(std::string_view api_service_name);

/// What is to be done about an APIService that this server keeps. Pure.
enum class Registration { kLeave, kCreate, kUpdate, kDelete };
struct RegistrationState {
    const json::object* wanted = nullptr;   ///< null: this server does not serve the version
    const json::object* current = nullptr;  ///< null: there is none
    bool was_at_start = false;
    bool synced = false;  ///< it was looked at since the start
};
Registration decide_registration(const RegistrationState& state);

}  // namespace muster::apiserver
