#include "sim/internal/world.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>

#include "base/check.h"
#include "base/log.h"
#include "jobs/kind.h"
#include "jobs/scale_plan.h"
#include "kube/values/document.h"
#include "sim/internal/generated_job.h"
#include "sim/internal/json_view.h"
#include "sim/internal/observed_store.h"

namespace muster::sim {

namespace {

using namespace std::chrono_literals;

/// Reconnecting, listing again and the longest back-off take this long after the last fault.
constexpr Duration kRecovery = 2min;
/// Of an operator's request.
constexpr Duration kLatency = 1ms;
/// By when an operator with a good way to the API has written down what it saw: changes of mere
/// counts wait for more of their kind.
constexpr Duration kWrittenDown = 1s;
/// One that crashes is followed within four seconds.
constexpr kube::ElectionTiming kElection{4s, 3s, 1s};
/// For how long the world must be quiet at the end.
constexpr Duration kQuiet = 1h;

/// A seed for each part.
std::uint64_t part(std::uint64_t seed, std::uint64_t number) {
    std::uint64_t mixed = seed * 0x9e3779b97f4a7c15ULL + number * 0xbf58476d1ce4e5b9ULL;
    mixed ^= mixed >> 31;
    return mixed * 0x94d049bb133111ebULL;
}

bool loses_requests(const Scenario& scenario) {
    return scenario.operator_api.any() || scenario.fault_sites > 0 || scenario.api_away.happens();
}

TransportFaults with_latency(TransportFaults faults) {
    faults.latency = kLatency;
    return faults;
}

bool crashes(const Scenario& scenario) {
    const OperatorFaults& faults = scenario.operator_faults;
    return faults.crash.happens() || faults.crash_before_write > 0 || faults.crash_after_write > 0;
}

/// Whether something may keep an operator from its work.
bool disturbs_operators(const Scenario& scenario) {
    return loses_requests(scenario) || crashes(scenario);
}

/// Of all kinds of jobs, and of plans: the same in every world.
const std::vector<json::value>& definitions() {
    static const std::vector<json::value> all = [] {
        std::vector<json::value> made = jobs::custom_resource_definitions(jobs::all_kinds());
        made.push_back(jobs::scale_plan_definition());
        return made;
    }();
    return all;
}

NodesOptions nodes_options(const Scenario& scenario) {
    NodesOptions options;
    options.nodes = scenario.nodes;
    options.report_every_phase = scenario.report_every_phase;
    return options;
}

}  // namespace

World::World(const Scenario& scenario, const SimulationOptions& options)
    : scenario_(scenario),
      seed_(options.seed),
      history_(options.tell),
      ledger_(clock_, scenario.except,
              {.violated =
                   [this](const Violation& violation) {
                       history_.note(clock_.now(), HistoryLine::Detail::kTimeline, "VIOLATION",
                                     fmt::format("{}: {}", violation.invariant, violation.what));
                   },
               .said =
                   [this](std::string who, std::string what) {
                       history_.happened(clock_.now(), std::move(who), std::move(what));
                   }}),
      invariants_(
          clock_, ledger_,
          {[this](std::string uid, WallTime when) { watch_deadline(uid, when); },
           [this] { return seen_before(); }, scenario.operators > 1 || crashes(scenario),
           [this] { return terms_; }, scenario.election ? 1 : scenario.operators, scenario.election,
           scenario.operator_api.delay.most, [this] { return calm_since_; },
           [this](const std::string& uid) { return elastic_pods_.happened_in(uid); }}),
      api_rng_(part(seed_, 1)),
      nodes_rng_(part(seed_, 2)),
      fault_rng_(part(seed_, 3)),
      job_rng_(part(seed_, 4)),
      api_(context_.get_executor(), clock_, api_rng_,
           std::make_unique<ObservedStore>(
               store::make_memory_store(),
               [this](const store::StoreChange& change) { committed(change); })),
      user_transport_(context_.get_executor(), api_, clock_, part(seed_, 5), {}, hooks_of("user")),
      node_transport_(context_.get_executor(), api_, clock_, part(seed_, 6), scenario.node_api,
                      hooks_of("nodes")),
      elastic_pods_(context_.get_executor(), clock_, ledger_,
                    {.seed = part(seed_, 9),
                     .training = scenario.training,
                     .counts_are_exact = scenario.operators == 1 && !crashes(scenario),
                     .reach_api = [this] { return api_of_pod(); }}),
      training_fault_injector_(elastic_pods_, clock_, fault_rng_, scenario.training_faults,
                               [this](std::string what) { note(std::move(what)); }),
      nodes_(
          context_.get_executor(), node_transport_, clock_, nodes_rng_,
          [this](const PodIdentity& pod, int start) { return life_of_pod(pod, start); },
          nodes_options(scenario),
          [this](const json::value& pod, const PodPlace& place,
                 std::function<void(std::int32_t)> ended) {
              return elastic_pods_.start(pod, place, std::move(ended));
          }),
      user_(user_transport_, part(seed_, 7)),
      operators_(static_cast<std::size_t>(scenario.operators)),
      up_since_(operators_.size()),
      faults_(context_.get_executor()),
      tasks_(context_.get_executor()) {
    // What is logged in a world is about faults that are meant.
    log::set_sink([this](log::Level, std::string_view line) {
        history_.note(clock_.now(), HistoryLine::Detail::kTrace, "log", std::string(line));
    });
}

World::~World() { log::set_sink({}); }

template <class T>
T World::wait(Task<T> task) {
    std::optional<T> result;
    asio::co_spawn(context_, std::move(task), [&](std::exception_ptr error, T value) {
        if (error) std::rethrow_exception(error);
        result.emplace(std::move(value));
    });
    while (!result) {
        context_.restart();
        if (context_.poll() == 0) CHECK(clock_.advance_to_next(), "the world stands still");
    }
    return *std::move(result);
}

void World::wait(Task<void> task) {
    bool ended = false;
    asio::co_spawn(context_, std::move(task), [&](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
        ended = true;
    });
    while (!ended) {
        context_.restart();
        if (context_.poll() == 0) CHECK(clock_.advance_to_next(), "the world stands still");
    }
}

TransportHooks World::hooks_of(std::string name) {
    return {.writing = [this, name](bool begin) { writer_ = begin ? name : std::string(); },
            .crash = {},
            .note =
                [this, name](std::string what) {
                    history_.note(clock_.now(), HistoryLine::Detail::kTrace, "fault",
                                  fmt::format("{}: {}", name, what));
                }};
}

void World::note(std::string what) {
    history_.note(clock_.now(), HistoryLine::Detail::kTimeline, "fault", std::move(what));
}

void World::committed(const store::StoreChange& change) {
    if (change.key.resource == "pods" && change.object != nullptr && change.previous == nullptr)
        ++pods_made_;
    history_.change(clock_.now(), writer_, change);
    job_times_.change(clock_.now(), change);
    if (change.key.resource == "leases" && change.object != nullptr) {
        const std::string_view holder = text_at(*change.object, {"spec", "holderIdentity"});
        if (holder != leader_) {
            leader_ = holder;
            leads_since_ = clock_.now();
            note(fmt::format("{} leads", leader_.empty() ? "no operator" : leader_));
        }
    }
    invariants_.change(writer_, change);
    elastic_pods_.committed(change);
}

PodLife World::life_of_pod(const PodIdentity& pod, int start) const {
    PodLife life = life_of(scenario_.pods, seed_, pod, start);
    if (faults_happen_) return life;
    // Everything must be able to end now, or to stand still.
    if (life.start_delay == Duration::max()) life.start_delay = scenario_.pods.start_delay.most;
    if (life.run_time == Duration::max()) life.run_time = scenario_.pods.run_time.most;
    if (pod.restart_policy == "Always") life.run_time = Duration::max();
    life.exit_code = 0;
    return life;
}

// --- operators

void World::start_operator(std::size_t index) {
    const std::string name = fmt::format("operator-{}", index + 1);
    TransportHooks hooks = hooks_of(name);
    hooks.crash = [this, index](const kube::Request&, bool before) {
        const OperatorFaults& faults = scenario_.operator_faults;
        const double chance = before ? faults.crash_before_write : faults.crash_after_write;
        if (!faults_happen_ || !fault_rng_.chance(chance) || operators_[index] == nullptr)
            return false;
        note(fmt::format("operator-{} crashes {} a write", index + 1, before ? "before" : "after"));
        crash_operator(index, draw(faults.restart_delay, fault_rng_));
        return true;
    };
    ++lives_;
    std::optional<kube::Leadership::Options> election;
    if (scenario_.election)
        election = {.namespace_ = "default",
                    .name = "muster-operator",
                    .identity = fmt::format("{}#{}", name, lives_),
                    .timing = kElection};
    operators_[index] = std::make_unique<OperatorLife>(
        context_.get_executor(), api_, clock_, part(seed_, 100 + lives_), operator_faults_now(),
        std::move(hooks), std::move(election), [this] { ++terms_; });
    operators_[index]->start();
    up_since_[index] = clock_.now();
}

/// An operator that was up all the time since then has seen, and written down, what stood there
/// then.
Instant World::seen_before() const {
    if (!disturbs_operators(scenario_)) return Instant::max();
    Instant since = Instant::max();
    for (std::size_t i = 0; i < operators_.size(); ++i)
        if (operators_[i] != nullptr) since = std::min(since, up_since_[i]);
    if (scenario_.election) since = leader_.empty() ? Instant::max() : leads_since_;
    const bool lossy = loses_requests(scenario_) && clock_.now() < calm_since_;
    const Duration lag = lossy ? kRecovery : kWrittenDown;
    if (since == Instant::max() || clock_.now() - since < lag) return Instant::min();
    // What was written just before the API went was seen when it was back, or a little later.
    const bool was_away =
        scenario_.api_away.happens() && (api_is_away_ || clock_.now() < api_back_at_ + kRecovery);
    return std::min(clock_.now(), was_away ? api_went_at_ : Instant::max()) - lag;
}

void World::crash_operator(std::size_t index, Duration pause) {
    if (operators_[index] == nullptr) return;
    operators_[index]->transport.cut();
    tasks_.spawn("operator crash", replace_operator(index, pause));
}

Task<void> World::replace_operator(std::size_t index, Duration pause) {
    const std::unique_ptr<OperatorLife> dead = std::move(operators_[index]);
    if (dead == nullptr) co_return;  // it crashed twice at one moment
    past_writes_ += dead->transport.writes();
    co_await dead->stop();
    co_await clock_.sleep_for(pause);
    start_operator(index);
}

// --- ways to the API

TransportFaults World::operator_faults_now() const {
    if (api_is_away_) return nothing_gets_through(kLatency);
    return with_latency(faults_happen_ ? scenario_.operator_api : TransportFaults{});
}

std::shared_ptr<ApiOfPod> World::api_of_pod() {
    pod_apis_.push_back(std::make_shared<ApiOfPod>(context_.get_executor(), api_, clock_,
                                                   part(seed_, 1'000'000 + pod_apis_.size()),
                                                   operator_faults_now(), hooks_of("master")));
    return pod_apis_.back();
}

void World::set_api_faults() {
    node_transport_.set_faults(api_is_away_     ? nothing_gets_through({})
                               : faults_happen_ ? scenario_.node_api
                                                : TransportFaults{});
    for (auto& life : operators_)
        if (life != nullptr) life->transport.set_faults(operator_faults_now());
    for (const auto& pod : pod_apis_) pod->set_faults(operator_faults_now());
}

void World::set_api_away(bool so) {
    if (api_is_away_ == so) return;
    api_is_away_ = so;
    (so ? api_went_at_ : api_back_at_) = clock_.now();
    set_api_faults();
    for (const auto& [uid, job] : elastic_pods_.jobs()) job->set_api_away(so);
}

Task<void> World::lose_api(DurationRange lasts) {
    note("the API is away");
    set_api_away(true);
    co_await clock_.sleep_for(draw(lasts, fault_rng_));
    note("the API is back");
    set_api_away(false);
}

std::uint64_t World::writes() const {
    std::uint64_t sum = past_writes_ + node_transport_.writes();
    for (const auto& life : operators_)
        if (life != nullptr) sum += life->transport.writes();
    for (const auto& pod : pod_apis_) sum += pod->transport.writes();
    return sum;
}

// --- the course of things

Task<Result<void>> World::set_up() {
    CO_TRY_VOID(co_await api_.start());
    for (const json::value& definition : definitions())
        CO_TRY_VOID(co_await user_.client().create(kube::types::kCustomResourceDefinitions, {},
                                                   kube::copy_of(definition)));
    co_await nodes_.start();
    for (std::size_t i = 0; i < operators_.size(); ++i) start_operator(i);
    for (std::size_t i = 0; i < scenario_.manifests.size(); ++i)
        CO_TRY_VOID(co_await user_.post(scenario_.manifests[i]));
    co_return Result<void>();
}

Task<void> World::submit_all() {
    for (std::size_t i = 0; i < scenario_.jobs.size(); ++i) co_await submit(scenario_.jobs[i]);
}

Task<void> World::submit(GeneratedJobs jobs) {
    for (int i = 0; i < jobs.count; ++i) {
        const std::string name = fmt::format("job-{}", user_.posted().size() + 1);
        Result<void> posted = co_await user_.post(generate_job(jobs, name, job_rng_));
        CHECK(posted.has_value(), "a generated job is always valid");
        const Duration pause = draw(jobs.spacing, job_rng_);
        if (pause > Duration::zero()) co_await clock_.sleep_for(pause);
    }
}

void World::recurring(const char* name, const Recurring& how,
                      std::function<Task<void>(World&)> act) {
    if (how.happens()) faults_.spawn(name, repeat(how, std::move(act)));
}

Task<void> World::repeat(Recurring how, std::function<Task<void>(World&)> act) {
    for (;;) {
        co_await clock_.sleep_for(draw(how.every, fault_rng_));
        co_await act(*this);
    }
}

Task<void> World::lose_a_node(bool dead, DurationRange lasts) {
    const int node = static_cast<int>(fault_rng_.below(static_cast<std::uint64_t>(nodes_.count())));
    if (!nodes_.node_is_up(node)) co_return;
    note(fmt::format("node-{} {}", node, dead ? "dies" : "falls silent"));
    if (dead)
        nodes_.kill_node(node);
    else
        nodes_.silence_node(node);
    co_await clock_.sleep_for(draw(lasts, fault_rng_));
    note(fmt::format("node-{} is back", node));
    nodes_.revive_node(node);
}

Task<void> World::delay_a_node(DurationRange by, DurationRange lasts) {
    const int node = static_cast<int>(fault_rng_.below(static_cast<std::uint64_t>(nodes_.count())));
    const Duration delay = draw(by, fault_rng_);
    note(fmt::format("node-{} reports {} s late", node,
                     std::chrono::duration<double>(delay).count()));
    nodes_.delay_reports(node, delay);
    co_await clock_.sleep_for(draw(lasts, fault_rng_));
    nodes_.delay_reports(node, {});
}

void World::start_faults() {
    start_node_faults();
    start_training_faults();
    recurring("operator crash", scenario_.operator_faults.crash, [](World& world) -> Task<void> {
        const std::size_t index = world.fault_rng_.below(world.operators_.size());
        if (world.operators_[index] == nullptr) co_return;
        world.note(fmt::format("operator-{} crashes", index + 1));
        world.crash_operator(index,
                             draw(world.scenario_.operator_faults.crash.lasts, world.fault_rng_));
    });
    recurring("API away", scenario_.api_away,
              [](World& world) { return world.lose_api(world.scenario_.api_away.lasts); });
    recurring("clock jump", scenario_.clock_jump, [](World& world) -> Task<void> {
        const Duration step = draw(world.scenario_.clock_jump_by, world.fault_rng_);
        world.note(fmt::format("the calendar is set by {} s",
                               std::chrono::duration<double>(step).count()));
        world.clock_.skew_wall(step);
        world.invariants_.calendar_set(step);
        co_return;
    });
    start_user_actions();
    if (scenario_.fault_sites > 0)
        fault_plan_.emplace(part(seed_, 8), scenario_.fault_sites, scenario_.fault_fires);
}

void World::start_node_faults() {
    const NodeFaults& nodes = scenario_.node_faults;
    recurring("node death", nodes.death, [](World& world) {
        return world.lose_a_node(true, world.scenario_.node_faults.death.lasts);
    });
    recurring("node silence", nodes.silence, [](World& world) {
        return world.lose_a_node(false, world.scenario_.node_faults.silence.lasts);
    });
    recurring("late node", nodes.late, [](World& world) {
        return world.delay_a_node(world.scenario_.node_faults.late_by,
                                  world.scenario_.node_faults.late.lasts);
    });
    recurring("eviction", nodes.eviction, [](World& world) -> Task<void> {
        const std::vector<std::string> running = world.nodes_.running();
        if (running.empty()) co_return;
        const std::string& pod = running[world.fault_rng_.below(running.size())];
        world.note(fmt::format("{} is evicted", pod));
        world.nodes_.evict(pod);
    });
    recurring("container crash", nodes.crash, [](World& world) -> Task<void> {
        const std::vector<std::string> running = world.nodes_.running();
        if (running.empty()) co_return;
        const std::string& pod = running[world.fault_rng_.below(running.size())];
        world.note(fmt::format("{} is killed", pod));
        world.nodes_.crash(pod, 137);
    });
}

void World::start_training_faults() {
    const TrainingFaults& faults = scenario_.training_faults;
    using Injector = TrainingFaultInjector;
    const auto add = [this](const char* name, const Recurring& how, Task<void> (Injector::*act)()) {
        recurring(name, how,
                  [act](World& world) { return (world.training_fault_injector_.*act)(); });
    };
    add("worker death", faults.worker_death, &Injector::kill_worker);
    add("link cut", faults.link_cut, &Injector::cut_link);
    add("late cut", faults.late_cut, &Injector::cut_late);
    add("half cut", faults.half_cut, &Injector::cut_half);
    add("partition", faults.partition, &Injector::partition);
    add("slow link", faults.slow_link, &Injector::slow_link);
    add("lost records", faults.lost_records, &Injector::lose_records);
    recurring("master death", faults.master_death, [](World& world) -> Task<void> {
        const std::vector<std::string> running = world.nodes_.running();
        std::vector<std::string> masters;
        for (const MasterPod* const master : world.elastic_pods_.masters())
            for (const std::string& pod : running)
                if (pod.ends_with("/" + master->name)) masters.push_back(pod);
        if (masters.empty()) co_return;
        const std::string& pod = masters[world.fault_rng_.below(masters.size())];
        world.note(fmt::format("{} is killed", pod));
        world.nodes_.crash(pod, 137);
    });
}

void World::start_user_actions() {
    const UserActions& user = scenario_.user;
    recurring("scale", user.scale, [](World& world) { return world.user_.scale_a_job(); });
    recurring("suspend", user.suspend, [](World& world) -> Task<void> {
        const std::optional<PostedJob> job = co_await world.user_.suspend_a_job();
        if (!job) co_return;
        co_await world.clock_.sleep_for(draw(world.scenario_.user.suspend.lasts, world.fault_rng_));
        co_await world.user_.resume(*job);
    });
    recurring("delete pod", user.delete_pod,
              [](World& world) { return world.user_.delete_a_pod(); });
    recurring("delete service", user.delete_service,
              [](World& world) { return world.user_.delete_a_service(); });
    recurring("delete job", user.delete_job,
              [](World& world) { return world.user_.delete_a_job(); });
    recurring("scale plan", user.scale_plan,
              [](World& world) { return world.user_.plan_a_change(); });
    recurring("annotate", user.annotate, [](World& world) { return world.user_.annotate_a_job(); });
}

void World::end_faults() {
    wait(faults_.stop());
    faults_happen_ = false;
    fault_plan_.reset();
    training_fault_injector_.heal_all();
    if (disturbs_operators(scenario_)) calm_since_ = clock_.now() + kRecovery;
    set_api_away(false);
    set_api_faults();
    for (int node = 0; node < nodes_.count(); ++node) {
        nodes_.delay_reports(node, {});
        if (!nodes_.node_is_up(node)) nodes_.revive_node(node);
    }
}

/// What can't end by itself is ended, so that what doesn't end is a fault.
Task<void> World::make_an_end() {
    co_await clock_.sleep_for(kRecovery);
    co_await user_.set_right();
    if (scenario_.pods.runs_forever == 0) co_return;
    co_await clock_.sleep_for(kRecovery);
    for (const std::string& pod : nodes_.running()) nodes_.crash(pod, 0);
}

Result<SimulationOutcome> World::run() {
    const bool has_faults = scenario_.faults_until > Duration::zero();
    faults_happen_ = has_faults;
    if (disturbs_operators(scenario_)) calm_since_ = Instant::max();
    Result<void> ready = wait(set_up());
    if (!ready) {
        stop_everything();
        return std::move(ready.error());
    }
    tasks_.spawn("submit", submit_all());
    start_faults();
    run_until(Instant(scenario_.faults_until));
    end_faults();
    tasks_.spawn("end", make_an_end());
    run_until(Instant(scenario_.duration));

    invariants_.at_end();
    elastic_pods_.at_end();
    const std::uint64_t before = writes();
    run_until(Instant(scenario_.duration) + kQuiet);
    if (const std::uint64_t more = writes() - before; more > 0)
        ledger_.violated("quiet", fmt::format("{} writes in a quiet hour", more));
    SimulationOutcome result = outcome();
    // The quiet hour is ours: what the scenario lasts is what was asked for.
    result.virtual_time = scenario_.duration;
    stop_everything();
    return result;
}

void World::stop_everything() {
    fault_plan_.reset();
    wait(faults_.stop());
    wait(tasks_.stop());
    for (auto& life : operators_)
        if (life != nullptr) wait(life->stop());
    operators_.clear();
    wait(nodes_.stop());
    wait(elastic_pods_.stop());
    wait(api_.stop());
}

void World::watch_deadline(const std::string& uid, WallTime when) {
    tasks_.spawn("deadline", await_deadline(uid, when));
}

Task<void> World::await_deadline(std::string uid, WallTime when) {
    // The second begins when the calendar gets there, and again when it was set meanwhile.
    bool was_set = true;
    while (was_set) {
        co_await clock_.sleep_until_wall(when);
        const Duration ahead =
            clock_.wall_now().time_since_epoch() - clock_.now().time_since_epoch();
        co_await clock_.sleep_for(1s);
        was_set = ahead != clock_.wall_now().time_since_epoch() - clock_.now().time_since_epoch();
    }
    if (calm_since_ <= clock_.now() - 1s) invariants_.deadline_passed(uid);
}

SimulationOutcome World::outcome() {
    SimulationOutcome result;
    result.violations = ledger_.violations();
    result.hash = history_.hash();
    result.changes = history_.changes();
    result.pods = pods_made_;
    for (const PostedJob& job : user_.posted()) {
        JobOutcome made{.kind = job.type.kind,
                        .namespace_ = job.namespace_,
                        .name = job.name,
                        .state = {},
                        .message = {},
                        .deleted = false,
                        .restarts = 0,
                        .completion_time = {},
                        .took = job_times_.of({job.type.qualified(), job.namespace_, job.name})};
        auto found = wait(user_.client().get(job.type, job.namespace_, job.name));
        made.deleted = !found;
        if (found) {
            const json::value& object = **found;
            made.completion_time = text_at(object, {"status", "completionTime"});
            if (const json::value* list = find_at(object, {"status", "conditions"}))
                for (const json::value& condition : list->get_array())
                    if (text_at(condition, {"status"}) == "True") {
                        made.state = text_at(condition, {"type"});
                        made.message = text_at(condition, {"message"});
                    }
            if (const json::value* types = find_at(object, {"status", "replicaStatuses"}))
                for (const auto& [type, status] : types->get_object())
                    made.restarts += number_at(status, {"restarts"});
        }
        result.jobs.push_back(std::move(made));
    }
    return result;
}

}  // namespace muster::sim
