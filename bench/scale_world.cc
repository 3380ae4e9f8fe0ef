#include "scale_world.h"

#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "base/time/real_clock.h"
#include "jobs/kind.h"

namespace muster::scale {

namespace {

apiserver::ApiServerOptions roomy() {
    apiserver::ApiServerOptions options;
    options.watches.watcher_buffer = 1'000'000;
    return options;
}

std::unique_ptr<Clock> make_clock(Time time) {
    if (time == Time::kReal) return std::make_unique<RealClock>();
    return std::make_unique<SimClock>();
}

Task<void> read_all(std::unique_ptr<kube::WatchStream> stream,
                    std::function<void(const kube::WatchEvent&)> see) {
    for (;;) {
        auto event = co_await stream->next();
        if (!event) die("a watch broke: " + event.error().message());
        if (!event->has_value()) co_return;
        if ((*event)->type == kube::WatchEventType::kError) die("a watch fell behind");
        see(**event);
    }
}

Task<bool> done_after(Task<void> task) {
    co_await std::move(task);
    co_return true;
}

const json::value* at(const json::value& object, std::initializer_list<std::string_view> path) {
    const json::value* value = &object;
    for (std::string_view key : path) {
        const json::object* fields = value->if_object();
        value = fields == nullptr ? nullptr : fields->if_contains(key);
        if (value == nullptr) return nullptr;
    }
    return value;
}

json::value replica(std::string_view container, int count) {
    return {{"replicas", count},
            {"restartPolicy", "OnFailure"},
            {"template",
             {{"spec",
               {{"containers",
                 json::array{json::object{{"name", container},
                                          {"image", "docker.io/example/training:1.0"},
                                          {"command", json::array{"python3", "train.py"}},
                                          {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}}}};
}

}  // namespace

const kube::ResourceType kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob", true};
const kube::ResourceType kTFJobs{"kubeflow.org", "v1", "tfjobs", "TFJob", true};

World::World(Time time, std::uint64_t seed)
    : clock_(make_clock(time)),
      virtual_clock_(time == Time::kVirtual ? static_cast<SimClock*>(clock_.get()) : nullptr),
      rng_(seed),
      operator_rng_(seed + 1),
      nodes_rng_(seed + 2),
      api(context.get_executor(), *clock_, rng_, store::make_memory_store(), roomy()),
      client(api, "scale"),
      tasks_(context.get_executor()) {
    must(await(api.start()), "the API");
    for (json::value& definition : jobs::custom_resource_definitions(jobs::all_kinds()))
        must(await(
                 client.create(kube::types::kCustomResourceDefinitions, {}, std::move(definition))),
             "a definition");
}

World::~World() {
    await(done_after(tasks_.stop()));
    stop_nodes();
    stop_operator();
    await(done_after(api.stop()));
}

void World::start_operator() {
    operator_ =
        std::make_unique<operators::Operator>(context.get_executor(), api, *clock_, operator_rng_);
    must(await(operator_->start()), "the operator");
}

void World::stop_operator() {
    if (operator_ == nullptr) return;
    await(done_after(operator_->stop()));
    operator_.reset();
}

void World::start_nodes(sim::SimulatedNodes::Life life) {
    sim::NodesOptions options;
    options.nodes = 100;
    nodes_ = std::make_unique<sim::SimulatedNodes>(context.get_executor(), api, *clock_, nodes_rng_,
                                                   std::move(life), options);
    await(done_after(nodes_->start()));
}

void World::stop_nodes() {
    if (nodes_ == nullptr) return;
    await(done_after(nodes_->stop()));
    nodes_.reset();
}

void World::run_until(const std::function<bool()>& done) {
    constexpr double kTooLong = 600;
    const double begin = wall_seconds();
    while (!done()) {
        if (wall_seconds() - begin > kTooLong) die("it took more than ten minutes");
        context.restart();
        if (virtual_clock_ == nullptr) {
            // A second and more lies between two looks only when the world has nothing to do.
            context.run_for(std::chrono::milliseconds(1));
        } else if (context.poll() == 0 && !virtual_clock_->advance_to_next()) {
            die("everything waits forever");
        }
    }
}

void World::settle() {
    context.restart();
    if (virtual_clock_ == nullptr) {
        while (context.run_one_for(std::chrono::seconds(1)) > 0) {
        }
        return;
    }
    const Instant soon = virtual_clock_->now() + std::chrono::seconds(1);
    run_simulation(context, *virtual_clock_, soon);
}

void World::follow(kube::ResourceType type, kube::WatchOptions options,
                   std::function<void(const kube::WatchEvent&)> see) {
    tasks_.spawn("follow", read_all(must(await(client.watch(type, std::move(options))), "a watch"),
                                    std::move(see)));
}

json::value job(const std::string& name, int replicas) {
    json::object types{{"Master", replica("pytorch", 1)}};
    if (replicas > 1) types["Worker"] = replica("pytorch", replicas - 1);
    return {{"apiVersion", "kubeflow.org/v1"},
            {"kind", "PyTorchJob"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec", {{"pytorchReplicaSpecs", std::move(types)}}}};
}

json::value tensorflow_job(const std::string& name, int replicas, bool dynamic) {
    constexpr int kServers = 10;
    return {{"apiVersion", "kubeflow.org/v1"},
            {"kind", "TFJob"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec",
             {{"enableDynamicWorker", dynamic},
              {"tfReplicaSpecs",
               {{"PS", replica("tensorflow", kServers)},
                {"Worker", replica("tensorflow", replicas - kServers)}}}}}};
}

int active(const json::value& job) {
    const json::value* types = at(job, {"status", "replicaStatuses"});
    if (types == nullptr || !types->is_object()) return 0;
    std::int64_t sum = 0;
    for (const auto& type : types->get_object())
        if (const json::value* count = at(type.value(), {"active"})) sum += count->to_number<int>();
    return static_cast<int>(sum);
}

bool has_condition(const json::value& job, std::string_view type) {
    const json::value* conditions = at(job, {"status", "conditions"});
    if (conditions == nullptr || !conditions->is_array()) return false;
    for (const json::value& condition : conditions->get_array())
        if (condition.at("type").get_string() == type && condition.at("status") == "True")
            return true;
    return false;
}

std::string_view name_of(const json::value& object) {
    const json::value* name = at(object, {"metadata", "name"});
    return name == nullptr ? std::string_view() : std::string_view(name->get_string());
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

double peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

double wall_seconds() {
    static RealClock clock;
    return std::chrono::duration<double>(clock.now().time_since_epoch()).count();
}

void report(std::string_view what, double value, std::string_view note) {
    std::puts(
        json::serialize(json::object{{"what", what}, {"value", value}, {"note", note}}).c_str());
    std::fflush(stdout);
}

void die(std::string_view what) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
    std::exit(1);
}

}  // namespace muster::scale
