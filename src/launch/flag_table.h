#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace muster::launch {

/// The name by which the program was called, or the module of Python's whose place it takes. One
/// binary has three names.
enum class LaunchCommand : std::uint8_t { kMusterRun, kTorchrun, kDlroverRun, kTorchLaunch };

/// From argv[0], ignoring its folder. Any other name counts as muster-run.
LaunchCommand launch_command(std::string_view argv0);
/// The launcher that is `python -m MODULE`; nothing if that is another module.
std::optional<LaunchCommand> launch_module(std::string_view module);
std::string_view to_string(LaunchCommand command);

/// Every flag, in the order of the table.
enum class Flag : std::uint8_t {
    kNnodes,
    kNprocPerNode,
    kNodeUnit,
    kGrow,
    kRack,
    kAutoConfig,
    kVirtualLocalRank,
    kNumaBinding,
    kNumaAffinity,
    kMembindPolicy,
    kAccelerator,
    kTrainingPort,

    kStandalone,
    kRdzvEndpoint,
    kRdzvBackend,
    kRdzvId,
    kRdzvConf,
    kNodeRank,
    kMasterAddr,
    kMasterPort,
    kLocalAddr,
    kHeartbeat,
    kTokenFile,
    kTlsCert,
    kTlsKey,
    kTlsCa,

    kModule,
    kNoPython,
    kRunPath,
    kUseEnv,
    kLiteralArgs,
    kRole,
    kStartMethod,
    kWarm,
    kNoHook,

    kMaxRestarts,
    kFinalExitCodes,
    kBadNodeExitCodes,
    kBadNodeErrors,
    kGiveUpAfter,
    kStopGrace,
    kShutdownTimeout,
    kAdoptGrace,
    kSignalsToHandle,
    kMonitorInterval,
    kSaveAtBreakpoint,
    kUcpDeviceType,

    kLogDir,
    kRedirects,
    kTee,
    kLocalRanksFilter,
    kDuplicateStdoutFilters,
    kDuplicateStderrFilters,
    kLogsSpecs,
    kEventLogHandler,
    kJobDir,

    kPrecheck,
    kNetworkCheck,
    kCommPerfTest,
    kExcludeStraggler,
    kAutoTunning,

    kHelp,
    kVersion,
    kPrintPlan,
};

enum class FlagKind : std::uint8_t {
    kSwitch,        ///< takes no value
    kText,          ///< takes a value
    kOptionalText,  ///< takes a value only as --name=VALUE
    kCount,         ///< a whole number, 0 or above
    kPositive,      ///< a whole number above 0
    kSeconds,       ///< 0 or more, may have a fraction
    kOneOf,         ///< what `value` lists: "now|at-failure"
};

enum class FlagStatus : std::uint8_t {
    kEffective,
    kNoEffectYet,  ///< noted at start if it is set, with `note`
    kNeedless,     ///< not needed here; noted only at the debug level
};

/// One flag. Its name may be written with '_' instead of '-', as torch 1.13 and DLRover do.
struct FlagRow {
    Flag flag = Flag::kHelp;
    std::string_view section = {};  ///< of the help text
    std::string_view name = {};     ///< "nproc-per-node"
    char letter = '\0';             ///< 'r' of "-r"
    /// Separated by spaces. The first one that is set counts, unless the flag is given.
    std::string_view variables = {};
    FlagKind kind = FlagKind::kText;
    std::string_view value = {};      ///< for people: "MIN:MAX"
    std::string_view otherwise = {};  ///< the default
    bool torchs = false;              ///< torchrun and dlrover-run know it
    bool dlrovers = false;            ///< only dlrover-run knows it
    bool launchs = false;             ///< only torch.distributed.launch knows it
    FlagStatus status = FlagStatus::kEffective;
    std::string_view help = {};
    std::string_view note = {};  ///< if it has no effect: why, and what to do
    bool hidden = false;         ///< omitted from the help
};

/// torch's flags from 1.13 to 2.10 (torch/distributed/run.py), those of DLRover 0.7
/// (dlrover/trainer/torch/elastic_run.py), and our own.
std::span<const FlagRow> flag_table();
const FlagRow& row_of(Flag flag);

/// torchrun and torch.distributed.launch know torch's flags and ours; the other two know DLRover's, too.
bool knows(LaunchCommand command, const FlagRow& row);

/// A variable without a flag.
struct VariableRow {
    std::string_view name = {};
    FlagStatus status = FlagStatus::kEffective;
    std::string_view help = {};
    std::string_view note = {};      ///< like that of a flag
    std::string_view harmless = {};  ///< values that ask for nothing, as "grpc|http"
};

/// The inputs of torchrun and of DLRover's launcher and agent, and the variables that operators
/// inject.
std::span<const VariableRow> variable_table();

}  // namespace muster::launch
