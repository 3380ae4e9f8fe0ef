#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver_http/audit.h"
#include "apiserver_http/request_limits.h"
#include "cli/internal/fault_injection/fault_protocol.h"
#include "cli/internal/install/installation.h"
#include "cli/internal/operator/operator_options.h"
#include "control_plane/audit_log_limits.h"
#include "control_plane/listen_address.h"
#include "manifest/adjust.h"
#include "manifest/fit.h"
#include "rsh/arguments.h"
#include "runtime/node.h"

namespace muster::cli {

enum class OutputFormat { kNone, kJson, kYaml };

/// What `run` and `validate` share: the manifest and how it is looked at.
struct ManifestOptions {
    std::vector<std::string> files;  ///< "-": standard input
    manifest::Adjustments adjustments;
    std::vector<std::pair<std::string, std::string>>
        mounts;                ///< --mount IMAGE_PATH=DIR, as written
    bool own_workdir = false;  ///< --workdir per-pod
    manifest::Fit fit = manifest::Fit::kScale;
    bool strict = false;
    bool any_machine = false;  ///< validate --anywhere: this machine is not looked at
    bool cluster = false;      ///< jobs run where schedulers and autoscalers may look after them
};

/// Of the verbs that talk to a server: which one, as whom, and where in it.
struct ServerOptions {
    std::string kubeconfig;  ///< empty: where clients look
    std::string context;     ///< empty: the current one
    std::string namespace_;  ///< empty: the context's
};

struct RunOptions {
    ManifestOptions manifest;
    /// The cluster to run on; none: this machine. The namespace is the manifest's adjustment.
    std::optional<ServerOptions> cluster;
    std::string logs_dir;
    OutputFormat output = OutputFormat::kNone;
    bool keep = false;
    bool dry_run = false;
    std::optional<std::chrono::nanoseconds> timeout;
    bool quiet = false;
    int verbose = 0;
    runtime::SandboxMode sandbox = runtime::SandboxMode::kAuto;
    bool private_files = false;
    std::uint64_t files_bytes = std::uint64_t{1} << 30;  ///< of memory, for what each pod writes
    bool elastic = false;                                ///< an agent before each replica's command
    bool warm = false;                                   ///< with spares that have imported already
};

struct ValidateOptions {
    ManifestOptions manifest;
    bool quiet = false;
};

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
    std::string in_pods_image;  ///< as an operator with this flag would; empty: as this machine
    OutputFormat output = OutputFormat::kNone;
};

struct SimulateOptions {
    std::vector<std::string> files;  ///< manifests, or one scenario or the name of one
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;  ///< so many from `seed` on
    std::optional<int> nodes;
    std::string faults;  ///< a file or the name of a scenario; empty: none
    std::optional<std::chrono::nanoseconds> duration;
    bool trace = false;
    OutputFormat output = OutputFormat::kNone;  ///< or kJson
};

struct UpOptions {
    std::string state_dir;  ///< empty: ~/.muster
    control_plane::ListenAddress listen;
    bool detach = false;
    bool merge_kubeconfig = false;
    runtime::SandboxMode sandbox = runtime::SandboxMode::kAuto;
    apiserver_http::RequestLimits limits;
    std::string audit_log;  ///< empty: none
    apiserver_http::AuditLevel audit_level = apiserver_http::AuditLevel::kMetadata;
    control_plane::AuditLogLimits audit_limits;
    int verbose = 0;
};

struct DownOptions {
    std::string state_dir;
    bool kill = false;
    bool keep_pods = false;
};

struct StatusOptions {
    std::string state_dir;
};

struct KubeconfigOptions {
    std::string state_dir;
};

/// Which objects a verb is about: `pods`, `pods a b`, `pod/a job/b`, or those of files.
struct ObjectOptions {
    std::vector<std::string> words;
    std::vector<std::string> files;
    std::string label_selector;
    std::string field_selector;
    bool all_namespaces = false;
};

enum class ObjectFormat { kTable, kWide, kJson, kYaml, kName, kJsonPath };

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
    std::optional<std::chrono::nanoseconds> timeout;  ///< of the wait; none: as long as it takes
};

struct ApplyOptions {
    ServerOptions server;
    std::vector<std::string> files;
    bool force_conflicts = false;
    bool dry_run = false;
    bool strict = false;
};

struct WaitOptions {
    ServerOptions server;
    ObjectOptions objects;
    std::string condition;  ///< of --for, as written
    std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

/// Of one job, `JOB` or `KIND/JOB`, or of one pod, `pod/NAME`.
struct LogsOptions {
    ServerOptions server;
    std::string about;
    std::optional<int> rank;
    std::string replica;
    std::string container;
    bool follow = false;
    bool previous = false;
    bool timestamps = false;
    std::optional<std::int64_t> tail;
    std::optional<std::chrono::nanoseconds> since;
};

struct DescribeOptions {
    ServerOptions server;
    ObjectOptions objects;
};

struct EventsOptions {
    ServerOptions server;
    std::string about;  ///< KIND/NAME; empty: everything
    bool all_namespaces = false;
    bool watch = false;
};

struct TopOptions {
    ServerOptions server;
    ObjectOptions objects;
};

/// What befalls a replica of a job that a `muster run` of this machine has.
struct FaultInjectionOptions {
    FaultKind verb = FaultKind::kKill;
    std::string namespace_ = {};  ///< empty: any
    std::string job = {};
    std::string replica = {};  ///< empty: the job's only one
    int signal = 9;
    std::optional<int> rank = {};  ///< the worker below the replica's program
    std::optional<std::chrono::nanoseconds> duration = {};  ///< none: until it is stopped
};

/// What of `muster migrate`: so far only `check`.
struct MigrateOptions {
    ServerOptions server;
    std::string what;
    bool all_namespaces = false;
};

enum class Layout { kStream, kHelm, kKustomize };

/// What is installed on a cluster, printed, or written as a layout.
struct ManifestsOptions {
    Installation installation;
    bool crds_only = false;
    Layout layout = Layout::kStream;
    std::string output_dir;  ///< of a layout
};

struct CompletionOptions {
    std::string shell;
};

/// What a shell's completion asks: the words so far, the last one unfinished.
struct CompleteOptions {
    std::vector<std::string> words;
};

/// The remote shell of MPIJobs.
using RshOptions = rsh::Arguments;

struct CleanOptions {};
struct VersionOptions {};

/// Nothing to run: print and exit.
struct Print {
    int exit_code = 0;
    std::string out;
    std::string err;
};

using Command =
    std::variant<RunOptions, ValidateOptions, ConvertOptions, ExplainOptions, SimulateOptions,
                 UpOptions, DownOptions, StatusOptions, KubeconfigOptions, GetOptions,
                 DeleteOptions, ApplyOptions, WaitOptions, LogsOptions, DescribeOptions,
                 EventsOptions, TopOptions, ManifestsOptions, CompletionOptions, CompleteOptions,
                 RshOptions, OperatorOptions, MigrateOptions, FaultInjectionOptions, CleanOptions,
                 VersionOptions, Print>;

/// The arguments after the program's name. Pure; never exits.
Command parse_command_line(const std::vector<std::string>& arguments);

/// The text of `muster --help` (verb empty) or `muster VERB --help`.
std::string_view help_text(std::string_view verb);

}  // namespace muster::cli
