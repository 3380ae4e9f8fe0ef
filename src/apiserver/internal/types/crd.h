#pragma once

#include <boost/json/object.hpp>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/internal/expressions/schema_rules.h"
#include "apiserver/resources/resource_def.h"
#include "kube/schema/schema_pool.h"

namespace muster::apiserver {

inline constexpr std::string_view kCrdCleanupFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

/// The schemas that the validation of a CustomResourceDefinition parsed last, with their rules, so that
/// serving a new one does not read them again. They belong to the object with that uid only until it is served:
/// before that, only its creator can have it validated. Any thread: large definitions are validated
/// beside the loop, on which others are served meanwhile.
class ReadDefinition {
  public:
    struct Version {
        kube::Schema::Ptr schema;  ///< null: not parsed
        std::shared_ptr<const SchemaRules> rules;
    };
    /// As spec.versions.
    using Versions = std::vector<Version>;

    void keep(std::string uid, Versions versions);
    /// Empty: they are of another object.
    Versions of(std::string_view uid) const;
    /// What was kept is of an older state of the object.
    void forget();
    /// Of the schemas of all definitions.
    kube::SchemaPool& parts() { return parts_; }

  private:
    mutable std::mutex mutex_;  ///< of uid_ and versions_
    std::string uid_;
    Versions versions_;
    kube::SchemaPool parts_;
};

/// `last` outlives the rules.
Strategy crd_strategy(ReadDefinition& last);

/// The served versions of a CustomResourceDefinition. It was validated when it was written; `read`
/// is used if it belongs to this object.
std::vector<DefPtr> definitions_of(const json::object& crd, ReadDefinition& read);

/// Whether two states of a stored CustomResourceDefinition declare the same versions. Every change
/// of its spec raises its generation, and so does a deletion.
bool declares_the_same(const json::object& crd, const json::object& before);

}  // namespace muster::apiserver
