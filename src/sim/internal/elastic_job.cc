#include "sim/internal/elastic_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "master/terms.h"
#include "master_process/records/config_map_records.h"
#include "sim/elastic/watched_records.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

using namespace std::chrono_literals;

/// Between looks at what runs.
constexpr Duration kLook = 1s;
/// An agent is told of a new world, and has stopped what it ran of the one before.
constexpr Duration kChange = 45s;
/// By then a container has ended whose end an operator has counted.
constexpr Duration kSettled = 2min;

}  // namespace

ElasticJob::ElasticJob(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
                       Ledger& ledger, std::string title, Options options)
    : clock_(clock),
      title_(std::move(title)),
      options_(std::move(options)),
      rules_(clock, ledger, title_),
      graves_(executor),
      tasks_(executor),
      of_pods_{.nodes = {executor, clock, rng, rules_, graves_},
               .reach_master = [this] { return reach_master(); },
               .new_record = [this] { return new_record(); },
               .masters_changed = [this] { masters_changed(); }},
      of_masters_{.executor = executor,
                  .clock = clock,
                  .rng = rng,
                  .invariants = rules_,
                  .graves = graves_,
                  .new_record = [this] { return new_record(); },
                  .reach_api = options_.reach_api,
                  .masters_changed = [this] { masters_changed(); }} {
    rules_.of_masters([this] { look_at_masters(); });
}

ElasticJob::~ElasticJob() = default;

ElasticPod& ElasticJob::pod_of(const json::value& pod, const launch::LaunchPlan& plan,
                               const PodPlace& place, elastic::SimulatedWorkers::Times times) {
    const std::string uid(text_at(pod, {"metadata", "uid"}));
    const auto known = std::ranges::find(uids_, uid);
    if (known != uids_.end())
        return **std::next(pods_.begin(), std::distance(uids_.begin(), known));
    uids_.push_back(uid);
    if (!rendezvous_) rendezvous_ = plan.rendezvous;
    auto& made = pods_.emplace_back(std::make_unique<ElasticPod>(
        of_pods_, std::string(text_at(pod, {"metadata", "name"})), place.address,
        elastic::ElasticNode::Options{.local_size = plan.local_size,
                                      .slot = plan.rendezvous.slot,
                                      .rack = plan.rack,
                                      .times = times,
                                      .check = {}},
        place.faults));
    if (finished_) made->node.workers.finish();
    return *made;
}

MasterPod& ElasticJob::master_of(const json::value& pod, const PodPlace& place) {
    const std::string uid(text_at(pod, {"metadata", "uid"}));
    const auto known = std::ranges::find(master_uids_, uid);
    if (known != master_uids_.end())
        return **std::next(masters_.begin(), std::distance(master_uids_.begin(), known));
    master_uids_.push_back(uid);
    return *masters_.emplace_back(std::make_unique<MasterPod>(
        of_masters_, std::string(text_at(pod, {"metadata", "name"})), place.faults));
}

void ElasticJob::start(ElasticPod& pod, const launch::LaunchPlan& plan,
                       std::function<void(std::int32_t)> ended) {
    pod.start(plan, std::move(ended));
    if (!std::exchange(training_, true)) tasks_.spawn("training", train());
}

Task<void> ElasticJob::stop() {
    for (const auto& pod : pods_) pod->kill(PodProgram::Death::kOfMachine);
    for (const auto& master : masters_) master->kill(PodProgram::Death::kOfMachine);
    co_await tasks_.stop();
    co_await graves_.join();
    for (const auto& pod : pods_) co_await pod->close();
    for (const auto& master : masters_) co_await master->close();
    for (const auto& pod : pods_) co_await pod->node.workers.close();
}

// ---- between pods

/// By the name of the host, which is that of the newest pod, or of the service of the masters' pods.
Task<Result<std::unique_ptr<net::ByteStream>>> ElasticJob::reach_master() {
    for (auto master = masters_.rbegin(); master != masters_.rend(); ++master)
        if ((*master)->runs()) co_return co_await (*master)->accept();
    for (auto pod = pods_.rbegin(); pod != pods_.rend(); ++pod)
        if ((*pod)->runs() && (*pod)->is_host_of(*rendezvous_)) co_return co_await (*pod)->accept();
    co_return Error(Code::kUnavailable, "no pod of that name is there");
}

run::RecordPlace ElasticJob::new_record() {
    Record& record = records_.emplace_back(
        Record{master::MemoryRecords(clock_, options_.record_time), rules_.new_record()});
    record.kept.set_faults(
        [this] { return record_faults_ ? record_faults_() : master::MemoryRecords::Fault::kNone; });
    return {.open = [this, &record](std::uint64_t first,
                                    std::shared_ptr<const job_protocol::JobRecord> known)
                -> std::unique_ptr<master::Records> {
                return std::make_unique<elastic::WatchedRecords>(
                    record.kept, rules_, tasks_, record.number,
                    elastic::RecordClaim{first, std::move(known)});
            },
            .forget = [] {}};
}

void ElasticJob::set_record_faults(master::MemoryRecords::Faults faults) {
    record_faults_ = std::move(faults);
    look_at_ways_to_records();
}

void ElasticJob::set_api_away(bool so) {
    api_is_away_ = so;
    look_at_ways_to_records();
}

/// The end of one fault is not that of the other.
void ElasticJob::look_at_ways_to_records() {
    rules_.records().partition(record_faults_ != nullptr || api_is_away_, clock_.now());
}

void ElasticJob::look_at_masters() {
    for (const auto& pod : pods_) {
        const run::HostedMaster* const master = pod->master();
        if (master == nullptr || master->job() == nullptr) continue;
        if (master->job()->world() != nullptr) rules_.made(*master->job()->world());
    }
    for (const auto& master : masters_)
        if (master->job() != nullptr) look_at_master(*master->job());
}

/// What agents tell it of the job changes with the number of replicas, and a world of before may still
/// run: each that was ever told may have as many nodes as it says.
void ElasticJob::look_at_master(const master::Job& job) {
    if (job.terms()) {
        master::JobOptions told = master::with_terms({}, *job.terms());
        if (terms_) {
            auto& nodes = told.membership;
            nodes.min_nodes = std::min(nodes.min_nodes, terms_->membership.min_nodes);
            nodes.max_nodes = std::max(nodes.max_nodes, terms_->membership.max_nodes);
        }
        terms_ = told;
        rules_.of_job(std::move(told), false);
    }
    if (job.world() != nullptr) rules_.made(*job.world());
}

void ElasticJob::masters_changed() {
    look_at_masters();
    const auto hosted = std::ranges::count_if(pods_, [](const auto& pod) {
        return pod->master() != nullptr && pod->master()->running();
    });
    const auto own = std::ranges::count_if(masters_, &MasterPod::runs);
    if (hosted + own > 1)
        rules_.masters().gone(clock_.now());
    else
        rules_.masters().back(clock_.now());
}

// ---- training

Task<void> ElasticJob::train() {
    while (std::ranges::any_of(pods_, [](const auto& pod) { return pod->runs(); })) {
        co_await clock_.sleep_for(kLook);
        look();
    }
    training_ = false;
}

void ElasticJob::look() {
    progress(kLook);
    look_at_worlds();
    look_at_restarts(clock_.now() - kSettled);
}

/// The program's work is done, a piece of it, where all ranks of a world run.
void ElasticJob::progress(Duration time) {
    std::map<elastic::Invariants::Attempt, std::size_t> live;
    bool whole = false;
    for (const auto& pod : pods_) {
        if (pod->node.workers.live() == 0) continue;
        const job_protocol::World world = *pod->node.workers.running();
        std::size_t& workers = live[{world.generation, world.restarts}];
        workers += pod->node.workers.live();
        whole |= workers == static_cast<std::size_t>(world.ranks);
    }
    if (!whole || finished_) return;
    for (const auto& pod : pods_) pod->node.workers.step();
    done_ += time;
    if (done_ < options_.work) return;
    finished_ = true;
    rules_.say("the program's work is done");
    for (const auto& pod : pods_) pod->node.workers.finish();
}

void ElasticJob::look_at_worlds() {
    std::set<job_protocol::Generation> generations;
    std::vector<const ElasticPod*> live;
    for (const auto& pod : pods_) {
        if (pod->node.workers.live() == 0) continue;
        generations.insert(pod->node.workers.running()->generation);
        live.push_back(pod.get());
    }
    if (generations.size() < 2) return mixed_since_.reset();
    // What is left of the world before hears of the next one from a master.
    const auto in_charge = [](const auto& master) { return master->job() != nullptr; };
    if (!masters_.empty() && std::ranges::none_of(masters_, in_charge)) return mixed_since_.reset();
    const Instant now = clock_.now();
    // Nor does it hear of anything before the record is written.
    if (rules_.records().excuse(now - kChange, now)) return mixed_since_.reset();
    if (std::ranges::any_of(live, [&](const ElasticPod* pod) {
            return rules_.has_excuse(pod->node.name, now - kChange, now);
        }))
        return mixed_since_.reset();
    if (!mixed_since_) mixed_since_ = now;
    if (now - *mixed_since_ < kChange) return;
    mixed_since_ = Instant::max() - 24h;  // once
    rules_.wrong("one-world", fmt::format("workers of {} generations have run beside each other",
                                          generations.size()));
}

// ---- what the API shows

void ElasticJob::job_changed(const json::value& job) {
    if (condition_of(job, "Succeeded") == "True" &&
        !rules_.has_ended(job_protocol::Verdict::Kind::kSucceeded))
        rules_.wrong("success", "is Succeeded, and no master has said so");
    over_ = condition_of(job, "Succeeded") == "True" || condition_of(job, "Failed") == "True";
    const json::value* types = find_at(job, {"status", "replicaStatuses"});
    if (types == nullptr || !types->is_object()) return;
    std::int64_t told = 0;
    for (const auto& [type, status] : types->get_object()) told += number_at(status, {"restarts"});
    if (told <= most_told_) return;
    most_told_ = told;
    told_.push_back({clock_.now(), told});
}

void ElasticJob::pod_given_up(const std::string& uid, bool failed) {
    if (std::ranges::find(given_up_, uid) != given_up_.end()) return;
    const auto ends_by_that = [&](const auto& pods, const std::list<std::string>& uids) {
        const auto known = std::ranges::find(uids, uid);
        if (known == uids.end()) return false;
        const auto& pod = **std::next(pods.begin(), std::distance(uids.begin(), known));
        const Instant now = clock_.now();
        const bool ends =
            pod.runs() && !pod.machine.excuse(now, now) && !pod.machine.is_cut_off(now);
        return ends || (!pod.runs() && failed);
    };
    if (ends_by_that(pods_, uids_) || ends_by_that(masters_, master_uids_)) return;
    given_up_.push_back(uid);
    lost_container();
}

/// Whoever deletes it takes with it what the masters before have charged.
void ElasticJob::record_changed(const json::value* object) {
    if (object == nullptr) return record_in_api_.reset();
    const auto record = master_process::record_in(*object);
    if (!record || record->epoch == 0) return;
    if (!record_in_api_) record_in_api_ = rules_.new_record();
    rules_.recorded(*record, *record_in_api_);
}

void ElasticJob::look_at_restarts(Instant until) {
    while (!told_.empty() && told_.front().at <= until) {
        if (options_.counts_are_exact && told_.front().restarts > containers_ended_)
            rules_.wrong("real-restarts",
                         fmt::format("{} restarts are counted, and {} containers have ended",
                                     told_.front().restarts, containers_ended_));
        told_.pop_front();
    }
}

void ElasticJob::at_end() {
    look_at_restarts(Instant::max());
    for (const auto& pod : pods_)
        if (pod->node.workers.live() > 0 && over_)
            rules_.wrong("workers-end", pod->name + " still runs workers");
}

}  // namespace muster::sim
