#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "master/service/vocabulary.h"

namespace muster::rpc {
class Server;
}

namespace muster::master {

/// A line for people.
struct Notice {
    bool warns = false;
    std::string text;

    friend bool operator==(const Notice&, const Notice&) = default;
};

/// A node that the first world could be made of.
struct Candidate {
    Slot slot = 0;
    Hello hello;
};

/// A node that a service found unfit for the job.
struct UnfitNode {
    std::string incarnation;
    Slot slot = 0;
    std::string why;
};

/// What a service may know of its job, and do to it.
class ServiceHost {
  public:
    virtual ~ServiceHost() = default;

    /// Of this master.
    virtual std::uint64_t epoch() const = 0;
    /// The group rank of an agent in that generation; nothing: it has none, or another runs.
    virtual std::optional<int> rank_of(const std::string& incarnation,
                                       const Generation& generation) const = 0;

    /// What the job's record has under that name, also from a master before this one; empty:
    /// nothing.
    virtual std::string section(const std::string& name) const = 0;
    /// It is written with the rest of the record, fenced by the same epoch: nothing is told to
    /// agents before. To be kept small, since agents that may host the next master have a copy.
    /// kGone: the job has ended, and its record is final.
    virtual Result<void> set_section(const std::string& name, std::string bytes) = 0;

    /// These nodes are left out. The first is charged; the others belong to the same incident. The
    /// job fails if too few remain. `by`: "the node check".
    virtual void exclude(const std::string& by, FailureKind kind,
                         const std::vector<UnfitNode>& nodes, Instant now, WallTime wall) = 0;
    /// Logged once all that is decided with it is on record.
    virtual void say(Notice notice) = 0;
};

struct ServiceContext {
    asio::any_io_executor executor;
    ServiceHost& job;  ///< there as long as the service is called
    /// Ends when the record as it is now has been written. To be awaited before a call is answered
    /// whose effect has to outlive this master.
    std::function<Task<Result<void>>()> recorded = {};
    /// The master looks at its job again: for what changes outside of the hooks of a service.
    std::function<void()> wake = {};
};

class Service;
using ServiceFactory = std::function<std::unique_ptr<Service>(const ServiceContext& context)>;

/// A part of a master that agents use besides joining and reporting: the master's shell and its
/// job talk to it by this interface alone, so they know no service by name. A new one is a room of
/// this folder, and a line in service_registry.cc.
///
/// One life of a master has one of each, which outlives the server. Every hook has a default that
/// does nothing. Time is a parameter; a service waits only in its calls. Thread: the loop.
class Service {
  public:
    Service() = default;
    virtual ~Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// Registers its calls, streams and notes. Before the server serves.
    virtual void serve(rpc::Server& /*server*/) {}

    // ---- what happens

    /// What is so with an agent that is there: with each join and report, and once more when a new
    /// master has found its world. So it may be told twice.
    virtual void reported(const std::string& /*incarnation*/, const Report& /*report*/) {}
    /// The agent has left, or does not come back in time.
    virtual void lost(const std::string& /*incarnation*/) {}
    /// Another world or attempt runs; null: none does. Called when the decision is on record, so
    /// what nobody may be told yet does not run yet. `why`: the one before has ended.
    virtual void world_changed(const World* /*world*/, const std::string& /*why*/) {}

    // ---- time

    /// After each event, and when wake_at() has come. True: other directives hold than before.
    virtual bool advance(Instant /*now*/, WallTime /*wall*/) { return false; }
    /// Instant::max(): never without an event.
    virtual Instant wake_at() const { return Instant::max(); }

    // ---- before the first world

    /// No first world is made while this is so.
    virtual bool holds_first_world() const { return false; }
    /// One would be made now if no service held it: of these, by slot. Once.
    virtual void first_world_is_due(const std::vector<Candidate>& /*nodes*/, Instant /*now*/) {}
    /// For agents that wait meanwhile; empty: it has nothing to say.
    virtual std::string why_it_waits() const { return {}; }
    /// What an agent that would wait is to do instead.
    virtual std::optional<Directive::What> directive_for(const std::string& /*incarnation*/) const {
        return std::nullopt;
    }
};

}  // namespace muster::master
