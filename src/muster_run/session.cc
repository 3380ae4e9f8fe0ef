#include "muster_run/session.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "base/async/run_to_end.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "base/time/restarting_task.h"
#include "base/visible_text.h"
#include "launch/flags.h"
#include "muster_run/final_report.h"
#include "muster_run/hosting/agent_options.h"
#include "muster_run/hosting/credentials.h"
#include "muster_run/hosting/master_access.h"
#include "muster_run/leave_signals.h"
#include "muster_run/node/node_facts.h"
#include "muster_run/node/node_resources.h"
#include "muster_run/node/own_address.h"

namespace muster::run {
namespace {

constexpr int kRefused = 2;

/// The composition root: makes the parts of one run, connects them, and ends them in the right
/// order.
class Session {
  public:
    Session(asio::io_context& context, launch::LaunchPlan plan, launch::Variables variables,
            WorkerInheritance inheritance)
        : executor_(context.get_executor()),
          plan_(std::move(plan)),
          rng_(Rng::from_system()),
          tasks_(executor_),
          names_(executor_),
          signals_(executor_),
          node_(executor_, clock_, plan_, without_token(variables), inheritance),
          variables_(std::move(variables)) {}

    /// An error: nothing was started, or nothing can be.
    Task<Result<FinalReport>> run();
    Task<void> stop();

  private:
    Task<Result<void>> prepare();
    void make_agent();
    std::string variable(std::string_view name) const;
    agent::AgentPlace place() const;
    SignalAnswers signal_answers();

    asio::any_io_executor executor_;
    launch::LaunchPlan plan_;
    RealClock clock_;
    Rng rng_;
    TaskGroup tasks_;
    net::NameLookup names_;
    LeaveSignals signals_;
    NodeResources node_;
    launch::Variables variables_;
    Credentials credentials_;
    OwnAddress address_;
    std::unique_ptr<MasterAccess> master_;
    std::unique_ptr<agent::Agent> agent_;
    bool over_ = false;  ///< the job is
};

Task<Result<FinalReport>> Session::run() {
    CO_TRY_VOID(co_await prepare());
    spawn_restarting(tasks_, clock_, "signals",
                     [this] { return signals_.watch(plan_.signals, signal_answers()); });
    const agent::AgentEnd end = co_await agent_->run();
    using Kind = agent::AgentEnd::Kind;
    over_ = end.kind == Kind::kSucceeded || end.kind == Kind::kFailed ||
            plan_.rendezvous.where == launch::Rendezvous::Where::kHere;
    // Other nodes continue, or want to hear how it ended.
    if (end.kind != Kind::kLeft && end.kind != Kind::kGaveUp) co_await master_->join();
    std::vector<workers::Failure> failures;
    if (end.kind == Kind::kFailed) failures = node_.keep_failures();
    co_return final_report(plan_, {.end = end,
                                   .signal = signals_.first(),
                                   .address = address_.text,
                                   .failures = std::move(failures)});
}

SignalAnswers Session::signal_answers() {
    return {.leave =
                [this](int signal, std::string why) {
                    node_.end_with(signal);
                    agent_->leave(std::move(why));
                },
            .tell =
                [this](const std::string& name) {
                    const std::string left = node_.still_there();
                    if (left.empty())
                        log::warning("no worker is left here; the job's master is being told");
                    else
                        log::warning(
                            fmt::format("waiting for workers to end; {} for the third time kills "
                                        "them",
                                        name),
                            {{"workers", left}});
                },
            .hurry = [this] { node_.hurry(); }};
}

Task<Result<void>> Session::prepare() {
    CO_TRY(credentials_, Credentials::read(plan_, variables_, clock_));
    const launch::NodeNames here = names_here();
    CO_TRY(address_, co_await own_address(plan_, variables_, here, names_));
    CO_TRY_VOID(co_await node_.open(here));
    master_ = std::make_unique<MasterAccess>(executor_, clock_, rng_, names_, plan_, credentials_,
                                             node_.job_dir());
    std::vector<std::string> guessed;
    if (address_.by == OwnAddress::By::kGuess) {
        guessed = other_addresses(address_.text, here.addresses);
        guessed.insert(guessed.begin(), address_.text);
    }
    CO_TRY_VOID(co_await master_->open(here, std::move(guessed)));
    make_agent();
    co_return Result<void>();
}

void Session::make_agent() {
    agent::AgentOptions options = agent_options(plan_, credentials_.token);
    options.incarnation = rng_.uuid();
    options.store_port = node_.store().port();
    options.check_port = node_.check_port();
    options.name = plan_.rendezvous.slot
                       ? fmt::format("node {} ({})", *plan_.rendezvous.slot, address_.text)
                       : address_.text;
    options.pod = variable("POD_NAME");
    options.host = variable("MUSTER_NODE_NAME");
    agent_ = std::make_unique<agent::Agent>(
        executor_, clock_, rng_, node_.workers(), std::move(options),
        agent::AgentOwner{
            .connect = [this] { return master_->connect(agent_->state()); },
            .make_workers =
                [this](const job_protocol::World& world, const job_protocol::Member& member) {
                    return node_.make_workers(world, member);
                },
            .place = [this] { return place(); },
            .begin_store = [this](const job_protocol::World& world) { node_.begin_store(world); },
            .check = [this](job_protocol::Check check) { return node_.check(std::move(check)); }});
}

/// Empty if it is not set.
std::string Session::variable(std::string_view name) const {
    const std::string* const found = launch::find_variable(variables_, name);
    return found == nullptr ? std::string() : *found;
}

/// Interfaces and names may have changed since the last time.
agent::AgentPlace Session::place() const {
    agent::AgentPlace place{.address = address_now(address_, master_->local_host()),
                            .can_host_master = master_->can_host()};
    if (plan_.rendezvous.where != launch::Rendezvous::Where::kHere)
        place.addresses = other_addresses(place.address, names_here().addresses);
    return place;
}

Task<void> Session::stop() {
    co_await tasks_.stop();
    agent_.reset();
    if (master_) {
        co_await master_->stop();
        if (over_) master_->forget_record();
    }
    co_await node_.stop();
    co_await names_.stop();
}

Task<int> run_and_stop(Session& session, launch::LaunchCommand command) {
    const Result<FinalReport> outcome = co_await session.run();
    if (outcome) {
        fmt::print(stderr, "{}", outcome->text);
    } else {
        fmt::print(stderr, "{}: {}\n", to_string(command), visible_text(outcome.error().message()));
    }
    co_await session.stop();
    co_return outcome ? outcome->exit_code : kRefused;
}

}  // namespace

int run_session(launch::LaunchPlan plan, launch::Variables variables, rlim_t core_bytes) {
    const launch::LaunchCommand command = plan.called;
    // First: what is opened next gets the descriptor, if it is free.
    const int input = input_here();
    asio::io_context context(1);
    Session session(context, std::move(plan), std::move(variables),
                    {.input = input, .core_bytes = core_bytes});
    return run_to_end(context, run_and_stop(session, command));
}

}  // namespace muster::run
