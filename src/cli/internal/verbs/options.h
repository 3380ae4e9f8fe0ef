#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver_http/audit.h"
#include "apiserver_http/request_limits.h"
#include "cli/internal/connect/server_options.h"
#include "cli/internal/fault_injection/fault_protocol.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/install/installation.h"
#include "cli/internal/objects/object_options.h"
#include "cli/internal/objects/output_format.h"
#include "control_plane/audit_log_limits.h"
#include "control_plane/listen_address.h"
#include "runtime/node.h"

namespace muster::cli {

// Options that tests of the command line read. Those of other verbs are in their files.

struct ConvertOptions {
    std::vector<std::string> files;
    std::string to_kind;     ///< as written; empty: every job
    std::string to_version;  ///< "v1"; empty: the one that is stored
    OutputFormat output = OutputFormat::kYaml;
};

/// A manifest, or a field of a kind.
struct ExplainOptions {
    std::vector<std::string> files;
    std::string path;         ///< "pytorchjob.spec.elasticPolicy"; empty: it is about files
    std::string api_version;  ///< of the kind; empty: the stored one
    bool recursive = false;
    std::string rank;           ///< "worker-3"; empty: all
    std::string in_pods_image;  ///< as for an operator with this flag; empty: as for this machine
    OutputFormat output = OutputFormat::kNone;
};

struct UpOptions {
    std::string state_dir;  ///< empty: ~/.muster
    control_plane::ListenAddress listen;
    bool detach = false;
    bool supervise = false;
    bool api_only = false;
    bool without_operator = false;
    bool without_workloads = false;
    bool merge_kubeconfig = false;
    runtime::SandboxMode sandbox = runtime::SandboxMode::kAuto;
    NodeMappings mappings;
    apiserver_http::RequestLimits limits;
    std::string audit_log;  ///< empty: none
    apiserver_http::AuditLevel audit_level = apiserver_http::AuditLevel::kMetadata;
    control_plane::AuditLogLimits audit_limits;
    /// A night's failure is still explained in the morning; kube-apiserver keeps events for an hour.
    std::chrono::nanoseconds event_ttl = std::chrono::hours(24);
    int verbose = 0;
};

struct DownOptions {
    std::string state_dir;
    bool kill = false;
    bool keep_pods = false;
};

struct StatusOptions {
    std::string state_dir;
    OutputFormat output = OutputFormat::kNone;  ///< JSON, or a text for people
};

struct KubeconfigOptions {
    std::string state_dir;
    std::string host;  ///< by which other machines reach this one; empty: as 'muster up' wrote it
};

struct GetOptions {
    ServerOptions server;
    ObjectOptions objects;
    ObjectFormat format = ObjectFormat::kTable;
    std::string json_path;  ///< of kJsonPath
    bool watch = false;
    bool show_labels = false;
    bool show_managed_fields = false;
    bool headers = true;
    bool ignore_not_found = false;
};

enum class Cascade { kBackground, kForeground, kOrphan };

struct DeleteOptions {
    ServerOptions server;
    ObjectOptions objects;
    bool all = false;
    bool wait = true;
    Cascade cascade = Cascade::kBackground;
    std::optional<std::int64_t> grace_period;  ///< seconds
    bool force = false;
    bool ignore_not_found = false;
    std::optional<std::chrono::nanoseconds> timeout;  ///< of the wait; unset: as long as it takes
};

/// A fault for a replica of a job that a `muster run` runs on this machine.
struct FaultInjectionOptions {
    FaultKind kind = FaultKind::kKill;
    std::string namespace_ = {};  ///< empty: any
    std::string job = {};
    std::string replica = {};  ///< empty: the job's only one
    int signal = 9;
    std::optional<int> rank = {};  ///< the worker below the replica's program
    std::optional<std::chrono::nanoseconds> duration = {};  ///< unset: until it is stopped
};

enum class Layout { kStream, kHelm, kKustomize };

/// What to install on a cluster, to be printed or written as a layout.
struct ManifestsOptions {
    Installation installation;
    bool crds_only = false;
    Layout layout = Layout::kStream;
    std::string output_dir;  ///< of a layout
};

/// The verb to explain; empty: all verbs.
struct HelpOptions {
    std::string verb;
};

/// A request of a shell's completion: the words so far, the last one unfinished.
struct CompleteOptions {
    std::vector<std::string> words;
};

}  // namespace muster::cli
