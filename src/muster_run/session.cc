#include "muster_run/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "agent/agent.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/text_files.h"
#include "base/time/real_clock.h"
#include "launch/environment.h"
#include "muster_run/connection.h"
#include "muster_run/hook.h"
#include "muster_run/hosted_master.h"
#include "muster_run/node_check_here.h"
#include "muster_run/node_facts.h"
#include "muster_run/node_store.h"
#include "muster_run/remembered_ends.h"
#include "muster_run/warm_files.h"
#include "net/port.h"
#include "net/tcp.h"
#include "workers/first_cause.h"
#include "workers/local/local_workers.h"

namespace muster::run {
namespace {

constexpr const char* kStorePortFile = "store.port";  ///< in the job's directory
constexpr int kFailed = 1;
constexpr int kRefused = 2;
constexpr int kSignalled = 128;

Result<std::string> read_file(const std::string& flag, const std::string& path) {
    auto text = read_text(path);
    if (!text) return std::move(text).error().prefix(flag);
    return text;
}

/// Without a file the run's name: who means another job is kept out, and nobody else.
Result<std::string> token_of(const launch::LaunchPlan& plan) {
    if (plan.token_file.empty()) return "run " + plan.run_id;
    TRY(std::string token, read_file("--token-file", plan.token_file));
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    if (token.empty())
        return Error(Code::kInvalid,
                     fmt::format("--token-file {}: there is nothing in it", plan.token_file));
    return token;
}

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

std::filesystem::path job_base(const launch::LaunchPlan& plan, const launch::Variables& variables) {
    if (!plan.job_dir.empty()) return plan.job_dir;
    const std::string* temporary = launch::find_variable(variables, "TMPDIR");
    return temporary == nullptr || temporary->empty() ? "/tmp" : *temporary;
}

std::string name_of(int signal) { return fmt::format("SIG{}", sigabbrev_np(signal)); }

class Session {
  public:
    Session(asio::io_context& context, launch::LaunchPlan plan, launch::Variables variables)
        : executor_(context.get_executor()),
          plan_(std::move(plan)),
          variables_(std::move(variables)),
          rng_(Rng::from_system()),
          tasks_(executor_),
          names_(executor_),
          signals_(executor_) {}

    /// An error: nothing was started, or nothing can be.
    Task<Result<int>> run();
    Task<void> stop();

  private:
    Task<Result<void>> prepare();
    Result<void> open_store(const launch::NodeNames& node);
    Result<void> prepare_tls();
    Task<Result<std::string>> own_address(const launch::NodeNames& node);
    Task<void> find_seats(const launch::NodeNames& node);
    Result<MasterPlace> place_at(std::size_t seat);
    Result<bool> host(std::optional<std::size_t> seat, HostedMaster::Start start);
    bool may_take_over();
    Task<Result<std::unique_ptr<net::ByteStream>>> connect();
    Result<std::vector<launch::WorkerStart>> make_workers(const job_protocol::World& world,
                                                          const job_protocol::Member& member);
    void make_agent(std::string token);
    Task<void> watch_signals();
    int finish(const agent::AgentEnd& end);

    asio::any_io_executor executor_;
    launch::LaunchPlan plan_;
    launch::Variables variables_;
    RealClock clock_;
    Rng rng_;
    TaskGroup tasks_;
    net::NameLookup names_;
    asio::signal_set signals_;
    std::optional<int> signal_;
    std::string token_;
    std::string address_;
    std::filesystem::path job_dir_;
    std::unique_ptr<net::TlsServerContext> tls_server_;
    std::unique_ptr<net::TlsClientContext> tls_client_;
    std::unique_ptr<workers::LocalWorkers> workers_;
    std::unique_ptr<RememberedEnds> remembered_;
    std::unique_ptr<NodeStore> store_;
    NodeCheckHere check_;  ///< empty: none was asked for
    std::unique_ptr<MasterConnector> connector_;
    std::vector<std::size_t> seats_;
    std::optional<Instant> alone_since_;  ///< no master was found
    std::unique_ptr<HostedMaster> master_;
    std::unique_ptr<agent::Agent> agent_;
    std::optional<Hook> hook_;
    std::optional<WarmFiles> warm_;
    std::optional<int> size_before_;  ///< of the world that this node was in before
    bool over_ = false;               ///< the job is
};

Task<Result<int>> Session::run() {
    CO_TRY_VOID(co_await prepare());
    tasks_.spawn("signals", watch_signals());
    const agent::AgentEnd end = co_await agent_->run();
    over_ = end.kind == agent::AgentEnd::Kind::kSucceeded ||
            end.kind == agent::AgentEnd::Kind::kFailed ||
            plan_.rendezvous.where == launch::Rendezvous::Where::kHere;
    // Other nodes go on, or want to hear how it ended.
    using Kind = agent::AgentEnd::Kind;
    if (master_ && end.kind != Kind::kLeft && end.kind != Kind::kGaveUp) co_await master_->join();
    co_return finish(end);
}

Task<Result<void>> Session::prepare() {
    CO_TRY(token_, token_of(plan_));
    CO_TRY_VOID(prepare_tls());
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
    const launch::NodeNames node = names_here();
    CO_TRY(address_, co_await own_address(node));
    CO_TRY(workers_, co_await workers::LocalWorkers::open(
                         executor_, clock_, std::move(directory),
                         {.logs = std::move(logs),
                          .run_level = plan_.called != launch::LaunchCommand::kDlroverRun,
                          .placement = plan_.placement,
                          .orphan_grace = plan_.times.adopt_grace,
                          .spares = std::move(spares)}));
    remembered_ = std::make_unique<RememberedEnds>(*workers_);
    CO_TRY_VOID(open_store(node));
    if (plan_.node_check != launch::NodeCheckMode::kNone) {
        CO_TRY(check_, NodeCheckHere::open(executor_, clock_));
    }
    connector_ = std::make_unique<MasterConnector>(executor_, clock_, names_, tls_client_.get(),
                                                   plan_.rendezvous.endpoints);
    using Where = launch::Rendezvous::Where;
    if (plan_.rendezvous.where == Where::kEndpoints) co_await find_seats(node);
    if (plan_.rendezvous.where == Where::kHere) {
        CO_TRY(std::ignore, host(std::nullopt, HostedMaster::Start::kAsFirst));
    } else if (!seats_.empty() && seats_.front() == 0) {
        CO_TRY(std::ignore, host(0, HostedMaster::Start::kAsFirst));
    }
    make_agent(token_);
    co_return Result<void>();
}

/// Where the agent before this one had it, if that is free: workers that are taken over in the
/// midst of rendezvous know no other port, and torch goes on asking there for half an hour.
Result<void> Session::open_store(const launch::NodeNames& node) {
    const std::filesystem::path file = job_dir_ / kStorePortFile;
    const auto before = read_text(file.string());
    std::uint16_t port = plan_.rendezvous.store_port.value_or(
        before ? net::parse_port(*before).value_or(0) : std::uint16_t{0});
    auto store = NodeStore::open(executor_, clock_, port, node.addresses);
    if (!store && !plan_.rendezvous.store_port)
        store = NodeStore::open(executor_, clock_, 0, node.addresses);
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

Result<void> Session::prepare_tls() {
    if (plan_.tls.cert.empty()) return {};
    TRY(const std::string certificate, read_file("--tls-cert", plan_.tls.cert));
    TRY(const std::string key, read_file("--tls-key", plan_.tls.key));
    TRY(const std::string ca, read_file("--tls-ca", plan_.tls.ca));
    TRY(tls_server_,
        net::TlsServerContext::create(
            clock_, {.certificate_pem = certificate, .key_pem = key, .client_ca_pem = ca}));
    TRY(tls_client_, net::TlsClientContext::create(
                         clock_, {.ca_pem = ca, .certificate_pem = certificate, .key_pem = key}));
    return {};
}

/// An address and never a name: the store knows its clients by theirs.
Task<Result<std::string>> Session::own_address(const launch::NodeNames& node) {
    launch::AddressChoices choices;
    choices.one_machine = plan_.rendezvous.where == launch::Rendezvous::Where::kHere;
    choices.interfaces = node.addresses;
    if (const std::string* pod = launch::find_variable(variables_, "POD_IP")) choices.pod_ip = *pod;
    if (!plan_.local_addr.empty()) {
        auto found = co_await names_.addresses(plan_.local_addr);
        if (!found) co_return std::move(found).error().prefix("--local-addr " + plan_.local_addr);
        choices.local_addr = found->front();
    } else if (!plan_.rendezvous.endpoints.empty()) {
        // What has no address yet may have one soon; the agent says so if not.
        const auto found = co_await names_.addresses(plan_.rendezvous.endpoints.front().host);
        if (found) choices.towards_master = address_towards(found->front());
    }
    std::string address = launch::address_for_others(choices);
    if (address.empty())
        co_return Error(Code::kInvalid,
                        "this machine has no address that other nodes could reach: say one with "
                        "--local-addr");
    co_return address;
}

/// Which endpoints this node may host the job's master at.
Task<void> Session::find_seats(const launch::NodeNames& node) {
    std::map<std::string, std::vector<std::string>> looked_up;
    for (const launch::Endpoint& endpoint : plan_.rendezvous.endpoints)
        if (auto found = co_await names_.addresses(endpoint.host))
            looked_up[endpoint.host] = *std::move(found);
    seats_ = launch::hosted_here(plan_.rendezvous, node, looked_up);
}

/// Its own endpoint, and the ways to the others.
Result<MasterPlace> Session::place_at(std::size_t seat) {
    MasterPlace place{.tls = tls_server_.get(), .ask_others_every = plan_.times.silence};
    TRY(place.listener,
        net::listen_tcp_everywhere(executor_, plan_.rendezvous.endpoints[seat].port));
    for (std::size_t other = 0; other < plan_.rendezvous.endpoints.size(); ++other) {
        if (other == seat) continue;
        auto way =
            std::make_shared<MasterConnector>(executor_, clock_, names_, tls_client_.get(),
                                              std::vector{plan_.rendezvous.endpoints[other]});
        place.others.push_back([way] { return way->connect(); });
    }
    return place;
}

/// The job's master, at that endpoint if it has any. False: another agent of this machine is there.
Result<bool> Session::host(std::optional<std::size_t> seat, HostedMaster::Start start) {
    MasterPlace place;
    if (seat) {
        auto here = place_at(*seat);
        if (!here && here.error().code() == Code::kAlreadyExists) return false;
        if (!here)
            return std::move(here).error().prefix("hosting the job's master at " +
                                                  plan_.rendezvous.endpoints[*seat].text());
        place = *std::move(here);
    }
    master_ = std::make_unique<HostedMaster>(executor_, clock_, rng_, job_dir_,
                                             master_options(plan_, token_), std::move(place));
    HostedMaster::Heard heard;
    if (agent_) heard = {.epoch = agent_->state().epoch_seen(), .record = agent_->state().record()};
    master_->start(start, std::move(heard), [](const Error& error) {
        log::warning("this node hosts the job's master no more", {{"why", error.message()}});
    });
    return true;
}

Task<Result<std::unique_ptr<net::ByteStream>>> Session::connect() {
    if (master_ && master_->running()) {
        alone_since_.reset();
        co_return master_->connect();
    }
    auto connected = co_await connector_->connect();
    if (connected) {
        alone_since_.reset();
        co_return connected;
    }
    // A master that has told the end is gone for good, while workers here may still be ending.
    if (!agent_->state().knows_the_end() && may_take_over()) {
        log::warning("the job's master is gone; this node takes its place",
                     {{"error", connected.error().message()}});
        // One that was here and gave way to another: that is gone as well.
        if (master_) co_await master_->stop();
        master_.reset();
        CO_TRY(const bool hosts, host(seats_.front(), HostedMaster::Start::kTakesOver));
        if (hosts) co_return master_->connect();
    }
    co_return connected;
}

/// The first endpoint's machine at once, since whoever was there has ended; each one behind it when
/// those before it have had their time.
bool Session::may_take_over() {
    if (seats_.empty()) return false;
    if (!alone_since_) alone_since_ = clock_.now();
    const auto before = static_cast<std::int64_t>(seats_.front());
    return clock_.now() - *alone_since_ >= before * plan_.times.silence;
}

Result<std::vector<launch::WorkerStart>> Session::make_workers(const job_protocol::World& world,
                                                               const job_protocol::Member& member) {
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

void Session::make_agent(std::string token) {
    agent::AgentOptions options;
    options.token = std::move(token);
    options.incarnation = rng_.uuid();
    options.slot = plan_.rendezvous.slot;
    options.address = address_;
    options.store_port = store_->port();
    options.check_port = check_.port;
    options.can_host_master = !seats_.empty();
    options.rack = plan_.rack;
    options.name = plan_.rendezvous.slot
                       ? fmt::format("node {} ({})", *plan_.rendezvous.slot, address_)
                       : address_;
    options.workers.local_size = plan_.local_size;
    options.workers.policy = plan_.policy;
    options.workers.broken_grace = plan_.times.broken_grace;
    options.workers.healthy_grace = plan_.times.stop_grace;
    options.workers.join_timeout = plan_.times.join.value_or(Duration::max());
    options.rpc.liveness = {.dead_after = plan_.times.silence};
    agent_ = std::make_unique<agent::Agent>(
        executor_, clock_, rng_, *remembered_, std::move(options),
        agent::AgentOwner{
            .connect = [this] { return connect(); },
            .make_workers = [this](const job_protocol::World& world,
                                   const job_protocol::Member& member)
                -> Result<std::vector<launch::WorkerStart>> { return make_workers(world, member); },
            .begin_store = [this](const job_protocol::World& world) { store_->begin(world); },
            .check =
                [this](job_protocol::Check check) { return check_.node->run(std::move(check)); }});
}

Task<void> Session::watch_signals() {
    for (const int signal : plan_.signals) signals_.add(signal);
    for (;;) {
        const int signal = co_await signals_.async_wait(asio::use_awaitable);
        if (signal_) continue;
        signal_ = signal;
        log::info("stopping the workers of this node", {{"signal", name_of(signal)}});
        agent_->leave(fmt::format("{} was sent to its agent", name_of(signal)));
    }
}

int Session::finish(const agent::AgentEnd& end) {
    using Kind = agent::AgentEnd::Kind;
    if (end.kind == Kind::kSucceeded) return EXIT_SUCCESS;
    if (end.kind == Kind::kLeft && signal_) return kSignalled + *signal_;
    const std::string& script = plan_.command.script;
    if (!remembered_->failures().empty() && end.kind == Kind::kFailed)
        fmt::print(stderr, "{}\n",
                   workers::failure_report(script, address_, remembered_->failures()));
    fmt::print(stderr, "{}: {}\n", to_string(plan_.called), end.text);
    if (end.kind == Kind::kGaveUp && !plan_.rendezvous.endpoints.empty())
        fmt::print(
            stderr,
            "  The nodes meet at {} ({}): is one of this job there, and does every node say "
            "the same?\n",
            fmt::join(plan_.rendezvous.endpoints | std::views::transform(&launch::Endpoint::text),
                      ", "),
            plan_.rendezvous.decided_by);
    return kFailed;
}

Task<void> Session::stop() {
    co_await tasks_.stop();
    agent_.reset();
    if (master_) {
        co_await master_->stop();
        if (over_) master_->forget_record();
    }
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
    co_await names_.stop();
}

Task<void> run_and_stop(Session& session, int& status, launch::LaunchCommand command) {
    const Result<int> outcome = co_await session.run();
    if (outcome) {
        status = *outcome;
    } else {
        fmt::print(stderr, "{}: {}\n", to_string(command), outcome.error().message());
        status = kRefused;
    }
    co_await session.stop();
}

}  // namespace

int run_session(launch::LaunchPlan plan, launch::Variables variables) {
    const launch::LaunchCommand command = plan.called;
    asio::io_context context(1);
    Session session(context, std::move(plan), std::move(variables));
    int status = kFailed;
    asio::co_spawn(context, run_and_stop(session, status, command), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    context.run();
    return status;
}

}  // namespace muster::run
