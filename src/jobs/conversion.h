#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/values/json.h"

namespace muster::jobs {

class JobKind;

/// A version of a resource that is not served: its manifests are read as those of a served version.
struct OldVersion {
    std::string api_version;
    std::string kind;
    const JobKind* becomes = nullptr;
};
const std::vector<OldVersion>& old_versions();
const OldVersion* find_old_version(std::string_view api_version, std::string_view kind);

/// All versions that an object of this kind can be converted to, with the stored one first and the
/// old ones last; empty if it is not a kind of job.
std::vector<std::string> versions_of(std::string_view kind);

/// Says that a field of the converted object holds a value from elsewhere in the given one.
struct Origin {
    std::string field;  ///< of the converted object, with everything inside it
    std::string from;   ///< of the given one
};
/// The place in the given object of the converted object's `field`.
std::string origin_of(const std::vector<Origin>& origins, std::string_view field);

struct Conversion {
    json::value object;  ///< as it was given, if there are problems
    /// What happened to which field of the given object, in words; the reason is "Converted".
    std::vector<Cause> changes;
    std::vector<Cause> problems;  ///< why it can't be converted; fields of the given object
    std::vector<Origin> origins;
};

/// The same object in another version of its kind; versions_of() has both. Pure. What converting
/// back would lose is kept in an annotation, so that the round trip gives the same text; edits made
/// in between are kept.
Conversion convert(const json::value& object, std::string_view api_version);

namespace annotations {
/// On a converted object: for each version, what a conversion back to it needs, as JSON.
inline constexpr std::string_view kConvertedFrom = "muster.dev/converted-from";
}  // namespace annotations

}  // namespace muster::jobs
