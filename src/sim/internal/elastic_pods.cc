#include "sim/internal/elastic_pods.h"

#include <fmt/format.h>

#include <utility>

#include "sim/internal/generated_job.h"
#include "sim/internal/json_view.h"
#include "sim/internal/launch_of_pod.h"

namespace muster::sim {

namespace {

/// muster-run in one start of a pod's containers.
class Program final : public PodProgram {
  public:
    Program(ElasticJob& job, ElasticPod& pod) : job_(job), pod_(pod) {}
    ~Program() override { kill(Death::kOfContainer); }

    void start(const launch::LaunchPlan& plan, std::function<void(std::int32_t)> ended) {
        job_.start(pod_, plan,
                   [this, told = std::move(ended), runs = runs_](std::int32_t exit_code) {
                       count();
                       *runs = false;
                       told(exit_code);
                   });
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
    void cut_off(bool so) override { pod_.node.link.set_machine_cut_off(so); }

  private:
    void count() {
        if (!std::exchange(counted_, true)) job_.lost_container();
    }

    ElasticJob& job_;
    ElasticPod& pod_;
    std::shared_ptr<bool> runs_ = std::make_shared<bool>(true);
    bool counted_ = false;
};

const json::value* controller_of(const json::value& object) {
    const json::value* owners = find_at(object, {"metadata", "ownerReferences"});
    if (owners == nullptr || !owners->is_array()) return nullptr;
    for (const json::value& owner : owners->get_array()) {
        const json::value* controls = find_at(owner, {"controller"});
        if (controls != nullptr && *controls == true) return &owner;
    }
    return nullptr;
}

}  // namespace

ElasticPods::ElasticPods(asio::any_io_executor executor, Clock& clock, Ledger& ledger,
                         Options options)
    : executor_(std::move(executor)),
      clock_(clock),
      ledger_(ledger),
      options_(options),
      rng_(options.seed) {}

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
                                .counts_are_exact = options_.counts_are_exact});
    return job.get();
}

std::unique_ptr<PodProgram> ElasticPods::start(const json::value& pod, const PodPlace& place,
                                               std::function<void(std::int32_t)> ended) {
    if (!options_.training.happens()) return nullptr;
    const auto launched = launch_of_pod(pod);
    if (!launched)
        ledger_.violated(
            "accepted",
            fmt::format("{}/{}: {}", text_at(pod, {"metadata", "namespace"}),
                        text_at(pod, {"metadata", "name"}), launched.error().message()));
    ElasticJob* const job = launched && *launched ? job_of(pod) : nullptr;
    if (job == nullptr) return nullptr;
    const launch::LaunchPlan& plan = **launched;
    ElasticPod& known = job->pod_of(pod, plan, place,
                                    {.start = draw(options_.training.worker_start, rng_),
                                     .stop = draw(options_.training.worker_stop, rng_)});
    auto program = std::make_unique<Program>(*job, known);
    program->start(plan, std::move(ended));
    return program;
}

void ElasticPods::committed(const store::StoreChange& change) {
    if (!options_.training.happens()) return;
    if (change.key.resource == "pods") return pod_changed(change);
    const json::value& object = change.object ? *change.object : *change.previous;
    const auto job = jobs_.find(std::string(text_at(object, {"metadata", "uid"})));
    if (job == jobs_.end()) return;
    if (change.object)
        job->second->job_changed(object);
    else
        job->second->job_removed();
}

void ElasticPods::pod_changed(const store::StoreChange& change) {
    if (!change.object) return;
    const json::value& pod = *change.object;
    const bool failed = text_at(pod, {"status", "phase"}) == "Failed";
    if (change.previous != nullptr && !failed && (!deleting(pod) || pod_ended(pod))) return;
    if (change.previous != nullptr && deleting(*change.previous) && !failed) return;
    if (const auto launched = launch_of_pod(pod); !launched || !*launched) return;
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

std::vector<ElasticPod*> ElasticPods::running() const {
    std::vector<ElasticPod*> found;
    for (const auto& [uid, job] : jobs_)
        for (const auto& pod : job->pods())
            if (pod->runs()) found.push_back(pod.get());
    return found;
}

}  // namespace muster::sim
