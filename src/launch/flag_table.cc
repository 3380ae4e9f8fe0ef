#include "launch/flag_table.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace muster::launch {
namespace {

using Kind = FlagKind;
using Status = FlagStatus;

constexpr std::string_view kNodes = "Nodes and workers";
constexpr std::string_view kMeeting = "How nodes find each other";
constexpr std::string_view kProgram = "What runs";
constexpr std::string_view kFailures = "Failures and ends";
constexpr std::string_view kLogs = "Logs";
constexpr std::string_view kChecks = "Checks of nodes";
constexpr std::string_view kItself = "About this program";

constexpr std::string_view kNoPlugins =
    "it names a plugin in Python, and there is no Python in this program";
constexpr std::string_view kNoCheckpoints =
    "checkpoints in memory are not built yet; save to files in the script";

// A row by itself, as dense as it goes.
// clang-format off
constexpr std::array kFlags = std::to_array<FlagRow>({
    {.flag = Flag::kNnodes, .section = kNodes, .name = "nnodes", .variables = "PET_NNODES",
     .value = "N|MIN:MAX", .otherwise = "1:1", .torchs = true,
     .help = "How many nodes the job has, or at least and at most."},
    {.flag = Flag::kNprocPerNode, .section = kNodes, .name = "nproc-per-node",
     .variables = "PET_NPROC_PER_NODE", .value = "N|auto|cpu|gpu|xpu", .otherwise = "1",
     .torchs = true,
     .help = "Workers on this node. auto: one for each accelerator, or for each CPU without one. "
             "Nodes may differ."},
    {.flag = Flag::kNodeUnit, .section = kNodes, .name = "node-unit", .variables = "PET_NODE_UNIT",
     .kind = Kind::kPositive, .value = "N", .otherwise = "1", .dlrovers = true,
     .help = "Worlds have a multiple of so many nodes; those left over wait as spares."},
    {.flag = Flag::kGrow, .section = kNodes, .name = "grow", .variables = "MUSTER_GROW",
     .kind = Kind::kOneOf, .value = "now|at-failure", .otherwise = "now",
     .help = "When nodes that come later are taken in: at once, which restarts all workers, or when "
             "these begin anew for another reason."},
    {.flag = Flag::kRack, .section = kNodes, .name = "rack",
     .variables = "MUSTER_RACK scheduling/rack-id", .value = "NAME",
     .help = "Where this node stands, under any name: nodes of one rack have ranks that follow each "
             "other."},
    {.flag = Flag::kAutoConfig, .section = kNodes, .name = "auto-config",
     .variables = "PET_AUTO_CONFIG", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "NODE_NUM nodes, a worker for each GPU, and --network-check from four nodes on."},
    {.flag = Flag::kVirtualLocalRank, .section = kNodes, .name = "virtual-local-rank",
     .variables = "PET_VIRTUAL_LOCAL_RANK", .kind = Kind::kSwitch, .torchs = true,
     .help = "Each worker sees one GPU, in CUDA_VISIBLE_DEVICES, and LOCAL_RANK 0."},
    {.flag = Flag::kNumaBinding, .section = kNodes, .name = "numa-binding", .kind = Kind::kOneOf,
     .value = "node|socket|exclusive|core-complex", .torchs = true,
     .help = "Binds workers to CPUs near their GPUs: to a whole NUMA node or socket, to cores of "
             "their own, or to those of one cache. Without GPUs local ranks share out the nodes."},
    {.flag = Flag::kNumaAffinity, .section = kNodes, .name = "numa-affinity",
     .variables = "PET_NUMA_AFFINITY", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --numa-binding node, with a policy for memory."},
    {.flag = Flag::kMembindPolicy, .section = kNodes, .name = "membind-policy",
     .variables = "PET_MEMBIND_POLICY", .kind = Kind::kOneOf, .value = "none|preferred|bind",
     .otherwise = "preferred", .dlrovers = true,
     .help = "How workers that --numa-affinity or --numa-binding binds keep to memory of their NUMA "
             "node. --numa-binding alone leaves it to the kernel."},
    {.flag = Flag::kAccelerator, .section = kNodes, .name = "accelerator",
     .variables = "PET_ACCELERATOR", .kind = Kind::kOneOf,
     .value = "nvidia.com/gpu|ascend-npu|mthreads.com/gpu|metax-tech.com/gpu",
     .otherwise = "nvidia.com/gpu", .dlrovers = true, .status = Status::kNoEffectYet,
     .help = "The devices of this node.",
     .note = "no device is handled in a way of its own yet; the script's own choice holds"},
    {.flag = Flag::kTrainingPort, .section = kNodes, .name = "training-port",
     .variables = "PET_TRAINING_PORT", .kind = Kind::kCount, .value = "PORT", .otherwise = "60000",
     .dlrovers = true, .status = Status::kNoEffectYet,
     .help = "The first port for the collectives of Ascend devices.",
     .note = "Ascend devices are not handled yet; set HCCL_IF_BASE_PORT yourself"},

    {.flag = Flag::kStandalone, .section = kMeeting, .name = "standalone",
     .variables = "PET_STANDALONE", .kind = Kind::kSwitch, .torchs = true,
     .help = "This node alone. What else says where to meet is ignored."},
    {.flag = Flag::kRdzvEndpoint, .section = kMeeting, .name = "rdzv-endpoint",
     .variables = "PET_RDZV_ENDPOINT", .value = "HOST[:PORT][,...]", .torchs = true,
     .help = "Where nodes meet. Of several, each a node of the job, the next one takes over when "
             "one is lost. Without a port: 29400."},
    {.flag = Flag::kRdzvBackend, .section = kMeeting, .name = "rdzv-backend",
     .variables = "PET_RDZV_BACKEND", .value = "static|c10d|dlrover-master|muster",
     .otherwise = "static", .torchs = true,
     .help = "With static the node of rank 0 is where nodes meet; else the one that "
             "--rdzv-endpoint names. There is no other difference."},
    {.flag = Flag::kRdzvId, .section = kMeeting, .name = "rdzv-id", .variables = "PET_RDZV_ID",
     .value = "ID", .otherwise = "none", .torchs = true,
     .help = "The job's name; agents of another job are refused."},
    {.flag = Flag::kRdzvConf, .section = kMeeting, .name = "rdzv-conf",
     .variables = "PET_RDZV_CONF", .value = "KEY=VALUE,...", .torchs = true,
     .help = "join_timeout, last_call_timeout, pend_timeout, keep_alive_interval, "
             "keep_alive_max_attempt (seconds, and a number), node_unit, is_host."},
    {.flag = Flag::kNodeRank, .section = kMeeting, .name = "node-rank",
     .variables = "PET_NODE_RANK", .kind = Kind::kCount, .value = "N", .otherwise = "0",
     .torchs = true,
     .help = "This node's place in the job, with the static backend."},
    {.flag = Flag::kMasterAddr, .section = kMeeting, .name = "master-addr",
     .variables = "PET_MASTER_ADDR", .value = "HOST", .otherwise = "127.0.0.1", .torchs = true,
     .help = "The node of rank 0, with the static backend."},
    {.flag = Flag::kMasterPort, .section = kMeeting, .name = "master-port",
     .variables = "PET_MASTER_PORT", .kind = Kind::kCount, .value = "PORT", .otherwise = "29500",
     .torchs = true,
     .help = "Its port, with the static backend. On one node: the port of the workers' store."},
    {.flag = Flag::kLocalAddr, .section = kMeeting, .name = "local-addr",
     .variables = "PET_LOCAL_ADDR", .value = "HOST", .torchs = true,
     .help = "The address by which other nodes reach this one."},
    {.flag = Flag::kHeartbeat, .section = kMeeting, .name = "heartbeat",
     .variables = "MUSTER_HEARTBEAT", .kind = Kind::kSeconds, .value = "SECONDS", .otherwise = "5",
     .help = "A node that is silent for longer is lost. A connection that breaks is noticed at "
             "once."},
    {.flag = Flag::kTokenFile, .section = kMeeting, .name = "token-file",
     .variables = "MUSTER_TOKEN_FILE", .value = "FILE",
     .help = "What agents of this job prove themselves with, the same on all nodes."},
    {.flag = Flag::kTlsCert, .section = kMeeting, .name = "tls-cert",
     .variables = "MUSTER_TLS_CERT", .value = "FILE",
     .help = "With --tls-key and --tls-ca: agents and master talk over TLS."},
    {.flag = Flag::kTlsKey, .section = kMeeting, .name = "tls-key", .variables = "MUSTER_TLS_KEY",
     .value = "FILE",
     .help = "The key of --tls-cert."},
    {.flag = Flag::kTlsCa, .section = kMeeting, .name = "tls-ca", .variables = "MUSTER_TLS_CA",
     .value = "FILE",
     .help = "Who signs the certificates that are trusted."},

    {.flag = Flag::kModule, .section = kProgram, .name = "module", .letter = 'm',
     .variables = "PET_MODULE", .kind = Kind::kSwitch, .torchs = true,
     .help = "SCRIPT is a module, as with python -m."},
    {.flag = Flag::kNoPython, .section = kProgram, .name = "no-python",
     .variables = "PET_NO_PYTHON", .kind = Kind::kSwitch, .torchs = true,
     .help = "SCRIPT is a program, not a script of Python."},
    {.flag = Flag::kRunPath, .section = kProgram, .name = "run-path", .variables = "PET_RUN_PATH",
     .kind = Kind::kSwitch, .torchs = true,
     .help = "SCRIPT runs through Python's runpy.run_path. Goes before --no-python."},
    {.flag = Flag::kRole, .section = kProgram, .name = "role", .variables = "PET_ROLE",
     .value = "NAME", .otherwise = "default", .torchs = true,
     .help = "The workers' ROLE_NAME, and their name in logs."},
    {.flag = Flag::kStartMethod, .section = kProgram, .name = "start-method",
     .variables = "PET_START_METHOD", .kind = Kind::kOneOf, .value = "spawn|fork|forkserver",
     .otherwise = "spawn", .torchs = true, .status = Status::kNeedless,
     .help = "How torchrun starts functions.",
     .note = "each worker is a program of its own, started anew"},
    {.flag = Flag::kWarm, .section = kProgram, .name = "warm", .variables = "MUSTER_WARM",
     .kind = Kind::kOptionalText, .value = "MODULE,...",
     .help = "Keeps a process ready for each worker that has imported these modules and what the "
             "last run imported, so that a restart begins in it."},
    {.flag = Flag::kNoHook, .section = kProgram, .name = "no-hook", .variables = "MUSTER_NO_HOOK",
     .kind = Kind::kSwitch,
     .help = "Progress is not looked for in workers; muster.step() still tells it."},

    {.flag = Flag::kMaxRestarts, .section = kFailures, .name = "max-restarts",
     .variables = "PET_MAX_RESTARTS", .kind = Kind::kCount, .value = "N", .otherwise = "0",
     .torchs = true,
     .help = "How often the group may begin anew after a worker's failure. A node that comes or "
             "goes costs none."},
    {.flag = Flag::kFinalExitCodes, .section = kFailures, .name = "final-exit-codes",
     .variables = "MUSTER_FINAL_EXIT_CODES", .value = "N,...",
     .help = "Exit codes with which a worker says that another try is of no use."},
    {.flag = Flag::kBadNodeExitCodes, .section = kFailures, .name = "bad-node-exit-codes",
     .variables = "MUSTER_BAD_NODE_EXIT_CODES", .value = "N,...",
     .help = "Exit codes with which a worker says that its node is bad."},
    {.flag = Flag::kBadNodeErrors, .section = kFailures, .name = "bad-node-errors",
     .variables = "MUSTER_BAD_NODE_ERRORS FAILURE_NODE_ERRORS", .value = "#TEXT#...#",
     .help = "Texts in a worker's error by which a bad node is known: \"#ECC error#NVLink#\"."},
    {.flag = Flag::kStopGrace, .section = kFailures, .name = "stop-grace",
     .variables = "MUSTER_STOP_GRACE", .kind = Kind::kSeconds, .value = "SECONDS",
     .help = "From SIGTERM to SIGKILL. Without it 30, and 5 when the group is already broken."},
    {.flag = Flag::kShutdownTimeout, .section = kFailures, .name = "shutdown-timeout",
     .variables = "PET_SHUTDOWN_TIMEOUT TORCH_ELASTIC_SHUTDOWN_TIMEOUT", .kind = Kind::kCount,
     .value = "SECONDS", .torchs = true,
     .help = "torch's name of --stop-grace, which goes before."},
    {.flag = Flag::kAdoptGrace, .section = kFailures, .name = "adopt-grace",
     .variables = "MUSTER_ADOPT_GRACE", .kind = Kind::kSeconds, .value = "SECONDS",
     .otherwise = "1",
     .help = "How long workers wait for a new agent when theirs is dead, before they end."},
    {.flag = Flag::kSignalsToHandle, .section = kFailures, .name = "signals-to-handle",
     .variables = "PET_SIGNALS_TO_HANDLE", .value = "SIGNAL,...",
     .otherwise = "SIGTERM,SIGINT,SIGHUP,SIGQUIT", .torchs = true,
     .help = "Signals to this program that go on to the workers and end them."},
    {.flag = Flag::kMonitorInterval, .section = kFailures, .name = "monitor-interval",
     .variables = "PET_MONITOR_INTERVAL", .kind = Kind::kSeconds, .value = "SECONDS",
     .otherwise = "0.1", .torchs = true, .status = Status::kNeedless,
     .help = "How often torchrun looks at its workers.",
     .note = "a worker's death is an event, and nobody looks for it"},
    {.flag = Flag::kSaveAtBreakpoint, .section = kFailures, .name = "save-at-breakpoint",
     .variables = "PET_SAVE_AT_BREAKPOINT", .kind = Kind::kSwitch, .dlrovers = true,
     .status = Status::kNoEffectYet,
     .help = "Writes the checkpoint in memory to storage when workers fail.",
     .note = kNoCheckpoints},
    {.flag = Flag::kUcpDeviceType, .section = kFailures, .name = "ucp-device-type",
     .variables = "PET_UCP_DEVICE_TYPE", .value = "DEVICE", .otherwise = "cpu", .dlrovers = true,
     .status = Status::kNoEffectYet,
     .help = "Where universal checkpoints are converted.", .note = kNoCheckpoints},

    {.flag = Flag::kLogDir, .section = kLogs, .name = "log-dir",
     .variables = "PET_LOG_DIR DLROVER_LOG_AGENT_DIR", .value = "DIR", .torchs = true,
     .help = "Where files of logs and errors go."},
    {.flag = Flag::kRedirects, .section = kLogs, .name = "redirects", .letter = 'r',
     .variables = "PET_REDIRECTS", .value = "0..3|RANK:0..3,...", .otherwise = "0", .torchs = true,
     .help = "What goes to files instead: 0 nothing, 1 stdout, 2 stderr, 3 both."},
    {.flag = Flag::kTee, .section = kLogs, .name = "tee", .letter = 't', .variables = "PET_TEE",
     .value = "0..3|RANK:0..3,...", .otherwise = "0", .torchs = true,
     .help = "What goes to files as well."},
    {.flag = Flag::kLocalRanksFilter, .section = kLogs, .name = "local-ranks-filter",
     .variables = "PET_LOCAL_RANKS_FILTER", .value = "RANK,...", .torchs = true,
     .help = "Only these local ranks are shown here; files have all."},
    {.flag = Flag::kDuplicateStdoutFilters, .section = kLogs, .name = "duplicate-stdout-filters",
     .variables = "PET_DUPLICATE_STDOUT_FILTERS", .value = "TEXT,...", .torchs = true,
     .help = "Of what --tee shows, lines of stdout with one of these texts also go to one file of "
             "all ranks, filtered_stdout.log. Two commas are one that belongs to a text."},
    {.flag = Flag::kDuplicateStderrFilters, .section = kLogs, .name = "duplicate-stderr-filters",
     .variables = "PET_DUPLICATE_STDERR_FILTERS", .value = "TEXT,...", .torchs = true,
     .help = "The same for stderr and filtered_stderr.log."},
    {.flag = Flag::kLogsSpecs, .section = kLogs, .name = "logs-specs", .value = "NAME",
     .torchs = true, .status = Status::kNoEffectYet,
     .help = "A plugin of torchrun for where logs go.", .note = kNoPlugins},
    {.flag = Flag::kEventLogHandler, .section = kLogs, .name = "event-log-handler",
     .variables = "PET_EVENT_LOG_HANDLER", .value = "NAME", .otherwise = "null", .torchs = true,
     .status = Status::kNoEffectYet,
     .help = "A plugin of torchrun for its events.", .note = kNoPlugins},
    {.flag = Flag::kJobDir, .section = kLogs, .name = "job-dir", .variables = "MUSTER_JOB_DIR",
     .value = "DIR",
     .help = "Where an agent that is started again finds its workers. Without it: one of its own."},

    {.flag = Flag::kPrecheck, .section = kChecks, .name = "precheck", .variables = "PET_PRECHECK",
     .kind = Kind::kOneOf, .value = "0|1|2", .otherwise = "0", .dlrovers = true,
     .help = "Before workers start for the first time: 1 looks for faulty and slow nodes, 2 tells the figures of links as well."},
    {.flag = Flag::kNetworkCheck, .section = kChecks, .name = "network-check",
     .variables = "PET_NETWORK_CHECK", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --precheck 1."},
    {.flag = Flag::kCommPerfTest, .section = kChecks, .name = "comm-perf-test",
     .variables = "PET_COMM_PERF_TEST", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --precheck 2."},
    {.flag = Flag::kExcludeStraggler, .section = kChecks, .name = "exclude-straggler",
     .variables = "PET_EXCLUDE_STRAGGLER", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "A node that the check finds slow is left out. Wants a check."},
    {.flag = Flag::kAutoTunning, .section = kChecks, .name = "auto-tunning",
     .variables = "PET_AUTO_TUNNING", .kind = Kind::kSwitch, .dlrovers = true,
     .status = Status::kNoEffectYet,
     .help = "Tunes batch size and learning rate.",
     .note = "nothing is tuned yet; what the script sets holds"},

    {.flag = Flag::kHelp, .section = kItself, .name = "help", .letter = 'h', .kind = Kind::kSwitch,
     .torchs = true,
     .help = "This text."},
    {.flag = Flag::kVersion, .section = kItself, .name = "version", .kind = Kind::kSwitch,
     .help = "The version."},
    {.flag = Flag::kPrintPlan, .section = kItself, .name = "print-plan", .kind = Kind::kSwitch,
     .help = "Prints what would be done, as JSON, and does nothing.", .hidden = true},
});
// clang-format on

consteval bool in_order() {
    for (std::size_t i = 0; i < kFlags.size(); ++i)
        if (kFlags[i].flag != static_cast<Flag>(i)) return false;
    return kFlags.size() == static_cast<std::size_t>(Flag::kPrintPlan) + 1;
}
static_assert(in_order(), "each flag has one row, and the rows stand in their order");

}  // namespace

std::span<const FlagRow> flag_table() { return kFlags; }
const FlagRow& row_of(Flag flag) { return kFlags.at(static_cast<std::size_t>(flag)); }

bool knows(LaunchCommand command, const FlagRow& row) {
    switch (command) {
        case LaunchCommand::kMusterRun:
        case LaunchCommand::kDlroverRun:
            return true;
        case LaunchCommand::kTorchrun:
            return !row.dlrovers;
    }
    CHECK(false, "every command is named above");
    return false;
}

}  // namespace muster::launch
