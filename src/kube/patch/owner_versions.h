#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/patch/field_set.h"
#include "kube/patch/structured_merge.h"
#include "kube/values/json.h"

namespace muster::kube {

class Schema;

/// The versions of a kind whose versions differ in structure. An entry of managedFields names fields
/// as its own version does, so what a write changes is looked at in each version that has an entry.
class OwnerVersions {
  public:
    struct Version {
        const Schema* schema = nullptr;
        const FieldSet* ignored = nullptr;  ///< as the write's own version has it
    };
    virtual ~OwnerVersions() = default;

    /// Null for a version that the kind does not have, or that is not looked at: its entries stay.
    virtual const Version* find(std::string_view api_version) const = 0;
    /// An object in a version that find() knows. Null if it is not known yet: then what is made of
    /// it is to be thrown away.
    virtual ObjectPtr convert(const json::value& object, std::string_view api_version) = 0;
};

/// What a write does to the owners of other fields.
struct WriteEffect {
    FieldSet touched;  ///< added and modified
    FieldSet removed;
};

/// The effect of one write in the words of each version. Refers to what it is made of.
class EffectByVersion {
  public:
    /// `own`: in the version of the write. Without `versions` it is that of every version.
    EffectByVersion(WriteEffect own, std::string_view own_version, const json::value& before,
                    const json::value& after, OwnerVersions* versions);

    /// Null if nothing is known of that version.
    const WriteEffect* of(std::string_view api_version);

  private:
    std::optional<WriteEffect> seen_in(std::string_view api_version);

    WriteEffect own_;
    std::string_view own_version_;
    const json::value& before_;
    const json::value& after_;
    OwnerVersions* versions_;
    std::map<std::string, std::optional<WriteEffect>, std::less<>> others_;
};

/// Whether an entry is of another version than `api_version`.
bool has_other_versions(const json::array& entries, std::string_view api_version);

/// What an applier applied before: in another version, perhaps.
struct LastApplied {
    std::string api_version;
    FieldSet set;
};

/// The merged object without what `last` has and no one owns any more: `owned` has the sets of all
/// by their version. In `own_version`, as `merged` is; unchanged if a conversion is not known yet.
json::value prune_in_versions(const json::value& merged, std::string_view own_version,
                              const LastApplied& last,
                              const std::map<std::string, FieldSet, std::less<>>& owned,
                              OwnerVersions& versions);

/// Every object has metadata, so no one owns metadata itself.
FieldSet without_metadata_itself(FieldSet set);

}  // namespace muster::kube
