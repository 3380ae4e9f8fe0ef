#include "sim/internal/elastic_pods.h"

#include <fmt/format.h>

#include <utility>

#include "sim/internal/generated_job.h"
#include "sim/internal/json_view.h"
#include "sim/internal/programs/launch_of_pod.h"
#include "sim/internal/programs/master_of_pod.h"

namespace muster::sim {

namespace {

/// What runs in one start of a pod's containers.
template <class Pod>
class Program final : public PodProgram {
  public:
    Program(ElasticJob& job, Pod& pod) : job_(job), pod_(pod) {}
    ~Program() override { kill(Death::kOfContainer); }

    /// What is told when it ends by itself, which tells `ended`.
    std::function<void(std::int32_t)> tell(std::function<void(std::int32_t)> ended) {
        return [this, told = std::move(ended), runs = runs_](std::int32_t exit_code) {
            count();
            *runs = false;
            told(exit_code);
        };
    }
    void terminate() override {
        if (!*runs_) return;
        count();
        pod_.terminate();
    }
    void kill(Death death) override {
        if (!std::exchange(*runs_, false)) return;
        count();
        pod_.kill(death);
    }
    void cut_off(bool so) override { pod_.cut_off(so); }

  private:
    void count() {
        if (!std::exchange(counted_, true)) job_.lost_container();
    }

    ElasticJob& job_;
    Pod& pod_;
    std::shared_ptr<bool> runs_ = std::make_shared<bool>(true);
    bool counted_ = false;
};

bool has_program(const json::value& pod) {
    const auto launched = launch_of_pod(pod);
    if (launched && *launched) return true;
    const auto master = master_of_pod(pod);
    return master && *master;
}

}  // namespace

ElasticPods::ElasticPods(asio::any_io_executor executor, Clock& clock, Ledger& ledger,
                         Options options)
    : executor_(std::move(executor)),
      clock_(clock),
      ledger_(ledger),
      options_(std::move(options)),
      rng_(options_.seed) {}

ElasticPods::~ElasticPods() = default;

/// Null: nothing owns the pod.
ElasticJob* ElasticPods::job_of(const json::value& pod) {
    const json::value* const owner = controller_of(pod);
    if (owner == nullptr) return nullptr;
    auto& job = jobs_[std::string(text_at(*owner, {"uid"}))];
    if (!job)
        job = std::make_unique<ElasticJob>(
            executor_, clock_, rng_, ledger_,
            fmt::format("{} {}/{}", text_at(*owner, {"kind"}),
                        text_at(pod, {"metadata", "namespace"}), text_at(*owner, {"name"})),
            ElasticJob::Options{.work = draw(options_.training.work, rng_),
                                .counts_are_exact = options_.counts_are_exact,
                                .reach_api = options_.reach_api});
    return job.get();
}

void ElasticPods::refused(const json::value& pod, const Error& error) {
    ledger_.violated("accepted", fmt::format("{}/{}: {}", text_at(pod, {"metadata", "namespace"}),
                                             text_at(pod, {"metadata", "name"}), error.message()));
}

std::unique_ptr<PodProgram> ElasticPods::start(const json::value& pod, const PodPlace& place,
                                               std::function<void(std::int32_t)> ended) {
    if (!options_.training.happens()) return nullptr;
    const auto launched = launch_of_pod(pod);
    if (!launched) refused(pod, launched.error());
    if (launched && *launched) return start_agent(pod, place, **launched, std::move(ended));
    const auto master = master_of_pod(pod);
    if (!master) refused(pod, master.error());
    if (master && *master) return start_master(pod, place, **master, std::move(ended));
    return nullptr;
}

std::unique_ptr<PodProgram> ElasticPods::start_agent(const json::value& pod, const PodPlace& place,
                                                     const launch::LaunchPlan& plan,
                                                     std::function<void(std::int32_t)> ended) {
    ElasticJob* const job = job_of(pod);
    if (job == nullptr) return nullptr;
    ElasticPod& known = job->pod_of(pod, plan, place,
                                    {.start = draw(options_.training.worker_start, rng_),
                                     .stop = draw(options_.training.worker_stop, rng_)});
    auto program = std::make_unique<Program<ElasticPod>>(*job, known);
    job->start(known, plan, program->tell(std::move(ended)));
    return program;
}

std::unique_ptr<PodProgram> ElasticPods::start_master(const json::value& pod, const PodPlace& place,
                                                      const master_process::Arguments& arguments,
                                                      std::function<void(std::int32_t)> ended) {
    ElasticJob* const job = job_of(pod);
    if (job == nullptr) return nullptr;
    MasterPod& known = job->master_of(pod, place);
    auto program = std::make_unique<Program<MasterPod>>(*job, known);
    known.start(arguments, program->tell(std::move(ended)));
    return program;
}

void ElasticPods::committed(const store::StoreChange& change) {
    if (!options_.training.happens()) return;
    if (change.key.resource == "pods") return pod_changed(change);
    const json::value& object = change.object ? *change.object : *change.previous;
    if (change.key.resource == "configmaps")
        return record_changed(object, change.object != nullptr);
    const auto job = jobs_.find(std::string(text_at(object, {"metadata", "uid"})));
    if (job == jobs_.end()) return;
    if (change.object)
        job->second->job_changed(object);
    else
        job->second->job_removed();
}

/// The operator makes one for each job whose masters reach the API, and no other.
void ElasticPods::record_changed(const json::value& object, bool is_there) {
    const json::value* const owner = controller_of(object);
    const auto job =
        owner == nullptr ? jobs_.end() : jobs_.find(std::string(text_at(*owner, {"uid"})));
    if (job != jobs_.end()) job->second->record_changed(is_there ? &object : nullptr);
}

void ElasticPods::pod_changed(const store::StoreChange& change) {
    if (!change.object) return;
    const json::value& pod = *change.object;
    const bool failed = text_at(pod, {"status", "phase"}) == "Failed";
    if (change.previous != nullptr && !failed && (!deleting(pod) || pod_ended(pod))) return;
    if (change.previous != nullptr && deleting(*change.previous) && !failed) return;
    if (!has_program(pod)) return;
    ElasticJob* const job = job_of(pod);
    if (job == nullptr || change.previous == nullptr) return;
    job->pod_given_up(std::string(text_at(pod, {"metadata", "uid"})), failed);
}

void ElasticPods::at_end() {
    for (const auto& [uid, job] : jobs_) job->at_end();
}

Task<void> ElasticPods::stop() {
    for (const auto& [uid, job] : jobs_) co_await job->stop();
}

Instant ElasticPods::happened_in(const std::string& uid) const {
    const auto job = jobs_.find(uid);
    return job == jobs_.end() ? Instant{} : job->second->rules().last_said();
}

std::vector<ElasticPod*> ElasticPods::running() const {
    std::vector<ElasticPod*> found;
    for (const auto& [uid, job] : jobs_)
        for (const auto& pod : job->pods())
            if (pod->runs()) found.push_back(pod.get());
    return found;
}

std::vector<MasterPod*> ElasticPods::masters() const {
    std::vector<MasterPod*> found;
    for (const auto& [uid, job] : jobs_)
        for (const auto& master : job->masters())
            if (master->runs()) found.push_back(master.get());
    return found;
}

}  // namespace muster::sim
