#include "sim/simulated_nodes.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <deque>
#include <queue>
#include <set>
#include <unordered_map>

#include "kube/client/client.h"
#include "kube/client/reflector.h"
#include "sim/internal/simulated_pod.h"

namespace muster::sim {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr std::string_view kUserAgent = "simulated-nodes";

enum class Health { kUp, kSilent, kDead };

struct Node {
    Health health = Health::kUp;
    bool schedulable = true;
    Duration report_delay{};
    std::uint64_t lost = 0;  ///< counts changes of health, so that old time-outs know
    FaultWindows faults = {};
    std::vector<PodPtr> orphans = {};  ///< that the API knows no more, and whose programs run
};

enum class Wake { kLife, kWrite };

struct Due {
    Instant when;
    std::uint64_t sequence;
    Wake wake;
    std::uint64_t epoch;  ///< of kLife: the pod's when it was set
    PodPtr pod;

    bool operator>(const Due& other) const {
        return std::pair(when, sequence) > std::pair(other.when, other.sequence);
    }
};

}  // namespace

struct SimulatedNodes::Impl {
    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& the_clock, Rng& rng,
         Life the_life, NodesOptions the_options, StartProgram programs)
        : options(the_options),
          clock(the_clock),
          life(std::move(the_life)),
          start_program(std::move(programs)),
          tasks(std::move(executor)),
          client(transport, std::string(kUserAgent)),
          nodes(static_cast<std::size_t>(std::max(1, options.nodes))),
          reflector(client, clock, rng, kube::types::kPods, kube::ListOptions{},
                    {.begin_list = [this] { listed.clear(); },
                     .listed = [this](auto key,
                                      auto object) { listed.emplace_back(key, std::move(object)); },
                     .end_list = [this] { replace(std::exchange(listed, {})); },
                     .upsert = [this](const auto& key, auto object) { see(key, object); },
                     .erase = [this](const auto& key) { forget(key); }}) {}

    Node& node_of(const SimulatedPod& pod) { return nodes[static_cast<std::size_t>(pod.node)]; }
    bool up(const SimulatedPod& pod) { return node_of(pod).health == Health::kUp; }

    // --- what the API shows

    void replace(std::vector<std::pair<std::string, kube::ObjectPtr>> items) {
        std::set<std::string> there;
        for (auto& [key, object] : items) {
            there.insert(key);
            see(key, object);
        }
        std::vector<std::string> gone;
        for (const auto& [key, pod] : pods)
            if (!there.contains(key)) gone.push_back(key);
        std::ranges::sort(gone);  // forget() acts, and equal seeds give equal runs
        for (const std::string& key : gone) forget(key);
    }

    void forget(const std::string& key) {
        auto found = pods.find(key);
        if (found == pods.end()) return;
        disown(found->second);
        pods.erase(found);
    }

    void see(const std::string& key, const kube::ObjectPtr& object) {
        PodPtr& pod = pods[key];
        const bool known = pod != nullptr && pod->uid() == uid_of(*object);
        if (!known) {
            if (pod != nullptr) disown(pod);
            pod = std::make_shared<SimulatedPod>(object, ++addresses);
            pod->bind_from = clock.now() + options.scheduling_delay;
            if (pod->stage == PodStage::kUnbound) wake(pod, Wake::kWrite, options.scheduling_delay);
        } else {
            pod->object = object;
        }
        if (pod->stage == PodStage::kUnbound) accept(pod);
        if (!pod->deleting && pod->shows_deletion()) stop_pod(pod);
        want_write(pod);
    }

    /// The node takes over a pod that was bound to it.
    void accept(const PodPtr& pod) {
        const std::string_view name = pod->bound_to();
        if (name.empty()) return;
        int number = 0;
        while (number < static_cast<int>(nodes.size()) && node_name(number) != name) ++number;
        if (number == static_cast<int>(nodes.size())) {
            pod->gone = true;  // another node's
            return;
        }
        pod->node = number;
        pod->accepted_at = clock.wall_now();
        pod->stage = PodStage::kStarting;
        pod->life = life(pod->identity(), 0);
        if (up(*pod)) step_after(pod, pod->life.start_delay);
    }

    // --- what happens on a node

    /// The pod's next step comes after `delay`; whatever was planned before does not.
    void step_after(const PodPtr& pod, Duration delay) {
        ++pod->epoch;
        if (delay == Duration::max()) return;
        if (delay > Duration::zero()) return wake(pod, Wake::kLife, delay);
        step(pod);
    }

    void step(const PodPtr& pod) {
        if (pod->gone || node_of(*pod).health == Health::kDead) return;
        switch (pod->stage) {
            case PodStage::kStarting:
                return run(pod);
            case PodStage::kBackingOff:
                ++pod->restarts;
                pod->life = life(pod->identity(), pod->restarts);
                return run(pod);
            case PodStage::kRunning:
                return end(pod, pod->life.exit_code);
            case PodStage::kStopping:
                if (pod->program == nullptr) return finish(pod, kTerminatedExit);
                pod->program->kill(PodProgram::Death::kOfContainer);
                return finish(pod, kKilledExit);
            case PodStage::kUnbound:
            case PodStage::kEnded:
                return;
        }
    }

    void run(const PodPtr& pod) {
        pod->stage = PodStage::kRunning;
        pod->started_at = clock.wall_now();
        pod->has_run = true;
        if (start_program)
            pod->program = start_program(
                *pod->object, {pod->node, pod_address(pod->address), node_of(*pod).faults},
                [this, weak = std::weak_ptr(pod)](std::int32_t exit_code) {
                    if (const PodPtr ended = weak.lock()) program_ended(ended, exit_code);
                });
        if (pod->program != nullptr) pod->program->cut_off(node_of(*pod).health == Health::kSilent);
        report(pod);
        step_after(pod, pod->program ? Duration::max() : pod->life.run_time);
    }

    void program_ended(const PodPtr& pod, std::int32_t exit_code) {
        std::erase(node_of(*pod).orphans, pod);
        if (pod->gone) return;
        if (pod->stage == PodStage::kRunning) end(pod, exit_code);
        if (pod->stage == PodStage::kStopping) finish(pod, exit_code);
    }

    bool program_runs(const SimulatedPod& pod) const {
        return pod.program != nullptr &&
               (pod.stage == PodStage::kRunning || pod.stage == PodStage::kStopping);
    }

    /// The containers of the current start have ended.
    void end(const PodPtr& pod, std::int32_t exit_code) {
        if (pod->deleting || !pod->restarts_after(exit_code)) return finish(pod, exit_code);
        pod->last = pod->make_end(exit_code, clock.wall_now());
        const Duration ran = clock.wall_now() - pod->started_at;
        if (ran > 2 * options.longest_crash_backoff) pod->crash_backoff = {};
        const Duration pause = pod->crash_backoff;
        pod->crash_backoff = pause == Duration::zero()
                                 ? options.crash_backoff
                                 : std::min(2 * pause, options.longest_crash_backoff);
        pod->stage = PodStage::kBackingOff;
        if (pause > Duration::zero()) report(pod);
        step_after(pod, pause);
    }

    void finish(const PodPtr& pod, std::int32_t exit_code) {
        pod->stage = PodStage::kEnded;
        pod->end = pod->make_end(exit_code, clock.wall_now());
        ++pod->epoch;
        report(pod);
    }

    /// It shall be deleted: its containers get SIGTERM.
    void stop_pod(const PodPtr& pod) {
        pod->deleting = true;
        if (pod->stage == PodStage::kUnbound || pod->stage == PodStage::kEnded) return;
        if (!up(*pod)) return;  // not heard
        if (pod->stage == PodStage::kStarting) return finish(pod, kNeverRanExit);
        if (pod->stage == PodStage::kBackingOff) return finish(pod, pod->last->exit_code);
        pod->stage = PodStage::kStopping;
        if (pod->program == nullptr)
            return step_after(pod, std::min<Duration>(pod->life.stop_time, pod->grace()));
        pod->program->terminate();
        step_after(pod, pod->grace());
    }

    /// The API knows it no more. What runs of it is ended by its node, once that hears of it.
    void disown(const PodPtr& pod) {
        pod->gone = true;
        if (pod->node < 0 || !program_runs(*pod)) return;
        Node& node = node_of(*pod);
        if (node.health == Health::kDead ||
            std::ranges::find(node.orphans, pod) != node.orphans.end())
            return;
        node.orphans.push_back(pod);
        if (node.health == Health::kUp) tasks.spawn("orphan", end_orphan(pod));
    }

    Task<void> end_orphan(PodPtr pod) {
        pod->program->terminate();
        co_await clock.sleep_for(pod->grace());
        if (std::erase(node_of(*pod).orphans, pod) > 0)
            pod->program->kill(PodProgram::Death::kOfContainer);
    }

    // --- what is told

    void report(const PodPtr& pod) {
        pod->unreported = true;
        const Duration delay = node_of(*pod).report_delay;
        pod->report_from = clock.now() + delay;
        if (delay > Duration::zero())
            wake(pod, Wake::kWrite, delay);
        else
            want_write(pod);
    }

    enum class Write { kNone, kBind, kReport, kRemove, kEvict, kMarkLost, kRemoveLost };

    Write next_write(const SimulatedPod& pod) {
        if (pod.gone) return Write::kNone;
        if (pod.stage == PodStage::kUnbound)
            return pod.shows_deletion() || clock.now() < pod.bind_from ? Write::kNone
                                                                       : Write::kBind;
        if (pod.lost == Lost::kRemoved)
            return pod.marked_lost || pod.shows_end() ? Write::kRemoveLost : Write::kMarkLost;
        if (pod.lost == Lost::kEvicted && !pod.shows_deletion()) return Write::kEvict;
        if (!up(pod)) return Write::kNone;
        if (pod.unreported) return clock.now() < pod.report_from ? Write::kNone : Write::kReport;
        return pod.deleting && pod.stage == PodStage::kEnded ? Write::kRemove : Write::kNone;
    }

    void want_write(const PodPtr& pod) {
        if (pod->queued || next_write(*pod) == Write::kNone) return;
        if (clock.now() < pod->retry_from) return;  // its wake-up is set
        pod->queued = true;
        ready.push_back(pod);
        if (writers == options.parallel_writes) return;
        ++writers;
        tasks.spawn("node reports", write_all());
    }

    Task<void> write_all() {
        while (!ready.empty()) {
            PodPtr pod = std::move(ready.front());
            ready.pop_front();
            const Write what = next_write(*pod);
            if (what != Write::kNone) {
                Result<void> written = co_await write(pod, what);
                if (!written && written.error().code() == Code::kNotFound) pod->gone = true;
                if (!written) {
                    Duration pause = kRetry;
                    if (auto asked = written.error().retry_after()) pause = *asked;
                    pod->retry_from = clock.now() + pause;
                    wake(pod, Wake::kWrite, pause);
                }
            }
            pod->queued = false;
            want_write(pod);
            co_await asio::post(tasks.executor(), asio::use_awaitable);
        }
        --writers;
    }

    Task<Result<void>> write(PodPtr pod, Write what) {
        switch (what) {
            case Write::kBind:
                return bind(std::move(pod));
            case Write::kReport:
                return send_report(std::move(pod));
            case Write::kMarkLost:
                return mark_lost(std::move(pod));
            default:
                break;
        }
        kube::DeleteOptions how;
        how.precondition_uid = pod->uid();
        if (what != Write::kEvict) how.grace_period_seconds = 0;
        return remove(std::move(pod), std::move(how));
    }

    Task<Result<void>> bind(PodPtr pod) {
        std::size_t tries = 0;
        while (!nodes[next_node % nodes.size()].schedulable && tries < nodes.size()) {
            ++next_node;
            ++tries;
        }
        if (tries == nodes.size())
            co_return Error(Code::kUnavailable, "no node takes pods").with_retry_after(kRetrySlow);
        const int chosen = static_cast<int>(next_node++ % nodes.size());
        json::value binding = json::object{
            {"apiVersion", "v1"},
            {"kind", "Binding"},
            {"metadata", {{"name", pod->name()}, {"uid", pod->uid()}}},
            {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_name(chosen)}}}};
        auto bound = co_await client.create_subresource(kube::types::kPods, pod->namespace_(),
                                                        pod->name(), "binding", std::move(binding));
        // What was bound is seen in the watch. Until then, and after a conflict, nothing is to do.
        if (!bound && bound.error().code() != Code::kConflict) co_return std::move(bound.error());
        pod->bind_from = clock.now() + kRebind;
        wake(pod, Wake::kWrite, kRebind);
        co_return Result<void>();
    }

    Task<Result<void>> send_report(PodPtr pod) {
        const bool running_first = options.report_every_phase && pod->has_run && !pod->told_running;
        PodReport told = pod->report(running_first);
        pod->unreported = running_first && pod->stage != PodStage::kRunning;
        const std::uint64_t reports = ++pod->reports;
        json::value patch =
            json::object{{"metadata", {{"uid", pod->uid()}}},
                         {"status", make_pod_status(pod->object->at("spec").get_object(), told)}};
        auto written =
            co_await client.patch(kube::types::kPods, pod->namespace_(), pod->name(),
                                  kube::ContentType::kMergePatch, std::move(patch), "status");
        if (written) {
            pod->told_running |= told.state == PodReport::State::kRunning;
            co_return Result<void>();
        }
        if (reports == pod->reports) pod->unreported = true;
        co_return std::move(written.error());
    }

    Task<Result<void>> mark_lost(PodPtr pod) {
        json::value patch = json::object{{"metadata", {{"uid", pod->uid()}}},
                                         {"status",
                                          {{"phase", "Failed"},
                                           {"reason", "NodeLost"},
                                           {"message", "The pod's node is gone."}}}};
        auto written =
            co_await client.patch(kube::types::kPods, pod->namespace_(), pod->name(),
                                  kube::ContentType::kMergePatch, std::move(patch), "status");
        if (!written) co_return std::move(written.error());
        pod->marked_lost = true;
        co_return Result<void>();
    }

    Task<Result<void>> remove(PodPtr pod, kube::DeleteOptions how) {
        const bool graceful = !how.grace_period_seconds.has_value();
        auto removed = co_await client.remove(kube::types::kPods, pod->namespace_(), pod->name(),
                                              std::move(how));
        if (!removed) co_return std::move(removed.error());
        if (graceful) {
            pod->retry_from = clock.now() + kRebind;  // until the watch shows it
            wake(pod, Wake::kWrite, kRebind);
        } else {
            pod->gone = true;
        }
        co_return Result<void>();
    }

    // --- time

    void wake(const PodPtr& pod, Wake what, Duration delay) {
        if (what == Wake::kWrite && delay <= Duration::zero()) return want_write(pod);
        const Instant when = clock.now() + delay;
        due.push({when, ++sequence, what, pod->epoch, pod});
        arm(when);
    }

    void arm(Instant when) {
        if (!armed.empty() && *armed.begin() <= when) return;
        armed.insert(when);
        tasks.spawn("node timer", run_timer(when));
    }

    Task<void> run_timer(Instant when) {
        co_await clock.sleep_until(when);
        armed.erase(when);
        while (!due.empty() && due.top().when <= clock.now()) {
            const Due next = due.top();
            due.pop();
            if (next.pod->gone) continue;
            if (next.wake == Wake::kWrite)
                want_write(next.pod);
            else if (next.epoch == next.pod->epoch)
                step(next.pod);
        }
        if (!due.empty()) arm(due.top().when);
    }

    // --- nodes that fail

    void lose_node(int number, Health how) {
        Node& node = nodes[static_cast<std::size_t>(number)];
        node.health = how;
        tasks.spawn("node loss", follow_loss(number, ++node.lost));
        if (how == Health::kDead)
            node.faults.gone(clock.now());
        else
            node.faults.partition(true, clock.now());
        for_programs(number, [how](PodProgram& program) {
            if (how == Health::kDead)
                program.kill(PodProgram::Death::kOfMachine);
            else
                program.cut_off(true);
        });
        if (how == Health::kDead) node.orphans.clear();
    }

    /// All that run there.
    void for_programs(int number, const std::function<void(PodProgram&)>& act) {
        for (const PodPtr& pod : pods_of(number))
            if (program_runs(*pod)) act(*pod->program);
        const std::vector<PodPtr> orphans = nodes[static_cast<std::size_t>(number)].orphans;
        for (const PodPtr& pod : orphans) act(*pod->program);
    }

    Task<void> follow_loss(int number, std::uint64_t loss) {
        Node& node = nodes[static_cast<std::size_t>(number)];
        const Instant begin = clock.now();
        co_await clock.sleep_until(begin + options.unschedulable_after);
        if (node.lost != loss) co_return;
        node.schedulable = false;
        co_await clock.sleep_until(begin + options.evict_after);
        if (node.lost != loss) co_return;
        mark_pods(number, Lost::kEvicted);
        co_await clock.sleep_until(begin + options.remove_after);
        if (node.lost != loss) co_return;
        mark_pods(number, Lost::kRemoved);
    }

    void mark_pods(int number, Lost lost) {
        for (const PodPtr& pod : pods_of(number)) {
            pod->lost = lost;
            want_write(pod);
        }
    }

    void revive(int number) {
        Node& node = nodes[static_cast<std::size_t>(number)];
        const bool died = node.health == Health::kDead;
        node.health = Health::kUp;
        node.schedulable = true;
        ++node.lost;
        node.faults.back(clock.now());
        node.faults.partition(false, clock.now());
        if (!died) for_programs(number, [](PodProgram& program) { program.cut_off(false); });
        for (const PodPtr& pod : node.orphans) tasks.spawn("orphan", end_orphan(pod));
        for (const PodPtr& pod : pods_of(number)) {
            if (pod->lost == Lost::kEvicted) pod->lost = Lost::kNo;
            if (died && pod->stage == PodStage::kStopping) finish(pod, kKilledExit);
            if (died && pod->stage == PodStage::kRunning) end(pod, kKilledExit);
            if (pod->stage == PodStage::kStarting || (died && pod->stage == PodStage::kBackingOff))
                step_after(pod, pod->life.start_delay);
            if (pod->shows_deletion() && pod->stage != PodStage::kStopping) stop_pod(pod);
            want_write(pod);
        }
    }

    std::vector<PodPtr> pods_of(int number) const {
        std::vector<std::pair<std::string, PodPtr>> found;
        for (const auto& [key, pod] : pods)
            if (pod->node == number) found.emplace_back(key, pod);
        std::ranges::sort(found);
        std::vector<PodPtr> sorted;
        for (auto& [key, pod] : found) sorted.push_back(std::move(pod));
        return sorted;
    }

    PodPtr find_running(const std::string& key) {
        auto found = pods.find(key);
        if (found == pods.end() || found->second->stage != PodStage::kRunning) return nullptr;
        return up(*found->second) ? found->second : nullptr;
    }

    static constexpr Duration kRebind = std::chrono::seconds(5);
    static constexpr std::chrono::milliseconds kRetrySlow{5'000};

    NodesOptions options;
    Clock& clock;
    Life life;
    StartProgram start_program;
    TaskGroup tasks;
    kube::Client client;
    std::vector<Node> nodes;
    std::unordered_map<std::string, PodPtr> pods;  ///< by "namespace/name"
    /// Of a list that is not complete yet.
    std::vector<std::pair<std::string, kube::ObjectPtr>> listed;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
    std::set<Instant> armed;  ///< the deadlines that a timer task sleeps for
    std::uint64_t sequence = 0;
    std::uint64_t addresses = 0;
    std::deque<PodPtr> ready;  ///< pods with something to write
    int writers = 0;
    std::size_t next_node = 0;
    kube::Reflector reflector;
};

SimulatedNodes::SimulatedNodes(asio::any_io_executor executor, kube::Transport& transport,
                               Clock& clock, Rng& rng, Life life, NodesOptions options,
                               StartProgram start_program)
    : impl_(std::make_unique<Impl>(std::move(executor), transport, clock, rng, std::move(life),
                                   options, std::move(start_program))) {}

SimulatedNodes::~SimulatedNodes() = default;

Task<void> SimulatedNodes::start() {
    impl_->reflector.start(impl_->tasks);
    co_await impl_->reflector.wait_synced();
}

Task<void> SimulatedNodes::stop() {
    for (int node = 0; node < count(); ++node)
        impl_->for_programs(
            node, [](PodProgram& program) { program.kill(PodProgram::Death::kOfMachine); });
    co_await impl_->tasks.stop();
}

const FaultWindows& SimulatedNodes::faults_of(int node) const {
    return impl_->nodes[static_cast<std::size_t>(node)].faults;
}

int SimulatedNodes::count() const { return static_cast<int>(impl_->nodes.size()); }

bool SimulatedNodes::node_is_up(int node) const {
    return impl_->nodes[static_cast<std::size_t>(node)].health == Health::kUp;
}

void SimulatedNodes::kill_node(int node) { impl_->lose_node(node, Health::kDead); }

void SimulatedNodes::silence_node(int node) { impl_->lose_node(node, Health::kSilent); }

void SimulatedNodes::revive_node(int node) { impl_->revive(node); }

void SimulatedNodes::delay_reports(int node, Duration delay) {
    impl_->nodes[static_cast<std::size_t>(node)].report_delay = delay;
}

bool SimulatedNodes::evict(const std::string& pod) {
    const PodPtr found = impl_->find_running(pod);
    if (found == nullptr) return false;
    found->evicted = true;
    if (found->program) found->program->kill(PodProgram::Death::kOfContainer);
    impl_->finish(found, kKilledExit);
    return true;
}

bool SimulatedNodes::crash(const std::string& pod, std::int32_t exit_code) {
    const PodPtr found = impl_->find_running(pod);
    if (found == nullptr) return false;
    if (found->program) found->program->kill(PodProgram::Death::kOfContainer);
    impl_->end(found, exit_code);
    return true;
}

std::vector<std::string> SimulatedNodes::running() const {
    std::vector<std::string> found;
    for (const auto& [key, pod] : impl_->pods)
        if (impl_->find_running(key) != nullptr) found.push_back(key);
    std::ranges::sort(found);
    return found;
}

}  // namespace muster::sim
