#pragma once

#include <string>

#include "base/time/clock.h"
#include "master/service/service.h"

namespace muster::master_process {

/// Logs what a master decides, for people who read the log of its pod: which world runs and why
/// another one ended, and what the job waits for. What changes all the time is said ever more
/// seldom, down to once in five minutes.
class DecisionLog final : public master::Service {
  public:
    explicit DecisionLog(master::ServiceHost& job) : job_(job) {}

    void has_terms(const master::Terms& terms) override;
    void world_changed(const master::World* world, const std::string& why) override;
    bool advance(Instant now, WallTime wall) override;

  private:
    master::ServiceHost& job_;
    Duration pause_ = {};  ///< until waiting is mentioned again
    Instant say_next_;
    std::string said_;
};

/// "generation 3 runs, 4 workers on 2 nodes: 10.0.0.7 (slot 0), 10.0.0.8 (slot 1)". Many nodes are not
/// all listed.
std::string world_text(const master::World& world);

}  // namespace muster::master_process
