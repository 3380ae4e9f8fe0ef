// What one request of each kind costs, in microseconds of CPU time (which other work of the machine
// does not change much) and in bytes of heap that stay behind. Two watchers follow the pods, as the
// operator and a scheduler do, and are read as the events come.
#include <malloc.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>
#include <cstdlib>

#include "apiserver/api_server.h"
#include "base/async/task_group.h"
#include "base/time/real_clock.h"
#include "kube/client/client.h"
#include "kube/schema/schema.h"

namespace muster::apiserver {
namespace {

const kube::ResourceType kJobs{"training.example", "v1", "bigjobs", "BigJob", true};

json::array variables(int index) {
    json::array env;
    const auto add = [&](std::string_view name, std::string value) {
        env.push_back(json::object{{"name", name}, {"value", std::move(value)}});
    };
    for (const char* prefix : {"", "PET_"}) {
        add(fmt::format("{}MASTER_ADDR", prefix), "job-master-0");
        add(fmt::format("{}MASTER_PORT", prefix), "23456");
    }
    add("PYTHONUNBUFFERED", "1");
    add("WORLD_SIZE", "10000");
    add("RANK", fmt::to_string(index));
    add("PET_NNODES", "10000");
    add("PET_NODE_RANK", fmt::to_string(index));
    add("PET_NPROC_PER_NODE", "1");
    add("DATA_SET", "s3://example-bucket/training/data");
    add("EPOCHS", "3");
    return env;
}

json::object pod_spec(int index) {
    return {{"containers", json::array{json::object{
                               {"name", "pytorch"},
                               {"image", "docker.io/example/training:1.0"},
                               {"command", json::array{"python3", "train.py", "--epochs", "3"}},
                               {"ports", json::array{json::object{{"name", "pytorchjob-port"},
                                                                  {"containerPort", 23456},
                                                                  {"protocol", "TCP"}}}},
                               {"resources", {{"limits", {{"cpu", "1"}, {"memory", "2Gi"}}}}},
                               {"env", variables(index)}}}},
            {"restartPolicy", "Never"}};
}

json::object labels(int index) {
    return {{"training.kubeflow.org/job-name", "job"},
            {"training.kubeflow.org/operator-name", "pytorchjob-controller"},
            {"training.kubeflow.org/replica-index", fmt::to_string(index)},
            {"training.kubeflow.org/replica-type", "worker"}};
}

json::array owners(std::string_view uid) {
    return {json::object{{"apiVersion", kJobs.api_version()},
                         {"kind", kJobs.kind},
                         {"name", "job"},
                         {"uid", uid},
                         {"controller", true},
                         {"blockOwnerDeletion", true}}};
}

std::string name_of(int index) { return fmt::format("job-worker-{}", index); }

json::value pod(int index, std::string_view owner) {
    return json::object{{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata",
                         {{"name", name_of(index)},
                          {"namespace", "default"},
                          {"labels", labels(index)},
                          {"ownerReferences", owners(owner)}}},
                        {"spec", pod_spec(index)}};
}

json::value service(int index, std::string_view owner) {
    return json::object{
        {"apiVersion", "v1"},
        {"kind", "Service"},
        {"metadata",
         {{"name", name_of(index)},
          {"namespace", "default"},
          {"labels", labels(index)},
          {"ownerReferences", owners(owner)}}},
        {"spec",
         {{"clusterIP", "None"},
          {"selector", labels(index)},
          {"ports", json::array{json::object{{"name", "pytorchjob-port"}, {"port", 23456}}}}}}};
}

json::value job(const std::string& name) {
    return json::object{
        {"apiVersion", kJobs.api_version()},
        {"kind", kJobs.kind},
        {"metadata", {{"name", name}, {"namespace", "default"}}},
        {"spec",
         {{"replicaSpecs",
           {{"Master", {{"replicas", 1}, {"template", {{"spec", pod_spec(0)}}}}},
            {"Worker", {{"replicas", 3}, {"template", {{"spec", pod_spec(1)}}}}}}}}}};
}

/// A kind like the training jobs': replica specs with whole pod templates, and a status.
json::value job_definition() {
    const json::value pod_template = kube::core_schema("PodTemplateSpec")->to_openapi();
    const json::value any{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    const json::value replica{
        {"type", "object"},
        {"properties",
         {{"replicas", {{"type", "integer"}, {"minimum", 0}}}, {"template", pod_template}}}};
    const json::value schema{
        {"type", "object"},
        {"properties",
         {{"spec",
           {{"type", "object"},
            {"properties",
             {{"replicaSpecs", {{"type", "object"}, {"additionalProperties", replica}}}}}}},
          {"status", any}}}};
    return {{"apiVersion", "apiextensions.k8s.io/v1"},
            {"kind", "CustomResourceDefinition"},
            {"metadata", {{"name", kJobs.qualified()}}},
            {"spec",
             {{"group", kJobs.group},
              {"scope", "Namespaced"},
              {"names", {{"plural", kJobs.plural}, {"singular", "bigjob"}, {"kind", kJobs.kind}}},
              {"versions", json::array{{{"name", kJobs.version},
                                        {"served", true},
                                        {"storage", true},
                                        {"subresources", {{"status", json::object()}}},
                                        {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

json::value running_status(int index) {
    return {{"phase", "Running"},
            {"podIP", fmt::format("10.1.{}.{}", index / 256, index % 256)},
            {"startTime", "2026-01-01T00:00:00Z"},
            {"conditions", json::array{{{"type", "Ready"},
                                        {"status", "True"},
                                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}},
            {"containerStatuses",
             json::array{{{"name", "pytorch"},
                          {"image", "docker.io/example/training:1.0"},
                          {"imageID", ""},
                          {"ready", true},
                          {"restartCount", 0},
                          {"state", {{"running", {{"startedAt", "2026-01-01T00:00:00Z"}}}}}}}}};
}

json::value job_status() {
    return {{"startTime", "2026-01-01T00:00:00Z"},
            {"conditions", json::array{{{"type", "Created"},
                                        {"status", "True"},
                                        {"reason", "BigJobCreated"},
                                        {"message", "BigJob job is created."},
                                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}},
                                       {{"type", "Running"},
                                        {"status", "True"},
                                        {"reason", "BigJobRunning"},
                                        {"message", "BigJob default/job is running."},
                                        {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}},
            {"replicaStatuses", {{"Master", {{"active", 1}}}, {"Worker", {{"active", 3}}}}}};
}

json::value event(int index) {
    return {{"apiVersion", "v1"},
            {"kind", "Event"},
            {"metadata",
             {{"name", fmt::format("job.{:016x}", 0x18f0000000000000 + index)},
              {"namespace", "default"}}},
            {"involvedObject",
             {{"kind", "BigJob"},
              {"namespace", "default"},
              {"name", "job"},
              {"uid", "11111111-2222-3333-4444-555555555555"},
              {"apiVersion", kJobs.api_version()},
              {"resourceVersion", "17"}}},
            {"reason", "SuccessfulCreatePod"},
            {"message", fmt::format("Created pod: job-worker-{}", index)},
            {"source", {{"component", "pytorchjob-controller"}}},
            {"firstTimestamp", "2026-01-01T00:00:00Z"},
            {"lastTimestamp", "2026-01-01T00:00:00Z"},
            {"count", 1},
            {"type", "Normal"},
            {"reportingComponent", "pytorchjob-controller"}};
}

double cpu_microseconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto in_us = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return in_us(usage.ru_utime) + in_us(usage.ru_stime);
}

double heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

class Bench {
  public:
    Bench(asio::io_context& context, ApiServer& server, int count, bool manages_fields)
        : executor_(context.get_executor()),
          server_(server),
          client_(server),
          tasks_(executor_),
          count_(count),
          manages_fields_(manages_fields) {}

    Task<void> run() {
        co_await start();
        co_await create_objects();
        co_await bind_pods();
        co_await write_pod_statuses();
        co_await write_job_statuses();
        if (manages_fields_) co_await apply_jobs();
        co_await write_events();
        co_await read_pods();
        co_await delete_pods();
        std::printf("%-24s %8.2f for each pod\n", "watch events",
                    static_cast<double>(events_) / count_);
        co_await tasks_.stop();
        co_await server_.stop();
    }

  private:
    static constexpr int kBatch = 500;

    void report(std::string_view what, double microseconds, double bytes) const {
        std::printf("%-24.*s %8.2f us %10.0f bytes\n", static_cast<int>(what.size()), what.data(),
                    microseconds / count_, bytes / count_);
        std::fflush(stdout);
    }

    void fail(const char* what, const Error& error) {
        std::fprintf(stderr, "%s: %s\n", what, error.message().c_str());
        std::exit(1);
    }

    /// Bodies are made in batches outside the measured time; the watchers' reads are inside.
    template <class Body, class Call>
    Task<void> each(std::string_view what, Body make_body, Call call) {
        double microseconds = 0;
        const double before = heap_bytes();
        for (int at = 0; at < count_; at += kBatch) {
            std::vector<json::value> bodies;
            for (int i = at; i < std::min(at + kBatch, count_); ++i) bodies.push_back(make_body(i));
            const double begin = cpu_microseconds();
            for (std::size_t i = 0; i < bodies.size(); ++i) {
                auto answer = co_await call(at + static_cast<int>(i), std::move(bodies[i]));
                if (!answer) co_return fail(name_of(at).c_str(), answer.error());
            }
            co_await breathe();
            microseconds += cpu_microseconds() - begin;
        }
        report(what, microseconds, heap_bytes() - before);
    }

    Task<void> start() {
        (void)co_await server_.start();
        auto defined =
            co_await client_.create(kube::types::kCustomResourceDefinitions, {}, job_definition());
        if (!defined) co_return fail("the definition", defined.error());
        for (int i = 0; i < 2; ++i) tasks_.spawn("watch", follow(kube::types::kPods));
        co_await breathe();
        auto made = co_await client_.create(kJobs, "default", job("job"));
        if (!made) co_return fail("the job", made.error());
        owner_ = made->object->at("metadata").at("uid").as_string();
        std::printf("pod: %zu bytes of JSON, stored; %d of each\n",
                    json::serialize(pod(1, owner_)).size(), count_);
    }

    Task<void> create_objects() {
        co_await each(
            "create pod", [&](int i) { return pod(i, owner_); },
            [&](int, json::value body) {
                return client_.create(kube::types::kPods, "default", std::move(body));
            });
        co_await each(
            "create service", [&](int i) { return service(i, owner_); },
            [&](int, json::value body) {
                return client_.create(kube::types::kServices, "default", std::move(body));
            });
        co_await each(
            "create job", [&](int i) { return job(fmt::format("job-{}", i)); },
            [&](int, json::value body) {
                return client_.create(kJobs, "default", std::move(body));
            });
    }

    Task<void> bind_pods() {
        co_await each(
            "bind pod",
            [&](int i) -> json::value {
                return {{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"name", name_of(i)}}},
                        {"target", {{"kind", "Node"}, {"name", "node-1"}}}};
            },
            [&](int i, json::value body) {
                return client_.create_subresource(kube::types::kPods, "default", name_of(i),
                                                  "binding", std::move(body));
            });
    }

    Task<void> write_pod_statuses() {
        const auto patch_status = [&](int i, json::value body) {
            return client_.patch(kube::types::kPods, "default", name_of(i),
                                 kube::ContentType::kMergePatch, std::move(body), "status");
        };
        co_await each(
            "patch pod status",
            [&](int i) -> json::value { return {{"status", running_status(i)}}; }, patch_status);
        co_await each(
            "patch pod status again",
            [&](int) -> json::value { return {{"status", {{"phase", "Succeeded"}}}}; },
            patch_status);
        co_await each(
            "put pod status",
            [&](int i) {
                json::value whole = pod(i, owner_);
                whole.as_object()["status"] = running_status(i);
                return whole;
            },
            [&](int i, json::value body) {
                return client_.update(kube::types::kPods, "default", name_of(i), std::move(body),
                                      "status");
            });
    }

    Task<void> write_job_statuses() {
        auto jobs = co_await client_.list(kJobs, {});
        if (!jobs) co_return fail("the jobs", jobs.error());
        co_await each(
            "put job status",
            [&](int i) {
                json::value whole = *jobs->items[static_cast<std::size_t>(i)];
                whole.as_object()["status"] = job_status();
                return whole;
            },
            [&](int, json::value body) {
                std::string name(body.at("metadata").at("name").as_string());
                return client_.update(kJobs, "default", std::move(name), std::move(body), "status");
            });
    }

    Task<void> apply_jobs() {
        for (const char* what : {"apply job", "apply job again"})
            co_await each(
                what,
                [&](int i) {
                    json::value applied = job(fmt::format("job-{}", i));
                    applied.at("metadata").as_object()["labels"] = labels(i);
                    return applied;
                },
                [&](int, json::value body) {
                    std::string name(body.at("metadata").at("name").as_string());
                    return client_.patch(kJobs, "default", std::move(name),
                                         kube::ContentType::kApplyPatch, std::move(body));
                });
    }

    Task<void> write_events() {
        co_await each("create event", event, [&](int, json::value body) {
            return client_.create(kube::types::kEvents, "default", std::move(body));
        });
        co_await each(
            "patch event",
            [](int) -> json::value {
                return {{"count", 2}, {"lastTimestamp", "2026-01-01T00:00:05Z"}};
            },
            [&](int i, json::value body) {
                return client_.patch(kube::types::kEvents, "default",
                                     fmt::format("job.{:016x}", 0x18f0000000000000 + i),
                                     kube::ContentType::kStrategicMergePatch, std::move(body));
            });
    }

    Task<void> read_pods() {
        const double begin = cpu_microseconds();
        kube::ListOptions everything;
        (void)co_await client_.list(kube::types::kPods, std::move(everything));
        report("list, for each pod", cpu_microseconds() - begin, 0);
        co_await each(
            "get pod", [](int) { return json::value(); },
            [&](int i, json::value) {
                return client_.get(kube::types::kPods, "default", name_of(i));
            });
    }

    Task<void> delete_pods() {
        co_await each(
            "delete pod", [](int) { return json::value(); },
            [&](int i, json::value) {
                kube::DeleteOptions now;
                now.grace_period_seconds = 0;
                return client_.remove(kube::types::kPods, "default", name_of(i), std::move(now));
            });
    }

    /// Lets the watchers read their events.
    Task<void> breathe() {
        for (int i = 0; i < 4; ++i) co_await asio::post(executor_, asio::use_awaitable);
    }

    Task<void> follow(kube::ResourceType type) {
        kube::WatchOptions options;
        auto stream = co_await client_.watch(type, options);
        if (!stream) co_return;
        for (;;) {
            auto event = co_await (*stream)->next();
            if (!event || !event->has_value()) co_return;
            ++events_;
        }
    }

    asio::any_io_executor executor_;
    ApiServer& server_;
    kube::Client client_;
    TaskGroup tasks_;
    int count_;
    bool manages_fields_;
    std::string owner_;
    std::uint64_t events_ = 0;
};

}  // namespace
}  // namespace muster::apiserver

/// apiserver_bench [COUNT] [manage-fields]
int main(int argc, char** argv) {
    using namespace muster;
    const int count = argc > 1 ? std::atoi(argv[1]) : 10'000;
    asio::io_context context;
    RealClock clock;
    Rng rng(1);
    apiserver::ApiServerOptions options;
    options.watches.watcher_buffer = 100'000;
    options.manage_fields = argc > 2 && std::string_view(argv[2]) == "manage-fields";
    apiserver::ApiServer server(context.get_executor(), clock, rng, store::make_memory_store(),
                                options);
    apiserver::Bench bench(context, server, count, options.manage_fields);
    asio::co_spawn(context, bench.run(), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    context.run();
}
