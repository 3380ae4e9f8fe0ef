#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "master/service/service.h"

namespace muster::master {

/// The services of one master process, as one.
class Services {
  public:
    void add(std::unique_ptr<Service> service) { all_.push_back(std::move(service)); }

    void serve(rpc::Server& server);
    void has_terms(const Terms& terms);
    void joined(const Hello& hello);
    void excluded(const Hello& hello, const std::optional<WallTime>& until);
    void reported(const std::string& incarnation, const Report& report);
    void lost(const std::string& incarnation);
    /// Notifies them if the world or the attempt differs from the last call.
    void runs(const World* world, const std::string& why);

    bool advance(Instant now, WallTime wall);
    Instant wake_at() const;

    bool hold_first_world() const;
    void first_world_is_due(const std::vector<Candidate>& nodes, Instant now);
    /// From the first service that has something to say.
    std::string why_it_waits() const;
    std::optional<Directive::What> directive_for(const std::string& incarnation) const;

  private:
    std::vector<std::unique_ptr<Service>> all_;
    std::optional<std::pair<Generation, int>> running_;  ///< with its attempt
};

}  // namespace muster::master
