#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/ps_cluster.h"

namespace muster::master {

using job_protocol::PsAttendance;
using job_protocol::PsCluster;
using job_protocol::TaskVersions;
using job_protocol::VersionKind;
using job_protocol::VersionRequest;

/// What one master keeps of those who attend.
struct PsLimits {
    std::size_t attendants = 20'000;  ///< programs
    std::size_t text = 512;           ///< bytes of a type or an address
    std::int32_t servers = 1'000;
    std::int32_t places = 20'000;      ///< of those who meet
    std::int32_t number = 1'000'000;   ///< ids and ranks are below it
    std::size_t tasks = 20'000;        ///< with versions
    std::int64_t version = 1LL << 50;  ///< versions are below it
    /// A program whose connection broke may come back; a pod that ended has another after it.
    Duration grace = std::chrono::seconds(5);
    /// How long the highest ranks may be missing before the cluster is made without them. Upstream waits
    /// as long for a parameter server that stays Initial (dlrover/python/master/node/ps.py).
    Duration patience = std::chrono::minutes(10);
    /// How long a master that follows another one waits for places that it has not seen.
    Duration settling = std::chrono::seconds(30);
};

/// The parameter servers of a job and the versions of their cluster, from the programs that attend:
///
/// - A cluster is made of one parameter server for each rank, once all ranks have one. The number is
///   what the newest of their pods was told, or fewer if the job is to have fewer by now: those that are
///   to come are waited for only when one of them is there, and those that leave are not missed.
/// - Of several pods of one rank the one with the lowest id counts while it is there: the name of the
///   rank leads to the old pod of a migration until that has gone. Of several programs of one pod the
///   one that started first; those of one start of a container are one server, whichever of them is
///   here. Who is away counts only while no other pod has the rank.
/// - Each cluster that differs from the one before in who has a rank has the next version (GLOBAL),
///   beginning with 1. A program may raise the version, and never lower it: as upstream has it
///   (dlrover/trainer/tensorflow/failover/failover_client.py), the first server would set it back to 1
///   whenever it starts again.
/// - While a rank is empty the last cluster stays, and is not complete.
/// - LOCAL is 0 and RESTORED -1 for a task that has told none, as upstream has it.
/// - Those who meet are the places that are there, and those that never were: a worker that has ended
///   holds up no one, and one that is yet to start is waited for. A master that follows another one
///   does not know who has ended, and waits for the others for a short time only.
///
/// What outlives a master is kept(): the version, and a digest of who has which rank, by which the
/// next master knows the same cluster again. Everything else is told by those who attend; and kept(),
/// too, for a master that finds no record.
///
/// Pure. Bounded: what does not fit is refused.
class PsTable {
  public:
    /// The number of one connection, so that the end of an old one is not taken for that of a new one.
    using Line = std::uint64_t;

    /// `kept`: what an earlier master kept; empty or unreadable: nothing.
    PsTable(std::uint64_t epoch, std::string_view kept, PsLimits limits = {});

    /// `who`: unique to the program. kInvalid, kTooLarge: what it says can't be.
    Result<Line> attends(const std::string& who, PsAttendance told);
    /// Its connection has ended. Ignored if it has another.
    void leaves(const std::string& who, Line line);
    /// How many servers the job is to have by now; nullopt: it isn't known.
    void wants(std::optional<int> servers) { wanted_ = servers; }
    /// Asks for a version or tells one. kInvalid, kTooLarge as above.
    Result<std::int64_t> version(const VersionRequest& request);

    /// Call it after each of these, and when wake_at() has come.
    void advance(Instant now);
    Instant wake_at() const;

    const PsCluster& cluster() const { return cluster_; }
    const std::string& kept() const { return cluster_.kept; }
    /// The place of a program among those who meet.
    std::optional<int> place_of(const std::string& who) const;
    /// The places of those who may still come to a meeting.
    std::set<int> expected() const;

  private:
    struct Attendant {
        PsAttendance told;
        Line line = 0;
        bool here = true;
        std::optional<Instant> gone_at = {};
    };
    using Attendants = std::map<std::string, Attendant>;
    /// Who has a rank; nothing: the rank is empty.
    using Holders = std::vector<std::optional<Attendants::const_iterator>>;

    void adopt(std::string_view kept);
    void keep();
    Result<void> check(const PsAttendance& told) const;
    Result<void> check(const TaskVersions& versions) const;
    void note(const TaskVersions& versions);
    Holders holders() const;
    void forget_the_followed(const Holders& holders);
    void make_cluster(const Holders& holders);

    PsLimits limits_;
    Attendants attendants_;
    std::map<std::pair<std::string, std::int32_t>, TaskVersions> tasks_;
    std::set<int> seen_places_;
    std::optional<int> wanted_;
    PsCluster cluster_;
    std::uint64_t digest_ = 0;  ///< of the cluster of this version
    std::optional<Instant> missing_since_;
    bool follows_another_ = false;
    std::optional<Instant> settles_at_;
    bool settled_ = false;
    Line last_ = 0;
};

}  // namespace muster::master
