#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

// JSON <-> described structs (Boost.Describe).
//
// Names. A member `container_port` is the JSON field "containerPort"; a trailing '_' is dropped
// (`namespace_` is "namespace"); a word that is not the first and is one of ip, ips, id, pid, ipc
// is written IP, IPs, ID, PID, IPC (`pod_ip` is "podIP"). Where the API spells a name otherwise,
// the struct's namespace says so beside the struct, with a function found by argument-dependent
// lookup that returns "" for the members that follow the rule:
//
//     constexpr std::string_view json_name(const ElasticPolicy*, std::string_view member) {
//         return member == "rdzv_id" ? "rdzvId" : "";
//     }
//
// Types. std::string, bool, std::int32_t, std::int64_t, json::value, json::object, described
// structs, and std::optional, std::vector and std::map<std::string, _> of these. A member
// `json::object rest` collects the keys that the struct does not know and is written back.

/// JSON of a described struct. Empty strings, lists and maps, zeros, false, null values, unset
/// optionals and structs without content are left out (Go's omitempty). An optional that is set
/// and an item of a list or map are always written, so numbers and bools that must show their zero
/// are optionals.
///
/// The templates are defined in codec_impl.h and instantiated for the types of this folder in
/// codec.cc, so that a user pays nothing for Boost.Describe. A folder with structs of its own
/// includes codec_impl.h in one .cc.
template <class T>
json::value encode(const T& object);

/// Fills `object` from JSON. Every value of a wrong type is added to `problems` (reason
/// FieldValueTypeInvalid) with its field path (`spec.containers[0].ports[1].containerPort`) and
/// skipped; unknown keys go to `rest` if the struct has one and are ignored otherwise (schema.h
/// finds them). null counts as absent. An integer must be written as one: 3.0 is refused, as the
/// real API refuses it.
template <class T>
void decode_into(const json::value& value, T& object, const std::string& path,
                 std::vector<Cause>& problems);

/// The kBadRequest error whose causes are `problems`; its message lists the first ten.
Error decode_error(std::vector<Cause> problems);

/// decode_into() for a whole object; if there are problems the result is a decode_error().
template <class T>
Result<T> decode(const json::value& value) {
    T object;
    std::vector<Cause> problems;
    decode_into(value, object, {}, problems);
    if (!problems.empty()) return decode_error(std::move(problems));
    return object;
}

}  // namespace muster::kube
