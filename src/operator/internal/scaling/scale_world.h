#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "operator/internal/scaling/scale_fixture.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators {

/// A world with an ElasticJob "demo" and ScalePlans. Its pods run and are ready as the test says.
class ScaleWorld {
  public:
    explicit ScaleWorld(bool with_plans = true, std::uint64_t seed = 1,
                        jobs::Platform platform = {})
        : world(seed, {.namespace_ = {}, .platform = std::move(platform)}) {
        if (with_plans) define_plans();
        world.transport.before_write = [this](const kube::Request& request) { note(request); };
        world.start_operator();
    }

    void define_plans() {
        auto defined = world.wait(world.client.create(kube::types::kCustomResourceDefinitions, "",
                                                      jobs::scale_plan_definition()));
        ASSERT_TRUE(defined.has_value()) << defined.error().message();
        world.run_for(std::chrono::milliseconds(10));
    }
    void create(const kube::ResourceType& type, json::value object) {
        auto created = world.wait(world.client.create(type, "default", std::move(object)));
        ASSERT_TRUE(created.has_value()) << created.error().message();
    }
    /// A job of workers that all run.
    void run_job(int workers, const std::string& more = {}) {
        create(elastic().resource, elastic_object(replica_spec("worker", workers), more));
        world.settle();
        run_all();
    }
    void plan(const std::string& name, const std::string& spec,
              const std::string& type = "manual") {
        create(jobs::kScalePlans, plan_object(name, spec, type));
    }
    void edit(const kube::ResourceType& type, const std::string& name,
              const std::function<void(json::object& spec)>& change) {
        auto object = world.object(type, name);
        ASSERT_TRUE(object.has_value());
        change(object->at("spec").as_object());
        auto updated = world.wait(world.client.update(type, "default", name, *std::move(object)));
        ASSERT_TRUE(updated.has_value()) << updated.error().message();
    }

    bool has(const std::string& pod) { return world.object(kube::types::kPods, pod).has_value(); }
    /// A pod that goes meanwhile is left alone.
    void run(const std::string& pod, bool ready = true) {
        if (!has(pod)) return;
        world.set_phase(pod, "Running");
        auto object = world.object(kube::types::kPods, pod);
        if (!object) return;
        object->at("status").as_object()["conditions"] =
            json::array{json::object{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
        auto updated = world.wait(
            world.client.update(kube::types::kPods, "default", pod, *std::move(object), "status"));
        ASSERT_TRUE(updated.has_value()) << updated.error().message();
    }
    /// Until nothing more happens: what is asked to go ends, and the others run.
    void run_all() {
        for (int i = 0; i < 4; ++i) {
            world.reap();
            for (const std::string& pod : world.pods()) run(pod);
            world.settle();
        }
    }

    /// The ids of the workers whose pods are not asked to go.
    std::vector<int> workers() {
        std::vector<int> ids;
        for (const std::string& pod : world.pods()) {
            const auto live = world.object(kube::types::kPods, pod);
            if (pod.contains("-worker-") &&
                !live->at("metadata").as_object().contains("deletionTimestamp"))
                ids.push_back(std::stoi(pod.substr(pod.rfind('-') + 1)));
        }
        std::ranges::sort(ids);
        return ids;
    }
    static std::string worker(int id) { return fmt::format("demo-edljob-worker-{}", id); }
    std::string variable(const std::string& pod, std::string_view name) {
        const auto object = world.object(kube::types::kPods, pod);
        for (const json::value& one :
             object->at("spec").at("containers").at(0).at("env").as_array())
            if (one.at("name").as_string() == name) return std::string(one.at("value").as_string());
        return {};
    }
    /// What the first container of a pod requests, which is its limit if that has any.
    std::string requested(const std::string& pod, const std::string& resource) {
        const auto object = world.object(kube::types::kPods, pod);
        if (!object) return "no pod";
        const json::object& all =
            object->at("spec").at("containers").at(0).at("resources").as_object();
        const std::string_view amount = kube::string_at(kube::child(all, "requests"), resource);
        const std::string_view limit = kube::string_at(kube::child(all, "limits"), resource);
        return std::string(limit.empty() || limit == amount ? amount : "not its limit");
    }
    jobs::JobStatus status() {
        const auto job = world.object(elastic().resource, "demo");
        return jobs::read_status(elastic(), job->at("status"));
    }
    /// "Succeeded", or "Failed: why".
    std::string told(const std::string& plan) {
        const auto object = world.object(jobs::kScalePlans, plan);
        if (!object) return "gone";
        const json::object& status = kube::child(object->as_object(), "status");
        const std::string_view message = kube::string_at(status, "message");
        return fmt::format("{}{}{}", kube::string_at(status, "phase"), message.empty() ? "" : ": ",
                           message);
    }

    World world;
    /// The plans that statuses of the job have named, each time that another one is; uid and
    /// generation.
    std::vector<std::pair<std::string, std::int64_t>> executed;

  private:
    void note(const kube::Request& request) {
        if (!request.path.contains("/elasticjobs/") || !request.path.ends_with("/status")) return;
        const auto status = jobs::read_status(elastic(), request.body->at("status"));
        if (!status.plan) return;
        const std::pair<std::string, std::int64_t> now(status.plan->uid, status.plan->generation);
        if (executed.empty() || executed.back() != now) executed.push_back(now);
    }
};

}  // namespace muster::operators
