#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>

#include "kube/values/json.h"

namespace muster::apiserver {

/// As the store names them.
inline constexpr const char* kStorageClasses = "storageclasses.storage.k8s.io";

/// Whether claims that name no class may get this one.
bool is_default_class(const json::object& storage_class);

/// The class of claims that name none: of those that are marked for it the newest, as upstream's
/// plugin DefaultStorageClass chooses.
class DefaultStorageClass {
  public:
    /// Empty: there is none.
    std::string_view name() const;
    /// Follows the committed classes. `before` and `after` may be null.
    void follow(const json::object* before, const json::object* after);

  private:
    struct Entry {
        std::string created;
        std::string name;
        /// The newest first, of one second by name.
        bool operator<(const Entry& other) const {
            return created != other.created ? created > other.created : name < other.name;
        }
    };
    static Entry entry_of(const json::object& storage_class);

    std::set<Entry> defaults_;
};

}  // namespace muster::apiserver
