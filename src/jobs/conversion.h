#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kube/values/json.h"

namespace muster::jobs {

class JobKind;

/// A version of a resource that is not served: its manifests are read as those of a version that
/// is.
struct OldVersion {
    std::string api_version;
    std::string kind;
    const JobKind* becomes = nullptr;
};
const std::vector<OldVersion>& old_versions();
const OldVersion* find_old_version(std::string_view api_version, std::string_view kind);

/// All versions that an object of this kind can be converted to, the stored one first and the old
/// ones last; empty for a kind that is not a job's.
std::vector<std::string> versions_of(std::string_view kind);

/// That a field of the converted object holds what stood elsewhere in the given one.
struct Origin {
    std::string field;  ///< of the converted object; with everything inside of it
    std::string from;   ///< of the given one
};
/// Where the given object has what the converted one has at `field`.
std::string origin_of(const std::vector<Origin>& origins, std::string_view field);

struct Conversion {
    json::value object;  ///< as it was given, where there are problems
    /// What became of which field of the given object, in words; the reason is "Converted".
    std::vector<Cause> changes;
    std::vector<Cause> problems;  ///< why it can't be; fields of the given object
    std::vector<Origin> origins;
};

/// The same object in another version of its kind; versions_of() has both. Pure. What the way back
/// would not give by itself is kept in an annotation, so that there and back is the same text; and
/// what was edited meanwhile stays edited.
Conversion convert(const json::value& object, std::string_view api_version);

namespace annotations {
/// On a converted object: per version what a conversion back to it needs, as JSON.
inline constexpr std::string_view kConvertedFrom = "muster.dev/converted-from";
}  // namespace annotations

}  // namespace muster::jobs
