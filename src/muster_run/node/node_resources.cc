#include "muster_run/node/node_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text_files.h"
#include "launch/environment.h"
#include "muster_run/node/error_files.h"
#include "net/port.h"

namespace muster::run {
namespace {

constexpr const char* kStorePortFile = "store.port";  ///< in the job's directory

workers::LogFlags log_flags(const launch::LaunchLogs& logs) {
    workers::LogFlags flags;
    flags.log_dir = logs.dir;
    flags.redirects = logs.redirects;
    flags.tee = logs.tee;
    flags.out_filters = logs.out_filters;
    flags.error_filters = logs.error_filters;
    flags.line_prefix = logs.prefix;
    for (const int rank : logs.shown_ranks)
        flags.local_ranks_filter +=
            fmt::format("{}{}", flags.local_ranks_filter.empty() ? "" : ",", rank);
    if (logs.rotate_bytes) {
        flags.max_bytes = fmt::format("{}", *logs.rotate_bytes);
        flags.max_files = fmt::format("{}", logs.rotated_files + 1);
    }
    return flags;
}

/// The same for an agent and for the one that takes its place after a kill.
std::string identity_of(const launch::LaunchPlan& plan) {
    // In a directory of its own a job needs no name.
    std::string identity = plan.job_dir.empty() ? plan.run_id : "";
    for (const launch::Endpoint& endpoint : plan.rendezvous.endpoints)
        identity += " " + endpoint.text();
    if (plan.rendezvous.slot) identity += fmt::format(" {}", *plan.rendezvous.slot);
    return identity;
}

std::filesystem::path temporary_directory(const launch::Variables& variables) {
    const std::string* temporary = launch::find_variable(variables, "TMPDIR");
    return temporary == nullptr || temporary->empty() ? "/tmp" : *temporary;
}

std::filesystem::path job_base(const launch::LaunchPlan& plan, const launch::Variables& variables) {
    if (!plan.job_dir.empty()) return plan.job_dir;
    return temporary_directory(variables);
}

}  // namespace

bool is_of_this_machine(const launch::LaunchPlan& plan) {
    constexpr std::string_view kAddresses[] = {"", "127.0.0.1", "::1"};
    return plan.rendezvous.where == launch::Rendezvous::Where::kHere &&
           std::ranges::find(kAddresses, plan.local_addr) != std::end(kAddresses);
}

NodeResources::NodeResources(const asio::any_io_executor& executor, Clock& clock,
                             const launch::LaunchPlan& plan, launch::Variables variables,
                             WorkerInheritance inheritance)
    : executor_(executor),
      clock_(clock),
      plan_(plan),
      variables_(std::move(variables)),
      inheritance_(inheritance) {}

Task<Result<void>> NodeResources::open(launch::NodeNames node) {
    CO_TRY_VOID(co_await open_workers());
    CO_TRY_VOID(open_store(node));
    if (plan_.node_check != launch::NodeCheckMode::kNone) {
        CO_TRY(check_, NodeCheckHere::open(executor_, clock_, is_of_this_machine(plan_)));
    }
    co_return Result<void>();
}

Task<Result<void>> NodeResources::open_workers() {
    CO_TRY(workers::LogPlan logs, workers::LogPlan::parse(log_flags(plan_.logs)));
    for (const std::string& note : logs.notes()) log::warning(note);
    CO_TRY(workers::JobDirectory directory,
           workers::JobDirectory::claim(job_base(plan_, variables_), identity_of(plan_)));
    job_dir_ = directory.path();
    if (plan_.hook) {
        CO_TRY(hook_, Hook::write(job_dir_));
        hook_->add_to(variables_);
    }
    std::optional<workers::SpareOptions> spares;
    if (plan_.warm) {
        std::vector<std::string> head = plan_.command.words;
        head.resize(static_cast<std::size_t>(plan_.command.spare_words));
        CO_TRY(warm_, WarmFiles::write(job_dir_, variables_, head));
        spares = warm_->options(*plan_.warm);
    }
    CO_TRY(workers_,
           co_await workers::LocalWorkers::open(
               executor_, clock_, std::move(directory),
               {.logs = std::move(logs),
                .run_level = plan_.called != launch::LaunchCommand::kDlroverRun,
                .placement = plan_.placement,
                .orphan_grace = plan_.times.adopt_grace,
                .keep =
                    plan_.rendezvous.where == launch::Rendezvous::Where::kHere ? "" : kMasterRecord,
                .input = inheritance_.input,
                .spares = std::move(spares),
                .core_bytes = inheritance_.core_bytes}));
    remembered_ = std::make_unique<RememberedEnds>(*workers_);
    co_return Result<void>();
}

/// Where the agent before this one had it, if that is free: workers that are taken over in the
/// middle of rendezvous know no other port, and torch keeps asking there for half an hour.
Result<void> NodeResources::open_store(const launch::NodeNames& node) {
    const std::filesystem::path file = job_dir_ / kStorePortFile;
    const auto before = read_text(file.string());
    std::uint16_t port = plan_.rendezvous.store_port.value_or(
        before ? net::parse_port(*before).value_or(0) : std::uint16_t{0});
    const StoreReach reach =
        is_of_this_machine(plan_) ? StoreReach::kThisMachine : StoreReach::kWorld;
    auto store = NodeStore::open(executor_, clock_, port, node.addresses, reach);
    if (!store && !plan_.rendezvous.store_port)
        store = NodeStore::open(executor_, clock_, 0, node.addresses, reach);
    if (!store)
        return std::move(store).error().prefix(
            plan_.rendezvous.store_port
                ? fmt::format("--master-port {}, where the workers' store is to be", port)
                : "the port of the workers' store");
    store_ = *std::move(store);
    // What can't be kept is only missing after a kill at the wrong moment.
    std::ofstream(file) << store_->port();
    return {};
}

Result<std::vector<launch::WorkerStart>> NodeResources::make_workers(
    const job_protocol::World& world, const job_protocol::Member& member) {
    if (check_.node) check_.node->end_answers();
    const launch::WorkerSetting setting{
        .plan = plan_,
        .world = world,
        .slot = member.slot,
        .store = {.host = world.members.front().address,
                  .port = static_cast<std::uint16_t>(world.members.front().store_port)},
        .job_dir = job_dir_};
    std::vector<launch::WorkerStart> starts;
    for (int local_rank = 0; local_rank < member.local_size; ++local_rank) {
        TRY(launch::WorkerStart start, launch::worker_start(setting, local_rank, variables_));
        if (size_before_)
            start.environment.emplace_back("MUSTER_PREVIOUS_WORLD_SIZE",
                                           fmt::format("{}", *size_before_));
        starts.push_back(std::move(start));
    }
    size_before_ = world.size();
    return starts;
}

std::vector<workers::Failure> NodeResources::keep_failures() const {
    std::vector<workers::Failure> failures = remembered_->failures();
    keep_error_files(failures, {.job_dir = job_dir_,
                                .temporary = temporary_directory(variables_),
                                .run_id = plan_.run_id});
    const std::string* const file = launch::find_variable(variables_, "TORCHELASTIC_ERROR_FILE");
    if (file != nullptr && !file->empty()) report_first_cause(failures, *file);
    return failures;
}

Task<job_protocol::CheckResult> NodeResources::check(job_protocol::Check check) {
    return check_.node->run(std::move(check));
}

Task<void> NodeResources::stop() {
    if (check_.node) co_await check_.node->stop();
    if (store_) {
        co_await store_->stop();
        std::error_code gone;
        std::filesystem::remove(job_dir_ / kStorePortFile, gone);
    }
    if (workers_) {
        co_await workers_->stop(Duration::zero());
        co_await workers_->end_spares();
    }
    if (hook_) hook_->remove();
    if (warm_) warm_->remove();
}

}  // namespace muster::run
