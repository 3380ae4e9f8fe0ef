#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "master/service/service.h"
#include "master/wishes/wishes.h"

namespace muster::master_process {

/// The object in which a master tells its wishes, and the job that it is about.
struct PlanPlace {
    kube::ResourceType type;
    std::string namespace_;
    std::string name;
    std::string job;
};

/// Writes the wishes of a master into its ScalePlan by compare-and-set, and reads what has become of
/// them. The object exists already: the operator makes it, and the master may do nothing but get and
/// update it. So it can't be followed by a watch, and is read at growing intervals as long as a wish is
/// open; without one there are no requests.
///
/// A wish that is not written yet is replaced by the next one. While the API is away, or the object is
/// not there, it waits; each trouble is told, the same one once a minute. A plan that the operator has
/// refused is told once. A pod is asked to move once: after a refusal the rest of the wish is written
/// without that.
///
/// Client, clock and the group of start() outlive this. Thread: the client's.
class PlanObject {
  public:
    PlanObject(const asio::any_io_executor& executor, kube::Client& client, Clock& clock,
               PlanPlace place)
        : client_(client), clock_(clock), place_(std::move(place)), changed_(executor) {}

    /// To be called once.
    void start(TaskGroup& tasks);
    /// What passes each wish of a master's job on to this, which outlives it.
    std::unique_ptr<master::Service> service(const master::ServiceContext& context);

  private:
    Task<void> keep();
    Task<Result<bool>> step(master::Wish wish);
    void put(master::Wish wish);
    void tell(const Error& error);
    void note(std::int64_t generation, const std::string& why_refused);

    kube::Client& client_;
    Clock& clock_;
    PlanPlace place_;
    Signal changed_;
    std::optional<master::Wish> wish_;
    std::uint64_t wishes_ = 0;  ///< so many so far
    std::uint64_t settled_ =
        0;  ///< of these: the last one of which there is nothing to do any more
    std::set<std::string> asked_;  ///< pods, to move
    std::optional<std::int64_t> told_generation_;
    std::string said_;
    Instant say_again_;
};

}  // namespace muster::master_process
