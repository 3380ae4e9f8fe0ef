#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace muster::sim {

/// Which ScalePlans the statuses of jobs say that they have executed. Says what is wrong with that:
///
/// - a plan, which is one generation of its object, is executed twice, by one job or by two, or when
///   it had already ended;
/// - it is executed while the one before it is still under way;
/// - what it asks for changes afterwards, otherwise than by an edit that ends a part of it;
/// - it has succeeded and was not executed, or its end changes.
///
/// Thread: one loop.
class ExecutedPlans {
  public:
    /// A ScalePlan was made, changed or removed.
    std::vector<std::string> plan_changed(const store::StoreChange& change);
    /// A job was made or changed.
    std::vector<std::string> job_changed(const json::value& job);
    /// "namespace/name" of those that are there and have not ended, but for masters' plans that ask for
    /// nothing.
    std::vector<std::string> open() const;

  private:
    struct Plan {
        std::string title;
        std::int64_t generation = 0;
        std::int64_t told = 0;  ///< the generation that its phase is about
        std::string phase = {};
        bool gone = false;
        bool idle = false;  ///< a master's, which asks for nothing

        bool ended(std::int64_t of_generation) const;
    };
    /// By uid and generation.
    using Id = std::pair<std::string, std::int64_t>;
    struct Execution {
        Id plan;
        std::map<std::string, std::int64_t> numbers = {};  ///< of replicas, by type
    };

    std::string title_of(const Id& plan) const;
    std::vector<std::string> begun(const Id& plan, const std::optional<Execution>& before);

    std::map<std::string, Plan> plans_;                    ///< by uid; those that are gone, too
    std::map<std::string, std::optional<Execution>> now_;  ///< the last one, by the job's uid
    std::set<Id> executed_;
};

}  // namespace muster::sim
