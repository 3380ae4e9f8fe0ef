#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// The resources that are served now: the built-in ones, and those of established
/// CustomResourceDefinitions. Thread: the server's loop.
class Registry {
  public:
    void add(DefPtr def);
    /// Removes all versions of a resource ("pytorchjobs.kubeflow.org").
    void remove(std::string_view qualified);

    bool serves(std::string_view api_version) const;
    /// Null if it is not served.
    DefPtr find(std::string_view api_version, std::string_view plural) const;
    DefPtr find_kind(std::string_view api_version, std::string_view kind) const;
    /// One definition (of the storage version) for each resource, in the order of their names.
    const std::map<std::string, DefPtr, std::less<>>& resources() const { return resources_; }
    /// All versions, in any group, in which the objects of `def` are served, including `def`.
    std::vector<DefPtr> served_as(const ResourceDef& def) const;
    /// The served definitions by apiVersion, ordered by plural.
    std::map<std::string, std::vector<DefPtr>> served() const;
    /// One of the kinds that are served in that version; null: none is.
    DefPtr any_of(std::string_view api_version) const;
    /// Raised by every change, so that documents made from the definitions can be cached.
    std::uint64_t generation() const { return generation_; }

  private:
    using ByName = std::map<std::string, DefPtr, std::less<>>;

    std::map<std::string, ByName, std::less<>> by_plural_;  // by apiVersion
    std::map<std::string, ByName, std::less<>> by_kind_;
    ByName resources_;
    std::uint64_t generation_ = 0;
};

}  // namespace muster::apiserver
