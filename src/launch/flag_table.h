#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::launch {

/// By which name the program was called. The same file has three.
enum class LaunchCommand : std::uint8_t { kMusterRun, kTorchrun, kDlroverRun };

/// Of argv[0], whatever folder it names. Any other name is muster-run.
LaunchCommand launch_command(std::string_view argv0);
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
    kRole,
    kStartMethod,
    kWarm,
    kNoHook,

    kMaxRestarts,
    kFinalExitCodes,
    kBadNodeExitCodes,
    kBadNodeErrors,
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
    kSwitch,        ///< has no value
    kText,          ///< has one
    kOptionalText,  ///< may have one, and only as --name=VALUE
    kCount,         ///< 0 or a number above it
    kPositive,      ///< a number above 0
    kSeconds,       ///< 0 or more, with a fraction
    kOneOf,         ///< what `value` lists: "now|at-failure"
};

enum class FlagStatus : std::uint8_t {
    kEffective,
    kNoEffectYet,  ///< said at start when it asks for something, with `note`
    kNeedless,     ///< there is nothing for it to do; said only to who wants to know everything
};

/// One flag. Its name with '_' in place of '-' is the same flag (torch 1.13 and DLRover have
/// those).
struct FlagRow {
    Flag flag = Flag::kHelp;
    std::string_view section = {};  ///< of the help
    std::string_view name = {};     ///< "nproc-per-node"
    char letter = '\0';             ///< 'r' of "-r"
    /// With blanks between them. The first that is set counts, and only without the flag.
    std::string_view variables = {};
    FlagKind kind = FlagKind::kText;
    std::string_view value = {};      ///< for people: "MIN:MAX"
    std::string_view otherwise = {};  ///< what it is when nobody says anything
    bool torchs = false;              ///< torchrun knows it, and dlrover-run with it
    bool dlrovers = false;            ///< dlrover-run alone knows it
    FlagStatus status = FlagStatus::kEffective;
    std::string_view help = {};
    std::string_view note = {};  ///< of one without effect: why, and what to do
    bool hidden = false;         ///< not in the help
};

/// torch's flags from 1.13 to 2.10 (torch/distributed/run.py), those of DLRover 0.7
/// (dlrover/trainer/torch/elastic_run.py), and ours.
std::span<const FlagRow> flag_table();
const FlagRow& row_of(Flag flag);

/// torchrun knows torch's flags and ours; the other two know all.
bool knows(LaunchCommand command, const FlagRow& row);

/// A variable that has no flag.
struct VariableRow {
    std::string_view name = {};
    FlagStatus status = FlagStatus::kEffective;
    std::string_view help = {};
    std::string_view note = {};      ///< as a flag's
    std::string_view harmless = {};  ///< values that ask for nothing, as "grpc|http"
};

/// Inputs of torchrun and of DLRover's launcher and agent, and what operators inject.
std::span<const VariableRow> variable_table();

}  // namespace muster::launch
