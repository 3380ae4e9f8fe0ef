#pragma once

#include <boost/json/array.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kube/values/json.h"
#include "sim/world.h"

namespace muster::cli {

/// What became of each job in many runs of the same input. Of each run it keeps two numbers a job.
class RunsSummary {
  public:
    void add(const sim::SimulationOutcome& outcome);

    /// For people: of each job how it ended how often, and how long that took. Jobs by their names.
    std::string text() const;
    json::array to_json() const;

  private:
    struct Runs {
        std::uint64_t succeeded = 0;
        std::uint64_t failed = 0;
        std::uint64_t deleted = 0;
        std::uint64_t unfinished = 0;
        std::vector<double> seconds = {};  ///< of those that ended
        std::vector<double> restarts = {};
    };
    using Name = std::tuple<std::string, std::string, std::string>;  ///< namespace, name, kind

    std::map<Name, Runs> jobs_;
};

}  // namespace muster::cli
