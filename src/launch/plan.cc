#include "launch/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::launch {
namespace {

/// The value of a variable; "" if it is not set.
std::string text_of(const Variables& variables, std::string_view name) {
    const std::string* const text = find_variable(variables, name);
    return text == nullptr ? std::string() : *text;
}

class Planner {
  public:
    Planner(const LaunchFlags& flags, const Variables& variables, const LaunchMachine& machine)
        : flags_(flags), variables_(variables), machine_(machine) {
        plan_.called = flags.command;
        plan_.notices = flags.notices;
    }

    Result<LaunchPlan> make() {
        TRY_VOID(take_nodes());
        TRY_VOID(take_local_size());
        TRY_VOID(take_placement());
        TRY_VOID(take_failures());
        TRY_VOID(take_times());
        TRY_VOID(take_program());
        TRY_VOID(take_logs());
        TRY_VOID(take_security());
        take_names();
        take_checks();
        return std::move(plan_);
    }

  private:
    Given get(Flag flag) const { return flags_.get(flag); }
    void warn(std::string text) {
        plan_.notices.push_back({log::Level::kWarning, std::move(text)});
    }

    /// How many nodes there are, and where they meet.
    Result<void> take_nodes() {
        TRY(conf_, read_rendezvous_conf(get(Flag::kRdzvConf)));
        std::ranges::move(conf_.notices, std::back_inserter(plan_.notices));
        const Given given = get(Flag::kNnodes);
        TRY(plan_.nodes, read_nodes(given));
        std::optional<NodeRange> said;
        if (given.said()) said = plan_.nodes;
        if (flags_.on(Flag::kAutoConfig)) {
            TRY(said, auto_nodes());
            plan_.nodes = *said;
        }
        TRY(plan_.rendezvous, find_rendezvous(flags_, variables_, said, conf_, plan_.notices));
        if (plan_.rendezvous.nodes && (!said || flags_.on(Flag::kStandalone)))
            plan_.nodes = {*plan_.rendezvous.nodes, *plan_.rendezvous.nodes};
        warn_of_agent_around();
        return take_unit();
    }

    /// A worker that is a launcher has the variables of its own job, whose nodes are those agents.
    void warn_of_agent_around() {
        const bool own_place =
            get(Flag::kRdzvEndpoint).by_flag() || get(Flag::kMasterAddr).by_flag();
        if (plan_.rendezvous.where == Rendezvous::Where::kHere || own_place ||
            text_of(variables_, "MUSTER_GENERATION").empty())
            return;
        warn(
            fmt::format("{0} was started by a worker of another agent, and would join the job of "
                        "which that is a part ({1}): call {0} in the command of the pod or "
                        "the node itself, or give it --standalone or an --rdzv-endpoint",
                        to_string(flags_.command), plan_.rendezvous.decided_by));
    }

    /// DLRover's auto_configure_params(): exactly NODE_NUM nodes.
    Result<std::optional<NodeRange>> auto_nodes() {
        std::string name = "NODE_NUM";
        std::string text = text_of(variables_, name);
        if (text.empty()) text = text_of(variables_, name = "WORKER_NUM");
        if (text.empty()) return std::optional(plan_.nodes);
        TRY(const NodeRange range, read_nodes({text, name}));
        return std::optional(range);
    }

    Result<void> take_unit() {
        Given given = get(Flag::kNodeUnit);
        plan_.node_unit = read_count(given);
        if (!given.said() && conf_.node_unit) {
            given = get(Flag::kRdzvConf);
            plan_.node_unit = *conf_.node_unit;
        }
        const int unit = plan_.node_unit;
        if (plan_.nodes.most / unit * unit < plan_.nodes.least)
            return wrong(given,
                         fmt::format("no number of nodes from {} to {} ({}) is a multiple of {}",
                                     plan_.nodes.least, plan_.nodes.most,
                                     get(Flag::kNnodes).written(), unit));
        plan_.grow_at_failure = get(Flag::kGrow).text == "at-failure";
        return {};
    }

    Result<void> take_local_size() {
        const Given given = get(Flag::kNprocPerNode);
        TRY(plan_.local_size, read_local_size(given, machine_.devices));
        if (flags_.on(Flag::kAutoConfig) && machine_.devices.gpus > 0)
            plan_.local_size = machine_.devices.gpus;
        plan_.virtual_local_rank = flags_.on(Flag::kVirtualLocalRank);
        return {};
    }

    Result<void> take_placement() {
        const Given memory = get(Flag::kMembindPolicy);
        PlacementFlags wanted{.numa_binding = get(Flag::kNumaBinding).text,
                              .numa_affinity = flags_.on(Flag::kNumaAffinity)};
        // The default belongs to --numa-affinity; torchrun leaves memory alone.
        if (memory.said()) wanted.membind_policy = memory.text;
        if (memory.said() && !wanted.numa_affinity && wanted.numa_binding.empty()) {
            if (memory.text != "none")
                warn(memory.written() +
                     " has no effect: it applies to workers that --numa-affinity or --numa-binding "
                     "binds");
            return {};
        }
        TRY(plan_.placement, parse_placement(wanted));
        return {};
    }

    Result<void> take_failures() {
        using job_protocol::Charge;
        plan_.max_restarts = read_count(get(Flag::kMaxRestarts));
        // For torchrun's users a node that joins or leaves is not a restart, so it is free.
        for (const Charge charge : {Charge::kWorker, Charge::kMemory})
            plan_.budgets[static_cast<std::size_t>(charge)].incidents = plan_.max_restarts;
        if (flags_.said(Flag::kFinalExitCodes)) {
            TRY(plan_.policy.final_codes, read_exit_codes(get(Flag::kFinalExitCodes)));
        }
        if (flags_.said(Flag::kBadNodeExitCodes)) {
            TRY(plan_.policy.bad_node_codes, read_exit_codes(get(Flag::kBadNodeExitCodes)));
        }
        plan_.policy.give_up_after = read_count(get(Flag::kGiveUpAfter));
        for (const int code : plan_.policy.final_codes)
            if (plan_.policy.bad_node_codes.contains(code))
                return wrong(get(Flag::kBadNodeExitCodes),
                             fmt::format("{} is also one of {}", code,
                                         get(Flag::kFinalExitCodes).written()));
        return take_bad_node_errors();
    }

    /// In DLRover, too, a FAILURE_NODE_ERRORS without '#' around the texts has no effect.
    Result<void> take_bad_node_errors() {
        const Given given = get(Flag::kBadNodeErrors);
        if (!given.said()) return {};
        const bool dlrovers = given.source == "FAILURE_NODE_ERRORS";
        const bool marked =
            given.text.size() > 1 && given.text.starts_with('#') && given.text.ends_with('#');
        if (dlrovers && !marked) {
            warn(
                fmt::format("{} has no effect: it needs '#' around each text, as in "
                            "\"#ECC error#NVLink#\"",
                            given.written()));
            return {};
        }
        TRY(plan_.policy.bad_node_errors, read_error_texts(given));
        return {};
    }

    Result<void> take_times() {
        LaunchTimes& times = plan_.times;
        // DLRover's agents wait longer for late nodes.
        if (plan_.called == LaunchCommand::kDlroverRun) times.last_call = std::chrono::seconds(60);
        if (conf_.join) times.join = conf_.join;
        if (conf_.last_call) times.last_call = *conf_.last_call;
        times.pend = conf_.pend;
        TRY(times.silence, read_seconds(get(Flag::kHeartbeat)));
        if (!flags_.said(Flag::kHeartbeat) && conf_.silence) times.silence = *conf_.silence;
        if (times.silence <= Duration::zero())
            return wrong(get(Flag::kHeartbeat), "expects a number of seconds above 0");
        TRY(times.adopt_grace, read_seconds(get(Flag::kAdoptGrace)));
        const Flag grace =
            flags_.said(Flag::kStopGrace) ? Flag::kStopGrace : Flag::kShutdownTimeout;
        if (flags_.said(grace)) {
            TRY(times.stop_grace, read_seconds(get(grace)));
            times.broken_grace = std::min(times.broken_grace, times.stop_grace);
            if (grace == Flag::kStopGrace) times.broken_grace = times.stop_grace;
        }
        return {};
    }

    Result<void> take_program() {
        std::string python = text_of(variables_, "PYTHON_EXEC");
        if (python.empty()) python = machine_.python;
        TRY(plan_.command, worker_command(flags_, python));
        TRY(plan_.signals, read_signals(get(Flag::kSignalsToHandle)));
        plan_.hook = !flags_.on(Flag::kNoHook);
        if (flags_.said(Flag::kWarm)) return take_warm();
        return {};
    }

    Result<void> take_warm() {
        const Given given = get(Flag::kWarm);
        if (plan_.command.kind == WorkerCommand::Kind::kProgram)
            return wrong(
                given,
                "only Python scripts start in a warm process; drop --no-python or this flag");
        if (plan_.command.kind == WorkerCommand::Kind::kRunPath)
            return wrong(given,
                         "a script run by runpy does not start in a warm process; drop --run-path "
                         "or this flag");
        plan_.warm.emplace();
        std::string_view rest = given.text;
        while (!rest.empty()) {
            const std::string_view name = take_field(rest, ',');
            const bool fits = !name.empty() && std::ranges::all_of(name, [](char c) {
                return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) >= 0x80);
            });
            if (!fits) return wrong(given, fmt::format("\"{}\" is not the name of a module", name));
            plan_.warm->emplace_back(name);
        }
        if (plan_.warm->empty() && !plan_.hook) {
            warn(given.written() +
                 " has no effect: with --no-hook nothing sees what workers import; list the "
                 "modules, as in --warm=torch");
            plan_.warm.reset();
        }
        return {};
    }

    Result<void> take_logs() {
        LaunchLogs& logs = plan_.logs;
        logs.dir = get(Flag::kLogDir).text;
        logs.redirects = get(Flag::kRedirects).text;
        logs.tee = get(Flag::kTee).text;
        logs.out_filters = get(Flag::kDuplicateStdoutFilters).text;
        logs.error_filters = get(Flag::kDuplicateStderrFilters).text;
        // DLRover writes both streams to files whenever it is given a directory.
        const bool neither = !flags_.said(Flag::kRedirects) && !flags_.said(Flag::kTee);
        if (plan_.called == LaunchCommand::kDlroverRun && !logs.dir.empty() && neither)
            logs.redirects = logs.tee = "3";
        if (flags_.said(Flag::kLocalRanksFilter)) {
            TRY(logs.shown_ranks, read_ranks(get(Flag::kLocalRanksFilter)));
        }
        logs.prefix = text_of(variables_, "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE");
        return take_rotation();
    }

    Result<void> take_rotation() {
        constexpr std::uint64_t kLeast = 1 << 20;
        const Given bytes{text_of(variables_, "DLROVER_LOG_ROTATE_MAX_BYTES"),
                          "DLROVER_LOG_ROTATE_MAX_BYTES"};
        const Given files{text_of(variables_, "DLROVER_LOG_ROTATE_BACKUP_COUNT"),
                          "DLROVER_LOG_ROTATE_BACKUP_COUNT"};
        if (!bytes.text.empty()) {
            const std::optional<std::uint64_t> count = parse_number<std::uint64_t>(bytes.text);
            if (!count) return wrong(bytes, "expects a number of bytes");
            if (*count >= kLeast)
                plan_.logs.rotate_bytes = *count;
            else
                warn(bytes.written() + " has no effect: it is below 1048576 (1 MiB)");
        }
        if (files.text.empty()) return {};
        const std::optional<std::uint64_t> count = parse_number<std::uint64_t>(files.text);
        if (!count || *count > 10'000)
            return wrong(files, "expects a number of files, up to 10000");
        plan_.logs.rotated_files = static_cast<int>(*count);
        return {};
    }

    Result<void> take_security() {
        plan_.token_file = get(Flag::kTokenFile).text;
        plan_.tls = {get(Flag::kTlsCert).text, get(Flag::kTlsKey).text, get(Flag::kTlsCa).text};
        const Flag parts[] = {Flag::kTlsCert, Flag::kTlsKey, Flag::kTlsCa};
        const auto said = [&](Flag flag) { return !get(flag).text.empty(); };
        if (std::ranges::any_of(parts, said) && !std::ranges::all_of(parts, said)) {
            const Flag there = *std::ranges::find_if(parts, said);
            const Flag missing = *std::ranges::find_if_not(parts, said);
            return wrong(get(there), fmt::format("TLS also needs --{}", row_of(missing).name));
        }
        return {};
    }

    void take_names() {
        plan_.run_id = get(Flag::kRdzvId).text;
        const std::string job = text_of(variables_, "ELASTIC_JOB_NAME");
        const bool dlrovers = plan_.called == LaunchCommand::kDlroverRun;
        // torchrun makes a new name for each --standalone, and dlrover-run always takes the job's.
        if (!job.empty() && (dlrovers || !flags_.said(Flag::kRdzvId)))
            plan_.run_id = job;
        else if (flags_.on(Flag::kStandalone))
            plan_.run_id = machine_.fresh_id;
        plan_.role = get(Flag::kRole).text;
        plan_.job_dir = get(Flag::kJobDir).text;
        plan_.local_addr = get(Flag::kLocalAddr).text;
        plan_.rack = get(Flag::kRack).text;
    }

    void take_checks() {
        constexpr int kWorthAChecking = 4;  // nodes, as in DLRover's --auto-config
        const std::string level = get(Flag::kPrecheck).text;
        if (level == "2" || flags_.on(Flag::kCommPerfTest))
            plan_.node_check = NodeCheckMode::kLinks;
        else if (level == "1" || flags_.on(Flag::kNetworkCheck) ||
                 (flags_.on(Flag::kAutoConfig) && plan_.nodes.least >= kWorthAChecking))
            plan_.node_check = NodeCheckMode::kNodes;
        plan_.exclude_straggler = flags_.on(Flag::kExcludeStraggler);
        if (plan_.exclude_straggler && plan_.node_check == NodeCheckMode::kNone)
            warn("--exclude-straggler has no effect without a check: add --precheck 1");
    }

    const LaunchFlags& flags_;
    const Variables& variables_;
    const LaunchMachine& machine_;
    RendezvousConf conf_;
    LaunchPlan plan_;
};

}  // namespace

Result<LaunchPlan> make_launch_plan(const LaunchFlags& flags, const Variables& variables,
                                    const LaunchMachine& machine) {
    return Planner(flags, variables, machine).make();
}

}  // namespace muster::launch
