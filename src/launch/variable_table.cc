#include <array>

#include "launch/flag_table.h"

namespace muster::launch {
namespace {

using Status = FlagStatus;

constexpr std::string_view kDlrovers = "DLRover's own parts are not in this program";

// A row by itself, as dense as it goes.
// clang-format off
constexpr std::array kVariables = std::to_array<VariableRow>({
    {.name = "PYTHON_EXEC", .help = "The Python that runs SCRIPT."},
    {.name = "POD_IP", .help = "This node's address for others, without --local-addr."},
    {.name = "MASTER_ADDR",
     .help = "With RANK and WORLD_SIZE, when nothing else says where to meet and no LOCAL_RANK is "
             "set: the node of rank 0. torchrun does not look at these."},
    {.name = "MASTER_PORT", .help = "Its port."},
    {.name = "RANK", .help = "Then: this node's place. It is the node's, not a worker's."},
    {.name = "WORLD_SIZE", .help = "Then, without --nnodes: how many nodes there are."},
    {.name = "DLROVER_MASTER_ADDR",
     .help = "Where the job's master is, HOST:PORT. If it is MASTER_ADDR:MASTER_PORT, the node of "
             "rank 0 has it."},
    {.name = "DLROVER_MASTER_SERVICE_TYPE", .status = Status::kNoEffectYet,
     .help = "How DLRover's agents talk to their master.",
     .note = "there is one way, and Ray is not it", .harmless = "grpc|http"},
    {.name = "NODE_RANK", .help = "This node's place, with DLROVER_MASTER_ADDR."},
    {.name = "WORKER_RANK", .help = "Its old name."},
    {.name = "NODE_NUM",
     .help = "How many nodes there are, with DLROVER_MASTER_ADDR and without --nnodes."},
    {.name = "WORKER_NUM", .help = "Its old name."},
    {.name = "ELASTIC_JOB_NAME", .help = "The job's name, without --rdzv-id."},
    {.name = "OMP_NUM_THREADS", .help = "Threads of each worker. Not set: 1 where a node has several."},
    {.name = "CUDA_VISIBLE_DEVICES", .help = "What --virtual-local-rank shares out."},
    {.name = "TORCH_NCCL_ASYNC_ERROR_HANDLING", .help = "Goes on to the workers. Not set: 1."},
    {.name = "NCCL_ASYNC_ERROR_HANDLING", .help = "The same for torch before 2.2."},
    {.name = "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
     .help = "What stands before each line that is shown: ${role_name}, ${local_rank}, ${rank}."},
    {.name = "DLROVER_LOG_ROTATE_MAX_BYTES",
     .help = "A worker's file of that size is put aside, and a new one begun. At least 1 MiB."},
    {.name = "DLROVER_LOG_ROTATE_BACKUP_COUNT", .help = "How many that were put aside are kept."},

    {.name = "TORCHELASTIC_ENABLE_FILE_TIMER", .status = Status::kNoEffectYet,
     .help = "torchrun's watchdog, which scripts arm through a pipe.",
     .note = "no timer of that kind is served; a script that arms one would wait for the pipe",
     .harmless = "0"},
    {.name = "TORCHELASTIC_TIMER_FILE", .status = Status::kNeedless, .help = "That pipe's name.",
     .note = "it goes on to the workers as it is"},
    {.name = "TORCHELASTIC_HEALTH_CHECK_PORT", .status = Status::kNoEffectYet,
     .help = "torchrun's own health is asked there.", .note = "nobody answers there yet"},
    {.name = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", .status = Status::kNeedless,
     .help = "Keeps torchrun's two stores apart.", .note = "meeting does not use a store",
     .harmless = "0"},
    {.name = "DLROVER_EXTENSION_DYNAMIC_FAILOVER", .status = Status::kNoEffectYet,
     .help = "A class that decides about failures.",
     .note = "use --final-exit-codes, --bad-node-exit-codes and --bad-node-errors"},
    {.name = "TRAINING_LOG_FILE", .status = Status::kNoEffectYet,
     .help = "Where DLRover looks for FAILURE_NODE_ERRORS.",
     .note = "they are looked for in the error that a worker ended with"},
    {.name = "DLROVER_LOG_ROOT_DIR", .status = Status::kNoEffectYet,
     .help = "Where the agent's own log goes.", .note = "it goes to standard error"},
    {.name = "DLROVER_LOG_LEVEL", .status = Status::kNoEffectYet,
     .help = "How much the agent's own log has.", .note = "the log has one level yet",
     .harmless = "INFO"},
    {.name = "DLROVER_TRAINING_ELASTIC_MODE", .status = Status::kNoEffectYet,
     .help = "ucp converts checkpoints when the world changes.",
     .note = "checkpoints are not converted; the script has to", .harmless = "base"},
    {.name = "XPU_TIMER_PORT", .status = Status::kNoEffectYet,
     .help = "Where DLRover's profiler tells its numbers.", .note = "nobody asks there yet"},
    {.name = "NCCL_SETTINGS", .status = Status::kNoEffectYet,
     .help = "Variables of DLRover's network check.", .note = "the check here does not use NCCL"},
    {.name = "MCCL_SETTINGS", .status = Status::kNoEffectYet,
     .help = "The same for MetaX.", .note = "the check here does not use MCCL"},
    {.name = "NETWORK_CHECK_TIMEOUT", .status = Status::kNoEffectYet,
     .help = "The time limit of DLRover's network check.", .note = "the check here has its own"},
    {.name = "MOCK_ERR_RANK", .status = Status::kNoEffectYet,
     .help = "Lets DLRover's check fail.", .note = "the check here fails by itself alone"},
    {.name = "HOST_PORTS", .status = Status::kNoEffectYet,
     .help = "Ports that may be used on the host's network.",
     .note = "the workers' store takes any free port"},

    {.name = "MONITOR_ENABLED", .status = Status::kNeedless, .help = "Starts DLRover's step monitor.",
     .note = "steps are seen anyhow"},
    {.name = "MASTER_CLIENT_TIMEOUT", .status = Status::kNeedless, .help = "Of DLRover's calls.",
     .note = "DLRover ignores it too"},
    {.name = "NODE_ID", .status = Status::kNeedless, .help = "A number for each life of a pod.",
     .note = "each life of an agent has a name of its own"},
    {.name = "NODE_TYPE", .status = Status::kNeedless, .help = "worker.", .note = kDlrovers},
    {.name = "WORKER_ID", .status = Status::kNeedless, .help = "NODE_ID's old name.", .note = kDlrovers},
    {.name = "WORKER_TYPE", .status = Status::kNeedless, .help = "NODE_TYPE's old name.", .note = kDlrovers},
    {.name = "JOB_UID", .status = Status::kNeedless, .help = "Of the ElasticJob.",
     .note = "agents prove themselves with the job's token"},
    {.name = "RELAUNCHED_POD", .status = Status::kNeedless, .help = "This pod replaces another.",
     .note = "its place tells"},
    {.name = "DLROVER_UCP_MAX_WAIT_TIME", .status = Status::kNeedless, .help = "Of ucp.", .note = kDlrovers},
    {.name = "DLROVER_UCP_WAIT_TIME", .status = Status::kNeedless, .help = "Of ucp.", .note = kDlrovers},
    {.name = "HCCL_IF_BASE_PORT", .status = Status::kNeedless, .help = "Of Ascend's collectives.",
     .note = "it goes on to the workers as it is"},
});
// clang-format on

}  // namespace

std::span<const VariableRow> variable_table() { return kVariables; }

}  // namespace muster::launch
