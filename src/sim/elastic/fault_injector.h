#pragma once

#include <map>
#include <string_view>

#include "sim/elastic/elastic_world.h"

namespace muster::sim::elastic {

/// What goes wrong with a simulated job: drawn at random, one at a time.
class FaultInjector {
  public:
    /// `program_fails`: its workers die with errors, as a program with mistakes does, and not only
    /// by what happens to them.
    FaultInjector(ElasticWorld& world, Rng& rng, bool program_fails)
        : world_(world), rng_(rng), program_fails_(program_fails) {}

    /// Or something that broke is mended.
    void one();
    /// All that broke is mended, and an agent is on each node that has not heard of the job's end.
    void heal_all();
    /// Agents come to nodes that have none.
    void all_come_back();

    /// How many of each there were.
    const std::map<std::string_view, int>& happened() const { return happened_; }
    Duration time(Duration most);

  private:
    bool kill_worker();
    bool kill_agent();
    bool leave();
    bool lose_node();
    bool lose_several();
    bool kill_master();
    bool second_master();
    bool cut_link();
    bool cut_late();
    bool cut_half();
    bool partition();
    bool slow_link();
    bool lose_records();
    bool jump();
    bool heal_link();
    bool heal_records();
    bool return_node();

    using Node = ElasticWorld::Node;
    Node& any_node();
    void bring_back(Node& node);
    SimulatedWorkers::Death death();

    ElasticWorld& world_;
    Rng& rng_;
    bool program_fails_;
    std::map<std::string_view, int> happened_;
};

}  // namespace muster::sim::elastic
