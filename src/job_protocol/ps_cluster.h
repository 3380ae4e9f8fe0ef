#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::job_protocol {

// What programs of a job with parameter servers, which have no agent, and their master say to each
// other. Upstream: dlrover/python/master/elastic_training/elastic_ps.py and
// dlrover/python/elastic_agent/tensorflow/elastic_ps.py.

/// The versions of the cluster that one task has said it is at.
struct TaskVersions {
    std::string type = {};
    std::int32_t rank = 0;
    std::optional<std::int64_t> local = {};     ///< LOCAL; nothing: not told
    std::optional<std::int64_t> restored = {};  ///< RESTORED; nothing: not told

    friend bool operator==(const TaskVersions&, const TaskVersions&) = default;
};

/// Which pod a program belongs to. It is told over each new connection, so that a new master needs
/// nothing from the last one but the version.
struct PsAttendance {
    std::string type = {};  ///< "ps", "worker", ...
    std::int32_t id = 0;
    std::int32_t rank = 0;     ///< which a replacement keeps
    std::string address = {};  ///< of a parameter server, as the others reach it: "HOST:PORT"
    /// How many parameter servers the job wants, as this pod was told.
    std::int32_t servers = 0;
    /// Among those who meet at barriers and points; nothing: it does not meet anyone.
    std::optional<std::int32_t> place = {};
    std::int32_t places = 0;  ///< how many meet, as this pod was told
    std::vector<TaskVersions> versions = {};
    std::int64_t started = 0;  ///< this program, in milliseconds since 1970
    /// PsCluster::kept of the newest cluster that it was told: a record may be lost with its master.
    std::string kept = {};
    /// A start of a container, whose programs all say the same: they are one server. Empty: the
    /// program is one by itself.
    std::string container = {};

    friend bool operator==(const PsAttendance&, const PsAttendance&) = default;
};

/// The parameter servers in use.
struct PsCluster {
    std::uint64_t epoch = 0;   ///< of the master
    std::int64_t version = 0;  ///< GLOBAL; 0: there was no cluster so far
    /// Their addresses, by rank; empty: this master has not seen all of them yet.
    std::vector<std::string> servers = {};
    bool complete = false;  ///< each of them is there now
    std::string kept = {};  ///< for the next master, who alone reads it

    friend bool operator==(const PsCluster&, const PsCluster&) = default;
};

enum class VersionKind : std::uint8_t { kGlobal, kLocal, kRestored };

/// Asks for a version of the cluster, or tells it.
struct VersionRequest {
    VersionKind kind = VersionKind::kGlobal;
    std::string type = {};  ///< of the task; without a meaning for GLOBAL
    std::int32_t rank = 0;  ///< the same
    std::optional<std::int64_t> set = {};

    friend bool operator==(const VersionRequest&, const VersionRequest&) = default;
};

struct VersionAnswer {
    std::int64_t version = 0;  ///< that holds now

    friend bool operator==(const VersionAnswer&, const VersionAnswer&) = default;
};

}  // namespace muster::job_protocol
