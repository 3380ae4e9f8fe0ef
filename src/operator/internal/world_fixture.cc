#include "operator/internal/world_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/json/serialize.hpp>

#include "base/log.h"
#include "kube/objects/codec.h"
#include "kube/values/document.h"

namespace muster::operators {

using namespace std::chrono_literals;

Task<void> WatchedTransport::delay() {
    if (longest_delay == Duration{}) co_return;
    const auto bound = static_cast<std::uint64_t>(longest_delay.count());
    const Duration pause{static_cast<Duration::rep>(rng_.below(bound))};
    co_await clock_.sleep_for(pause);
}

Task<Result<kube::Response>> WatchedTransport::call(kube::Request request) {
    const bool changes = request.method != kube::Method::kGet;
    bool lose_request = false;
    bool lose_answer = false;
    if (changes) {
        const bool event = request.path.find("/events") != std::string::npos;
        if (writes_left) {
            if (*writes_left == 0) co_return Error(Code::kUnavailable, "the operator has crashed");
            if (!event) --*writes_left;
        }
        if (before_write) before_write(request);
        ++(event ? event_writes : writes);
        if (rng_.chance(failure_probability))
            (rng_.chance(0.5) ? lose_request : lose_answer) = true;
    }
    co_await delay();
    if (lose_request) co_return Error(Code::kUnavailable, "the request was lost");
    auto response = co_await real_.call(std::move(request));
    conflicts += response.has_value() && response->status == 409 ? 1 : 0;
    co_await delay();
    if (lose_answer) co_return Error(Code::kTimeout, "the answer was lost");
    co_return response;
}

namespace {

class LateStream final : public kube::WatchStream {
  public:
    LateStream(std::unique_ptr<kube::WatchStream> real, Clock& clock, Duration lag)
        : real_(std::move(real)), clock_(clock), lag_(lag) {}

    Task<Result<std::optional<kube::WatchEvent>>> next() override {
        // Kept, so that an event is not lost when the caller is cancelled while it is late.
        if (!came_) came_ = co_await real_->next();
        co_await clock_.sleep_for(lag_);
        co_return *std::exchange(came_, std::nullopt);
    }

  private:
    std::unique_ptr<kube::WatchStream> real_;
    Clock& clock_;
    Duration lag_;
    std::optional<Result<std::optional<kube::WatchEvent>>> came_;
};

}  // namespace

Task<Result<std::unique_ptr<kube::WatchStream>>> WatchedTransport::watch(kube::Request request) {
    co_await delay();
    const Duration lag = watch_lag ? watch_lag(request) : Duration{};
    auto stream = co_await real_.watch(std::move(request));
    if (stream.has_value() && lag > Duration{})
        stream = std::make_unique<LateStream>(*std::move(stream), clock_, lag);
    co_return stream;
}

Task<Result<std::unique_ptr<kube::TextStream>>> WatchedTransport::stream_text(
    kube::Request request) {
    return real_.stream_text(std::move(request));
}

World::World(std::uint64_t seed, OperatorOptions options)
    : kind(options.more_kinds.empty() ? pytorch() : *options.more_kinds.front()),
      rng(seed),
      api(context.get_executor(), clock, rng, store::make_memory_store()),
      transport(api, clock, rng),
      client(api),
      options_(std::move(options)),
      operator_rng_(seed + 1) {
    options_.check_consistency = true;
    // The faults of these worlds are meant.
    log::set_sink([](log::Level, std::string_view) {});
    auto started = wait(api.start());
    EXPECT_TRUE(started.has_value()) << started.error().message();
    std::vector<const jobs::JobKind*> kinds = options_.more_kinds;
    kinds.insert(kinds.end(), jobs::all_kinds().begin(), jobs::all_kinds().end());
    for (json::value& definition : jobs::custom_resource_definitions(kinds)) {
        auto defined =
            wait(client.create(kube::types::kCustomResourceDefinitions, "", std::move(definition)));
        EXPECT_TRUE(defined.has_value()) << defined.error().message();
    }
    run_for(10ms);
}

World::~World() {
    if (operator_) stop_operator();
    log::set_sink({});
    bool stopped = false;
    asio::co_spawn(context, api.stop(), [&](std::exception_ptr) { stopped = true; });
    while (!stopped) {
        context.restart();
        context.poll();
        if (!stopped && !clock.advance_to_next()) break;
    }
}

void World::start_operator() {
    operator_ = std::make_unique<Operator>(context.get_executor(), transport, clock, operator_rng_,
                                           options_);
    auto started = wait(operator_->start());
    EXPECT_TRUE(started.has_value());
}

void World::stop_operator() {
    bool stopped = false;
    asio::co_spawn(context, operator_->stop(), [&](std::exception_ptr) { stopped = true; });
    while (!stopped) {
        context.restart();
        context.poll();
        if (!stopped && !clock.advance_to_next()) break;
    }
    EXPECT_TRUE(stopped);
    operator_.reset();
}

void World::run_for(Duration duration) { run_simulation(context, clock, clock.now() + duration); }

void World::create_job(const JobSketch& sketch) {
    json::object object = job_object(sketch);
    object["apiVersion"] = kind.resource.api_version();
    object["kind"] = kind.resource.kind;
    auto created = wait(client.create(kind.resource, "default", json::value(std::move(object))));
    ASSERT_TRUE(created.has_value()) << created.error().message();
}

void World::run_job(const JobSketch& sketch) {
    create_job(sketch);
    settle();
    set_all("Running");
    settle();
}

void World::edit_job(const std::string& name, const std::function<void(json::object& spec)>& edit) {
    auto job = object(kind.resource, name);
    ASSERT_TRUE(job.has_value());
    edit(job->at("spec").as_object());
    auto updated = wait(client.update(kind.resource, "default", name, *std::move(job)));
    ASSERT_TRUE(updated.has_value()) << updated.error().message();
}

void World::suspend_job(const std::string& name, bool suspend) {
    edit_job(name,
             [suspend](json::object& spec) { spec["runPolicy"].as_object()["suspend"] = suspend; });
}

void World::scale_workers(const std::string& name, int count) {
    edit_job(name, [count](json::object& spec) {
        spec["pytorchReplicaSpecs"].as_object()["Worker"].as_object()["replicas"] = count;
    });
}

void World::force_delete_pod(const std::string& name) {
    kube::DeleteOptions options;
    options.grace_period_seconds = 0;
    auto removed = wait(client.remove(kube::types::kPods, "default", name, options));
    EXPECT_TRUE(removed.has_value()) << removed.error().message();
}

void World::delete_pod(const std::string& name) {
    auto removed = wait(client.remove(kube::types::kPods, "default", name));
    EXPECT_TRUE(removed.has_value()) << removed.error().message();
}

void World::delete_service(const std::string& name) {
    auto removed = wait(client.remove(kube::types::kServices, "default", name));
    EXPECT_TRUE(removed.has_value()) << removed.error().message();
}

void World::delete_job(const std::string& name) {
    auto removed = wait(client.remove(kind.resource, "default", name));
    EXPECT_TRUE(removed.has_value()) << removed.error().message();
}

void World::hold_job(const std::string& name) {
    json::object patch{{"metadata", json::object{{"finalizers", json::array{"example.com/keep"}}}}};
    auto held = wait(client.patch(kind.resource, "default", name, kube::ContentType::kMergePatch,
                                  std::move(patch)));
    ASSERT_TRUE(held.has_value()) << held.error().message();
}

void World::set_phase(const std::string& pod, std::string_view phase,
                      std::optional<std::int32_t> exit_code, std::int32_t restarts) {
    auto found = object(kube::types::kPods, pod);
    ASSERT_TRUE(found.has_value()) << pod;
    if (!found->at("spec").as_object().contains("nodeName")) {
        json::object binding{{"apiVersion", "v1"},
                             {"kind", "Binding"},
                             {"metadata", json::object{{"name", pod}}},
                             {"target", json::object{{"kind", "Node"}, {"name", "node-1"}}}};
        auto bound = wait(client.create_subresource(kube::types::kPods, "default", pod, "binding",
                                                    std::move(binding)));
        ASSERT_TRUE(bound.has_value()) << bound.error().message();
        found = object(kube::types::kPods, pod);
    }
    json::object status{{"phase", phase}};
    if (phase == "Running" || exit_code) {
        json::object state =
            exit_code ? json::object{{"terminated", json::object{{"exitCode", *exit_code}}}}
                      : json::object{{"running", json::object{}}};
        const json::value& main = found->at("spec").at("containers").at(0).at("name");
        status["containerStatuses"] = json::array{json::object{{"name", main},
                                                               {"image", "train:1"},
                                                               {"imageID", ""},
                                                               {"ready", !exit_code},
                                                               {"restartCount", restarts},
                                                               {"state", std::move(state)}}};
    }
    found->as_object()["status"] = std::move(status);
    auto updated =
        wait(client.update(kube::types::kPods, "default", pod, *std::move(found), "status"));
    ASSERT_TRUE(updated.has_value()) << updated.error().message();
}

void World::set_all(std::string_view phase) {
    for (const std::string& pod : pods()) set_phase(pod, phase);
}

void World::reap() {
    for (const std::string& name : pods()) {
        auto pod = object(kube::types::kPods, name);
        if (!pod || !pod->at("metadata").as_object().contains("deletionTimestamp")) continue;
        force_delete_pod(name);
    }
}

std::vector<std::string> World::names_of(const kube::ResourceType& type) {
    std::vector<std::string> names;
    auto listed = wait(client.list(type, {}));
    EXPECT_TRUE(listed.has_value());
    for (const kube::ObjectPtr& item : listed->items)
        if (item->at("metadata").at("namespace").as_string() == "default")
            names.emplace_back(item->at("metadata").at("name").as_string());
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> World::pods() { return names_of(kube::types::kPods); }

std::vector<std::string> World::services() {
    std::vector<std::string> names = names_of(kube::types::kServices);
    std::erase(names, "kubernetes");
    return names;
}

std::optional<json::value> World::object(const kube::ResourceType& type, const std::string& name) {
    auto found = wait(client.get(type, "default", name));
    if (!found.has_value()) return std::nullopt;
    return kube::copy_of(**found);
}

jobs::JobStatus World::status(const std::string& job) {
    jobs::JobStatus status;
    auto found = object(kind.resource, job);
    if (!found || !found->as_object().contains("status")) return status;
    std::vector<Cause> problems;
    kube::decode_into(found->at("status"), status, "status", problems);
    EXPECT_TRUE(problems.empty());
    return status;
}

std::vector<std::string> World::events(const std::string& job) {
    std::vector<std::string> lines;
    auto listed = wait(client.list(kube::types::kEvents, {}));
    for (const kube::ObjectPtr& item : listed->items) {
        auto event = kube::decode<kube::Event>(*item);
        if (!event.has_value() || event->involved_object.name != job) continue;
        const std::int32_t count = event->count.value_or(1);
        lines.push_back(fmt::format("{}{}: {}", event->reason,
                                    count > 1 ? fmt::format(" x{}", count) : "", event->message));
    }
    return lines;
}

std::string World::uid(const std::string& pod) {
    auto found = object(kube::types::kPods, pod);
    if (!found) return {};
    return std::string(found->at("metadata").at("uid").as_string());
}

std::string World::annotation(const std::string& pod, const std::string& key) {
    auto found = object(kube::types::kPods, pod);
    if (!found) return {};
    const json::object& metadata = found->at("metadata").as_object();
    const json::value* annotations = metadata.if_contains("annotations");
    const json::value* value = annotations ? annotations->as_object().if_contains(key) : nullptr;
    return value ? std::string(value->as_string()) : std::string();
}

std::int32_t World::rank(const std::string& pod) {
    const std::string kept = annotation(pod, "muster.dev/rank");
    return std::stoi(kept.empty() ? pod.substr(pod.rfind('-') + 1) : kept);
}

std::vector<std::string> World::workers_of_rank(std::int32_t wanted) {
    std::vector<std::string> found;
    for (const std::string& pod : pods()) {
        if (!pod.contains("-worker-") || rank(pod) != wanted) continue;
        const auto live = object(kube::types::kPods, pod);
        if (live && !live->at("metadata").as_object().contains("deletionTimestamp"))
            found.push_back(pod);
    }
    std::ranges::sort(found, {}, [](const std::string& pod) {
        return std::stoi(pod.substr(pod.rfind('-') + 1));
    });
    return found;
}

std::int32_t World::restarts(const std::string& job, const std::string& type) {
    return status(job).replica_statuses[type].restarts.value_or(0);
}

}  // namespace muster::operators
