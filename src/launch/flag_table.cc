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
constexpr std::string_view kFailures = "Failures and termination";
constexpr std::string_view kLogs = "Logs";
constexpr std::string_view kChecks = "Node checks";
constexpr std::string_view kItself = "About this program";

constexpr std::string_view kNoPlugins = "it names a Python plugin, and this program has no Python";
constexpr std::string_view kNoCheckpoints =
    "checkpoints in memory do not exist yet; save to files in the script";

// One row per flag, kept compact.
// clang-format off
constexpr std::array kFlags = std::to_array<FlagRow>({
    {.flag = Flag::kNnodes, .section = kNodes, .name = "nnodes", .variables = "PET_NNODES",
     .value = "N|MIN:MAX", .otherwise = "1:1", .torchs = true,
     .help = "The number of nodes, or the smallest and the largest number."},
    {.flag = Flag::kNprocPerNode, .section = kNodes, .name = "nproc-per-node",
     .variables = "PET_NPROC_PER_NODE", .value = "N|auto|cpu|gpu|xpu", .otherwise = "1",
     .torchs = true,
     .help = "Workers on this node. auto: one for each accelerator, or for each CPU without one. "
             "Nodes may differ."},
    {.flag = Flag::kNodeUnit, .section = kNodes, .name = "node-unit", .variables = "PET_NODE_UNIT",
     .kind = Kind::kPositive, .value = "N", .otherwise = "1", .dlrovers = true,
     .help = "A world has a multiple of N nodes; the others wait as standby nodes."},
    {.flag = Flag::kGrow, .section = kNodes, .name = "grow", .variables = "MUSTER_GROW",
     .kind = Kind::kOneOf, .value = "now|at-failure", .otherwise = "now",
     .help = "When nodes that join later become part of the world: at once, which restarts all "
             "workers, or at the next restart for another reason."},
    {.flag = Flag::kRack, .section = kNodes, .name = "rack",
     .variables = "MUSTER_RACK scheduling/rack-id", .value = "NAME",
     .help = "The rack of this node, by any name. Nodes of one rack get consecutive ranks."},
    {.flag = Flag::kAutoConfig, .section = kNodes, .name = "auto-config",
     .variables = "PET_AUTO_CONFIG", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "Uses NODE_NUM nodes, one worker for each GPU, and --network-check if there are four "
             "nodes or more."},
    {.flag = Flag::kVirtualLocalRank, .section = kNodes, .name = "virtual-local-rank",
     .variables = "PET_VIRTUAL_LOCAL_RANK", .kind = Kind::kSwitch, .torchs = true,
     .help = "Each worker sees one GPU, in CUDA_VISIBLE_DEVICES, and LOCAL_RANK 0."},
    {.flag = Flag::kNumaBinding, .section = kNodes, .name = "numa-binding", .kind = Kind::kOneOf,
     .value = "node|socket|exclusive|core-complex", .torchs = true,
     .help = "Binds workers to CPUs near their GPUs: to a whole NUMA node or socket, to cores of "
             "their own, or to the cores that share a cache. Without GPUs, workers are spread over "
             "the NUMA nodes by local rank."},
    {.flag = Flag::kNumaAffinity, .section = kNodes, .name = "numa-affinity",
     .variables = "PET_NUMA_AFFINITY", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --numa-binding node, with a memory policy."},
    {.flag = Flag::kMembindPolicy, .section = kNodes, .name = "membind-policy",
     .variables = "PET_MEMBIND_POLICY", .kind = Kind::kOneOf, .value = "none|preferred|bind",
     .otherwise = "preferred", .dlrovers = true,
     .help = "The memory policy of workers that --numa-affinity or --numa-binding binds. Without "
             "this flag, --numa-binding leaves memory to the kernel."},
    {.flag = Flag::kAccelerator, .section = kNodes, .name = "accelerator",
     .variables = "PET_ACCELERATOR", .kind = Kind::kOneOf,
     .value = "nvidia.com/gpu|ascend-npu|mthreads.com/gpu|metax-tech.com/gpu",
     .otherwise = "nvidia.com/gpu", .dlrovers = true, .status = Status::kNoEffectYet,
     .help = "The devices of this node.",
     .note = "no device gets special treatment yet; the script's own choice applies"},
    {.flag = Flag::kTrainingPort, .section = kNodes, .name = "training-port",
     .variables = "PET_TRAINING_PORT", .kind = Kind::kCount, .value = "PORT", .otherwise = "60000",
     .dlrovers = true, .status = Status::kNoEffectYet,
     .help = "The first port for the collectives of Ascend devices.",
     .note = "Ascend devices are not handled yet; set HCCL_IF_BASE_PORT yourself"},

    {.flag = Flag::kStandalone, .section = kMeeting, .name = "standalone",
     .variables = "PET_STANDALONE", .kind = Kind::kSwitch, .torchs = true,
     .help = "Runs on this node alone. Other rendezvous settings are ignored."},
    {.flag = Flag::kRdzvEndpoint, .section = kMeeting, .name = "rdzv-endpoint",
     .variables = "PET_RDZV_ENDPOINT", .value = "HOST[:PORT][,...]", .torchs = true,
     .help = "Where nodes meet. If it lists several nodes of the job, the next one takes over "
             "when one is lost. The default port is 29400."},
    {.flag = Flag::kRdzvBackend, .section = kMeeting, .name = "rdzv-backend",
     .variables = "PET_RDZV_BACKEND", .value = "static|c10d|dlrover-master|muster",
     .otherwise = "static", .torchs = true,
     .help = "With static, --node-rank is obeyed, and nodes meet at the node of rank 0; otherwise "
             "they meet at --rdzv-endpoint, and ranks follow their order of arrival."},
    {.flag = Flag::kRdzvId, .section = kMeeting, .name = "rdzv-id", .variables = "PET_RDZV_ID",
     .value = "ID", .otherwise = "none", .torchs = true,
     .help = "The job's name. Agents of another job are refused."},
    {.flag = Flag::kRdzvConf, .section = kMeeting, .name = "rdzv-conf",
     .variables = "PET_RDZV_CONF", .value = "KEY=VALUE,...", .torchs = true,
     .help = "join_timeout, last_call_timeout, pend_timeout, keep_alive_interval, "
             "keep_alive_max_attempt (seconds, and a number), node_unit, is_host."},
    {.flag = Flag::kNodeRank, .section = kMeeting, .name = "node-rank",
     .variables = "PET_NODE_RANK", .kind = Kind::kCount, .value = "N", .otherwise = "0",
     .torchs = true,
     .help = "This node's rank in the job, with the static backend. Another one gives a warning and "
             "ignores it."},
    {.flag = Flag::kMasterAddr, .section = kMeeting, .name = "master-addr",
     .variables = "PET_MASTER_ADDR", .value = "HOST", .otherwise = "127.0.0.1", .torchs = true,
     .help = "The node of rank 0, with the static backend."},
    {.flag = Flag::kMasterPort, .section = kMeeting, .name = "master-port",
     .variables = "PET_MASTER_PORT", .kind = Kind::kCount, .value = "PORT", .otherwise = "29500",
     .torchs = true,
     .help = "The port of that node, with the static backend. On a single node, the port of the "
             "workers' store."},
    {.flag = Flag::kLocalAddr, .section = kMeeting, .name = "local-addr",
     .variables = "PET_LOCAL_ADDR", .value = "HOST", .torchs = true,
     .help = "The address at which other nodes reach this one."},
    {.flag = Flag::kHeartbeat, .section = kMeeting, .name = "heartbeat",
     .variables = "MUSTER_HEARTBEAT", .kind = Kind::kSeconds, .value = "SECONDS", .otherwise = "5",
     .help = "A node that is silent for longer counts as lost. A broken connection is noticed at "
             "once."},
    {.flag = Flag::kTokenFile, .section = kMeeting, .name = "token-file",
     .variables = "MUSTER_TOKEN_FILE", .value = "FILE",
     .help = "The secret that the agents of this job share; the same on all nodes. \"-\": the first "
             "line of standard input. \"new\": one is made, and a command is printed by which the "
             "other nodes get it. Without this flag the variable MUSTER_TOKEN has the secret itself."},
    {.flag = Flag::kTlsCert, .section = kMeeting, .name = "tls-cert",
     .variables = "MUSTER_TLS_CERT", .value = "FILE",
     .help = "The certificate for TLS between agents and master. Needs --tls-key and --tls-ca."},
    {.flag = Flag::kTlsKey, .section = kMeeting, .name = "tls-key", .variables = "MUSTER_TLS_KEY",
     .value = "FILE",
     .help = "The key of --tls-cert."},
    {.flag = Flag::kTlsCa, .section = kMeeting, .name = "tls-ca", .variables = "MUSTER_TLS_CA",
     .value = "FILE",
     .help = "The certificate authority that agents and master trust."},

    {.flag = Flag::kModule, .section = kProgram, .name = "module", .letter = 'm',
     .variables = "PET_MODULE", .kind = Kind::kSwitch, .torchs = true,
     .help = "SCRIPT is a module, as with python -m."},
    {.flag = Flag::kNoPython, .section = kProgram, .name = "no-python",
     .variables = "PET_NO_PYTHON", .kind = Kind::kSwitch, .torchs = true,
     .help = "SCRIPT is a program, not a Python script."},
    {.flag = Flag::kRunPath, .section = kProgram, .name = "run-path", .variables = "PET_RUN_PATH",
     .kind = Kind::kSwitch, .torchs = true,
     .help = "Runs SCRIPT with Python's runpy.run_path. Overrides --no-python."},
    {.flag = Flag::kUseEnv, .section = kProgram, .name = "use-env", .kind = Kind::kSwitch,
     .launchs = true,
     .help = "Of python -m torch.distributed.launch alone: SCRIPT gets its local rank in LOCAL_RANK "
             "only, and not as its argument --local-rank, too."},
    {.flag = Flag::kLiteralArgs, .section = kProgram, .name = "literal-args",
     .kind = Kind::kSwitch,
     .help = "SCRIPT and its arguments are passed on as they are. Otherwise $local_rank and "
             "${local_rank} become the worker's local rank and $$ becomes $, as torchrun has it."},
    {.flag = Flag::kRole, .section = kProgram, .name = "role", .variables = "PET_ROLE",
     .value = "NAME", .otherwise = "default", .torchs = true,
     .help = "The workers' ROLE_NAME, and their name in logs."},
    {.flag = Flag::kStartMethod, .section = kProgram, .name = "start-method",
     .variables = "PET_START_METHOD", .kind = Kind::kOneOf, .value = "spawn|fork|forkserver",
     .otherwise = "spawn", .torchs = true, .status = Status::kNeedless,
     .help = "How torchrun starts functions.",
     .note = "each worker is started as a new program"},
    {.flag = Flag::kWarm, .section = kProgram, .name = "warm", .variables = "MUSTER_WARM",
     .kind = Kind::kOptionalText, .value = "MODULE,...",
     .help = "Keeps a spare process for each worker that has already imported these modules and "
             "those of the last run, so that a restart need not import them."},
    {.flag = Flag::kNoHook, .section = kProgram, .name = "no-hook", .variables = "MUSTER_NO_HOOK",
     .kind = Kind::kSwitch,
     .help = "Does not watch workers for progress; muster.step() still reports it."},

    {.flag = Flag::kMaxRestarts, .section = kFailures, .name = "max-restarts",
     .variables = "PET_MAX_RESTARTS", .kind = Kind::kCount, .value = "N", .otherwise = "0",
     .torchs = true,
     .help = "How often the group may restart after a worker failed. Nodes that join or leave do "
             "not count."},
    {.flag = Flag::kFinalExitCodes, .section = kFailures, .name = "final-exit-codes",
     .variables = "MUSTER_FINAL_EXIT_CODES", .value = "N,...",
     .help = "Exit codes by which a worker says that a restart would not help."},
    {.flag = Flag::kBadNodeExitCodes, .section = kFailures, .name = "bad-node-exit-codes",
     .variables = "MUSTER_BAD_NODE_EXIT_CODES", .value = "N,...",
     .help = "Exit codes by which a worker says that its node is faulty."},
    {.flag = Flag::kBadNodeErrors, .section = kFailures, .name = "bad-node-errors",
     .variables = "MUSTER_BAD_NODE_ERRORS FAILURE_NODE_ERRORS", .value = "#TEXT#...#",
     .help = "Texts in a worker's error that mean a faulty node: \"#ECC error#NVLink#\"."},
    {.flag = Flag::kGiveUpAfter, .section = kFailures, .name = "give-up-after",
     .variables = "MUSTER_GIVE_UP_AFTER", .kind = Kind::kCount, .value = "N", .otherwise = "0",
     .help = "Ends the job when it has failed N times in a row in the same way without progress, "
             "whatever --max-restarts allows; 0 never does. 'muster run' sets 3 on one machine."},
    {.flag = Flag::kStopGrace, .section = kFailures, .name = "stop-grace",
     .variables = "MUSTER_STOP_GRACE", .kind = Kind::kSeconds, .value = "SECONDS",
     .help = "The time from SIGTERM to SIGKILL. By default 30, or 5 if a worker has already "
             "failed."},
    {.flag = Flag::kShutdownTimeout, .section = kFailures, .name = "shutdown-timeout",
     .variables = "PET_SHUTDOWN_TIMEOUT TORCH_ELASTIC_SHUTDOWN_TIMEOUT", .kind = Kind::kCount,
     .value = "SECONDS", .torchs = true,
     .help = "torch's name for --stop-grace, which overrides it."},
    {.flag = Flag::kAdoptGrace, .section = kFailures, .name = "adopt-grace",
     .variables = "MUSTER_ADOPT_GRACE", .kind = Kind::kSeconds, .value = "SECONDS",
     .otherwise = "1",
     .help = "How long workers wait for a new agent after theirs died, before they end."},
    {.flag = Flag::kSignalsToHandle, .section = kFailures, .name = "signals-to-handle",
     .variables = "PET_SIGNALS_TO_HANDLE", .value = "SIGNAL,...",
     .otherwise = "SIGTERM,SIGINT,SIGHUP,SIGQUIT", .torchs = true,
     .help = "Signals that this program forwards to the workers to end them."},
    {.flag = Flag::kMonitorInterval, .section = kFailures, .name = "monitor-interval",
     .variables = "PET_MONITOR_INTERVAL", .kind = Kind::kSeconds, .value = "SECONDS",
     .otherwise = "0.1", .torchs = true, .status = Status::kNeedless,
     .help = "How often torchrun polls its workers.",
     .note = "the death of a worker is an event, and nothing is polled"},
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
     .help = "The directory of log files and error files."},
    {.flag = Flag::kRedirects, .section = kLogs, .name = "redirects", .letter = 'r',
     .variables = "PET_REDIRECTS", .value = "0..3|RANK:0..3,...", .otherwise = "0", .torchs = true,
     .help = "What goes to files instead of the console: 0 nothing, 1 stdout, 2 stderr, 3 both."},
    {.flag = Flag::kTee, .section = kLogs, .name = "tee", .letter = 't', .variables = "PET_TEE",
     .value = "0..3|RANK:0..3,...", .otherwise = "0", .torchs = true,
     .help = "What goes both to files and to the console."},
    {.flag = Flag::kLocalRanksFilter, .section = kLogs, .name = "local-ranks-filter",
     .variables = "PET_LOCAL_RANKS_FILTER", .value = "RANK,...", .torchs = true,
     .help = "The local ranks that the console shows; files have all of them."},
    {.flag = Flag::kDuplicateStdoutFilters, .section = kLogs, .name = "duplicate-stdout-filters",
     .variables = "PET_DUPLICATE_STDOUT_FILTERS", .value = "TEXT,...", .torchs = true,
     .help = "Lines of stdout that --tee shows and that contain one of these texts also go to one "
             "file for all ranks, filtered_stdout.log. Two commas stand for one within a text."},
    {.flag = Flag::kDuplicateStderrFilters, .section = kLogs, .name = "duplicate-stderr-filters",
     .variables = "PET_DUPLICATE_STDERR_FILTERS", .value = "TEXT,...", .torchs = true,
     .help = "The same for stderr and filtered_stderr.log."},
    {.flag = Flag::kLogsSpecs, .section = kLogs, .name = "logs-specs", .value = "NAME",
     .torchs = true, .status = Status::kNoEffectYet,
     .help = "A torchrun plugin that decides where logs go.", .note = kNoPlugins},
    {.flag = Flag::kEventLogHandler, .section = kLogs, .name = "event-log-handler",
     .variables = "PET_EVENT_LOG_HANDLER", .value = "NAME", .otherwise = "null", .torchs = true,
     .status = Status::kNoEffectYet,
     .help = "A torchrun plugin for its events.", .note = kNoPlugins},
    {.flag = Flag::kJobDir, .section = kLogs, .name = "job-dir", .variables = "MUSTER_JOB_DIR",
     .value = "DIR",
     .help = "Where a restarted agent finds its workers. By default a directory of its own."},

    {.flag = Flag::kPrecheck, .section = kChecks, .name = "precheck", .variables = "PET_PRECHECK",
     .kind = Kind::kOneOf, .value = "0|1|2", .otherwise = "0", .dlrovers = true,
     .help = "Before workers start for the first time: 1 looks for faulty and slow nodes, 2 also "
             "reports the figures of links."},
    {.flag = Flag::kNetworkCheck, .section = kChecks, .name = "network-check",
     .variables = "PET_NETWORK_CHECK", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --precheck 1."},
    {.flag = Flag::kCommPerfTest, .section = kChecks, .name = "comm-perf-test",
     .variables = "PET_COMM_PERF_TEST", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "The same as --precheck 2."},
    {.flag = Flag::kExcludeStraggler, .section = kChecks, .name = "exclude-straggler",
     .variables = "PET_EXCLUDE_STRAGGLER", .kind = Kind::kSwitch, .dlrovers = true,
     .help = "Leaves out nodes that the check finds slow. Needs a check."},
    {.flag = Flag::kAutoTunning, .section = kChecks, .name = "auto-tunning",
     .variables = "PET_AUTO_TUNNING", .kind = Kind::kSwitch, .dlrovers = true,
     .status = Status::kNoEffectYet,
     .help = "Tunes batch size and learning rate.",
     .note = "nothing is tuned yet; the script's own values apply"},

    {.flag = Flag::kHelp, .section = kItself, .name = "help", .letter = 'h', .kind = Kind::kSwitch,
     .torchs = true,
     .help = "This text."},
    {.flag = Flag::kVersion, .section = kItself, .name = "version", .kind = Kind::kSwitch,
     .help = "The version."},
    {.flag = Flag::kPrintPlan, .section = kItself, .name = "print-plan", .kind = Kind::kSwitch,
     .help = "Prints the plan as JSON and exits.", .hidden = true},
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
            return !row.launchs;
        case LaunchCommand::kTorchrun:
            return !row.dlrovers && !row.launchs;
        case LaunchCommand::kTorchLaunch:
            return !row.dlrovers;
    }
    CHECK(false, "every command is named above");
    return false;
}

}  // namespace muster::launch
