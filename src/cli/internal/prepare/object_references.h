#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "manifest/check.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

/// A ConfigMap or a Secret, or a key of one, without which a pod does not start.
struct ObjectReference {
    std::string kind;
    std::string name;
    std::string key;    ///< empty: the object, whatever its keys
    std::string field;  ///< that names the object or the key

    friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

/// The references of volumes and variables, without optional ones. Malformed parts are left out.
std::vector<ObjectReference> object_references(const manifest::PodSpecRef& pod);

/// The same with optional ones.
std::vector<ObjectReference> all_object_references(const manifest::PodSpecRef& pod);

/// The ConfigMaps and Secrets that a run has: those of its manifest, and what its jobs make.
class KnownObjects {
  public:
    explicit KnownObjects(const std::vector<manifest::CheckedObject>& objects);

    /// Why a pod of the namespace waits for the reference; nullopt if it is there.
    std::optional<std::string> missing(const ObjectReference& reference,
                                       const std::string& namespace_) const;

  private:
    using Id = std::tuple<std::string, std::string, std::string>;  ///< kind, namespace, name
    /// nullopt: the keys are not known before the job makes it.
    std::map<Id, std::optional<std::set<std::string>>> keys_;
};

}  // namespace muster::cli
