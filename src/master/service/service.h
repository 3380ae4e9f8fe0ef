#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
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

/// A log line for people.
struct Notice {
    bool warns = false;
    std::string text;

    friend bool operator==(const Notice&, const Notice&) = default;
};

/// A node that could be in the first world.
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

/// What a service may know about its job, and do to it.
class ServiceHost {
  public:
    virtual ~ServiceHost() = default;

    /// Of this master.
    virtual std::uint64_t epoch() const = 0;
    /// The group rank of an agent in that generation; nullopt if it has none, or if another
    /// generation runs.
    virtual std::optional<int> rank_of(const std::string& incarnation,
                                       const Generation& generation) const = 0;

    /// The section of the job's record with that name, perhaps written by an earlier master; empty
    /// if there is none.
    virtual std::string section(const std::string& name) const = 0;
    /// Written with the rest of the record and fenced by the same epoch: agents are told nothing
    /// before. Keep it small, because agents that may run the next master have a copy. kGone: the
    /// job has ended, and its record is final.
    virtual Result<void> set_section(const std::string& name, std::string bytes) = 0;

    /// Excludes these nodes. The first one is charged; the others belong to the same incident. The
    /// job fails if too few remain. `by`: such as "the node check".
    virtual void exclude(const std::string& by, FailureKind kind,
                         const std::vector<UnfitNode>& nodes, Instant now, WallTime wall) = 0;
    /// How many nodes the job is to have by now, whatever its agents were told at their start; from
    /// the next world on, which this may lead to. Without effect where the master has terms of its
    /// own. Call ServiceContext::wake() after it.
    virtual void wants_nodes(int nodes) = 0;
    /// Slots whose agent is not the first that was given them: it follows another, or takes over from
    /// one that still runs. An agent that claims one of these waits for as long as the other is
    /// there; elsewhere two agents with one slot are a mistake, and the later one is refused. Call
    /// ServiceContext::wake() after it.
    virtual void expects_successors(std::set<Slot> slots) = 0;
    /// How many parameter servers the job is to have by now, whatever their pods were told at their
    /// start. Call ServiceContext::wake() after it.
    virtual void wants_servers(int servers) = 0;
    /// nullopt: as many as their pods were told.
    virtual std::optional<int> wanted_servers() const = 0;
    /// For people: what the job waits for; empty while a world runs or the job has ended.
    virtual std::string waits_for() const = 0;
    /// Logged once everything decided together with it is on record.
    virtual void say(Notice notice) = 0;
};

struct ServiceContext {
    asio::any_io_executor executor;
    ServiceHost& job;  ///< valid while the service is called
    /// Returns when the record in its current state has been written. Await it before answering a
    /// call whose effect must outlive this master.
    std::function<Task<Result<void>>()> recorded = {};
    /// Makes the master look at its job again: for changes outside of a service's hooks.
    std::function<void()> wake = {};
};

class Service;
using ServiceFactory = std::function<std::unique_ptr<Service>(const ServiceContext& context)>;

/// A part of a master that agents use besides joining and reporting. The master and its job talk to
/// it only through this interface, so they know no service by name. A new service is a room of this
/// folder, and a line in service_registry.cc.
///
/// Each master process has one instance of each, which outlives the server. Every hook has a
/// default that does nothing. Time is a parameter; a service waits only in its calls. Thread: the
/// loop.
class Service {
  public:
    Service() = default;
    virtual ~Service() = default;
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// Registers its calls, streams and notes, before the server serves.
    virtual void serve(rpc::Server& /*server*/) {}

    // ---- events

    /// The job's terms are known, or are others from the next world on. Only where the master was
    /// told none and has them from its nodes.
    virtual void has_terms(const Terms& /*terms*/) {}
    /// An agent has joined, for the first time or again.
    virtual void joined(const Hello& /*hello*/) {}
    /// The job continues without this agent's node, because of what was found there. It counts until
    /// that time; nullopt: as long as there is the job.
    virtual void excluded(const Hello& /*hello*/, const std::optional<WallTime>& /*until*/) {}
    /// The state of a joined agent: called for each join and report, and once more when a new
    /// master has found its world, so the same state may come twice.
    virtual void reported(const std::string& /*incarnation*/, const Report& /*report*/) {}
    /// The agent has left, or did not come back in time.
    virtual void lost(const std::string& /*incarnation*/) {}
    /// Another world or attempt runs; null if none does. Called when the decision is on record:
    /// what no agent may be told yet does not run yet. `why`: why the previous one has ended.
    virtual void world_changed(const World* /*world*/, const std::string& /*why*/) {}

    // ---- time

    /// Called after each event and when wake_at() has come. True if directives have changed.
    virtual bool advance(Instant /*now*/, WallTime /*wall*/) { return false; }
    /// Instant::max(): never without an event.
    virtual Instant wake_at() const { return Instant::max(); }

    // ---- before the first world

    /// While true, no first world is made.
    virtual bool holds_first_world() const { return false; }
    /// A first world of these nodes, in order of slots, would be made now if no service held it
    /// back. Called once.
    virtual void first_world_is_due(const std::vector<Candidate>& /*nodes*/, Instant /*now*/) {}
    /// For agents that wait meanwhile; empty if there is nothing to say.
    virtual std::string why_it_waits() const { return {}; }
    /// What an agent is to do instead of waiting.
    virtual std::optional<Directive::What> directive_for(const std::string& /*incarnation*/) const {
        return std::nullopt;
    }
};

}  // namespace muster::master
