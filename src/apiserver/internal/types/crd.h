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

/// The schemas that the validation of a CustomResourceDefinition parsed last, with their rules, so
/// that serving it does not read them again. Any thread: large definitions are validated beside the
/// loop, on which others are served meanwhile.
class ReadDefinition {
  public:
    struct Version {
        kube::Schema::Ptr schema;  ///< null: not parsed
        std::shared_ptr<const SchemaRules> rules;
    };
    /// As spec.versions.
    using Versions = std::vector<Version>;

    /// `spec`: the JSON text of the definition's spec.
    void keep(std::string spec, Versions versions);
    /// Empty: they are of another spec.
    Versions of(std::string_view spec) const;
    /// Of the schemas of all definitions.
    kube::SchemaPool& parts() { return parts_; }

  private:
    mutable std::mutex mutex_;  ///< of spec_ and versions_
    std::string spec_;
    Versions versions_;
    kube::SchemaPool parts_;
};

/// `last` outlives the rules.
Strategy crd_strategy(ReadDefinition& last);

/// The served versions of a CustomResourceDefinition. It was validated when it was written: what
/// `read` has of a spec with this text is not read again.
std::vector<DefPtr> definitions_of(const json::object& crd, ReadDefinition& read,
                                   std::string_view spec_text = {});

/// Whether two states of a stored CustomResourceDefinition declare the same versions. Every change
/// of its spec raises its generation, and so does a deletion.
bool declares_the_same(const json::object& crd, const json::object& before);

}  // namespace muster::apiserver
