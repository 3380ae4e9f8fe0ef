#include <array>

#include "launch/flag_table.h"

namespace muster::launch {
namespace {

using Status = FlagStatus;

constexpr std::string_view kDlrovers = "DLRover's own parts are not in this program";

// One row per variable, kept compact.
// clang-format off
constexpr std::array kVariables = std::to_array<VariableRow>({
    {.name = "PYTHON_EXEC", .help = "The Python that runs SCRIPT."},
    {.name = "POD_IP", .help = "This node's address, if --local-addr is not given."},
    {.name = "POD_NAME", .help = "The pod that this node is in, for the job's master."},
    {.name = "MUSTER_NODE_NAME",
     .help = "The machine of the cluster that the pod is on: the job's master asks that no other pod "
             "of the job is placed there once it has proved bad."},
    {.name = "MUSTER_TOKEN",
     .help = "The secret that the agents of this job share, if --token-file is not given. Workers "
             "do not get it."},
    {.name = "MUSTER_MASTER_ADDR",
     .help = "HOST:PORT of the master that the operator has made for this job. It goes before all "
             "that flags and other variables say of a place to meet, but for --standalone, "
             "--nnodes 1, --token-file and --tls-cert."},
    {.name = "MUSTER_MASTER_JOB",
     .help = "With it: the name of that job, by which its nodes know each other without a token."},
    {.name = "MASTER_ADDR",
     .help = "The node of rank 0, if RANK and WORLD_SIZE are set too, LOCAL_RANK is not, and "
             "nothing else says where to meet. torchrun does not look at these."},
    {.name = "MASTER_PORT", .help = "The port of MASTER_ADDR."},
    {.name = "RANK", .help = "With MASTER_ADDR: the rank of this node, not that of a worker."},
    {.name = "WORLD_SIZE", .help = "With MASTER_ADDR and without --nnodes: the number of nodes."},
    {.name = "DLROVER_MASTER_ADDR",
     .help = "HOST:PORT of the job's master. If it equals MASTER_ADDR:MASTER_PORT, the master "
             "runs on the node of rank 0."},
    {.name = "DLROVER_MASTER_SERVICE_TYPE", .status = Status::kNoEffectYet,
     .help = "How DLRover's agents talk to their master.",
     .note = "there is only one way here, and it is not Ray", .harmless = "grpc|http"},
    {.name = "NODE_RANK", .help = "This node's rank, with DLROVER_MASTER_ADDR."},
    {.name = "WORKER_RANK", .help = "The old name of NODE_RANK."},
    {.name = "NODE_NUM",
     .help = "The number of nodes, with DLROVER_MASTER_ADDR and without --nnodes."},
    {.name = "WORKER_NUM", .help = "The old name of NODE_NUM."},
    {.name = "ELASTIC_JOB_NAME", .help = "The job's name, if --rdzv-id is not given."},
    {.name = "OMP_NUM_THREADS",
     .help = "Threads of each worker. If not set, 1 on a node with several workers."},
    {.name = "CUDA_VISIBLE_DEVICES", .help = "The devices that --virtual-local-rank distributes."},
    {.name = "TORCH_NCCL_ASYNC_ERROR_HANDLING", .help = "Passed on to the workers. If not set, 1."},
    {.name = "NCCL_ASYNC_ERROR_HANDLING", .help = "The same for torch before 2.2."},
    {.name = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
     .help = "The prefix of each line that is shown: ${role_name}, ${local_rank}, ${rank}."},
    {.name = "DLROVER_LOG_ROTATE_MAX_BYTES",
     .help = "The size at which a worker's log file is rotated. At least 1 MiB."},
    {.name = "DLROVER_LOG_ROTATE_BACKUP_COUNT", .help = "How many rotated files are kept."},

    {.name = "TORCHELASTIC_ENABLE_FILE_TIMER", .status = Status::kNoEffectYet,
     .help = "torchrun's watchdog, which scripts arm through a pipe.",
     .note = "there is no such timer here; a script that arms one would wait for the pipe",
     .harmless = "0"},
    {.name = "TORCHELASTIC_TIMER_FILE", .status = Status::kNeedless,
     .help = "The name of that pipe.",
     .note = "it is passed on to the workers unchanged"},
    {.name = "TORCHELASTIC_HEALTH_CHECK_PORT", .status = Status::kNoEffectYet,
     .help = "The port of torchrun's own health check.", .note = "nothing answers there yet"},
    {.name = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", .status = Status::kNeedless,
     .help = "Keeps torchrun's two stores apart.", .note = "the rendezvous does not use a store",
     .harmless = "0"},
    {.name = "DLROVER_EXTENSION_DYNAMIC_FAILOVER", .status = Status::kNoEffectYet,
     .help = "A class that decides about failures.",
     .note = "use --final-exit-codes, --bad-node-exit-codes and --bad-node-errors"},
    {.name = "TRAINING_LOG_FILE", .status = Status::kNoEffectYet,
     .help = "Where DLRover looks for FAILURE_NODE_ERRORS.",
     .note = "they are looked for in the error of a failed worker"},
    {.name = "DLROVER_LOG_ROOT_DIR", .status = Status::kNoEffectYet,
     .help = "Where the agent's own log goes.", .note = "it goes to standard error"},
    {.name = "DLROVER_LOG_LEVEL", .status = Status::kNoEffectYet,
     .help = "The level of the agent's own log.", .note = "the log has only one level so far",
     .harmless = "INFO"},
    {.name = "DLROVER_TRAINING_ELASTIC_MODE", .status = Status::kNoEffectYet,
     .help = "ucp converts checkpoints when the world changes.",
     .note = "checkpoints are not converted; the script must do it", .harmless = "base"},
    {.name = "XPU_TIMER_PORT", .status = Status::kNoEffectYet,
     .help = "Where DLRover's profiler serves its numbers.", .note = "nothing reads them yet"},
    {.name = "NCCL_SETTINGS", .status = Status::kNoEffectYet,
     .help = "Variables of DLRover's network check.", .note = "the check here does not use NCCL"},
    {.name = "MCCL_SETTINGS", .status = Status::kNoEffectYet,
     .help = "The same for MetaX.", .note = "the check here does not use MCCL"},
    {.name = "NETWORK_CHECK_TIMEOUT", .status = Status::kNoEffectYet,
     .help = "The time limit of DLRover's network check.", .note = "the check here has its own"},
    {.name = "MOCK_ERR_RANK", .status = Status::kNoEffectYet,
     .help = "Makes DLRover's check fail.", .note = "the check here simulates no failure"},
    {.name = "HOST_PORTS", .status = Status::kNoEffectYet,
     .help = "Ports that may be used on the host's network.",
     .note = "the workers' store takes any free port"},

    {.name = "MONITOR_ENABLED", .status = Status::kNeedless,
     .help = "Starts DLRover's step monitor.",
     .note = "steps are always watched"},
    {.name = "MASTER_CLIENT_TIMEOUT", .status = Status::kNeedless,
     .help = "The timeout of DLRover's calls.",
     .note = "DLRover ignores it too"},
    {.name = "NODE_ID", .status = Status::kNeedless, .help = "A number that each new pod gets.",
     .note = "each agent has its own incarnation"},
    {.name = "NODE_TYPE", .status = Status::kNeedless,
     .help = "The node's type: worker.", .note = kDlrovers},
    {.name = "WORKER_ID", .status = Status::kNeedless,
     .help = "NODE_ID's old name.", .note = kDlrovers},
    {.name = "WORKER_TYPE", .status = Status::kNeedless,
     .help = "NODE_TYPE's old name.", .note = kDlrovers},
    {.name = "JOB_UID", .status = Status::kNeedless, .help = "The UID of the ElasticJob.",
     .note = "agents authenticate with the job's token"},
    {.name = "RELAUNCHED_POD", .status = Status::kNeedless, .help = "This pod replaces another.",
     .note = "its rank says so"},
    {.name = "DLROVER_UCP_MAX_WAIT_TIME", .status = Status::kNeedless,
     .help = "A time limit of ucp.", .note = kDlrovers},
    {.name = "DLROVER_UCP_WAIT_TIME", .status = Status::kNeedless,
     .help = "A time limit of ucp.", .note = kDlrovers},
    {.name = "HCCL_IF_BASE_PORT", .status = Status::kNeedless,
     .help = "The first port of Ascend's collectives.",
     .note = "it is passed on to the workers unchanged"},
});
// clang-format on

}  // namespace

std::span<const VariableRow> variable_table() { return kVariables; }

}  // namespace muster::launch
