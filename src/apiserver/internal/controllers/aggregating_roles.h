#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/values/json.h"

namespace muster::apiserver {

/// The ClusterRoles by their labels, and the aggregated ones by what they ask of their parts. A role
/// that changes concerns those that ask for one of its labels; to look at all others for each change
/// would be a product of two numbers that clients choose. Thread: the server's loop.
class AggregatingRoles {
  public:
    /// What the role is now; null: it is gone.
    void put(const std::string& name, const json::object* role);
    /// Adds the names of those of which the role may be a part.
    void add_wholes_of(const json::object& role, std::set<std::string>& names) const;
    /// The names of its possible parts; nullopt: any role may be one.
    std::optional<std::set<std::string>> parts_of(const std::string& whole) const;

  private:
    using Label = std::pair<std::string, std::string>;
    /// Both ways between names and labels.
    struct Index {
        void put(const std::string& name, std::vector<Label> labels);
        void add_names(const Label& label, std::set<std::string>& names) const;

        std::map<Label, std::set<std::string>> names;
        std::map<std::string, std::vector<Label>> labels;
    };

    Index parts_;                        ///< all roles, by all labels
    Index wholes_;                       ///< the aggregated ones, by one label of each selector
    std::set<std::string> by_no_value_;  ///< wholes with a selector that asks for no label's value
};

}  // namespace muster::apiserver
