#include "apiserver/internal/extensions/extension_controller.h"

#include <algorithm>

#include "apiserver/internal/api_services/discovered_version.h"
#include "apiserver/internal/extensions/extension_call.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "base/async/first_of.h"
#include "base/time/time_limit.h"

namespace muster::apiserver {

namespace {

constexpr int kAttempts = 5;
constexpr Duration kAttemptTime = std::chrono::seconds(5);
constexpr Duration kCheckTime = std::chrono::seconds(6);
constexpr Duration kCheckPeriod = std::chrono::seconds(30);
constexpr Duration kFirstCheckPause = std::chrono::milliseconds(500);
/// Changes that come faster are looked at together.
constexpr Duration kLeastCheckPause = std::chrono::milliseconds(200);
constexpr unsigned kAnswered = 200;
constexpr unsigned kAnsweredEnd = 300;

const std::string& api_service_resource() {
    static const std::string kResource = kApiServices.qualified();
    return kResource;
}

/// The service that an EndpointSlice belongs to.
std::string service_of_slice(const store::ObjectText& slice) {
    return label_at(slice.text(), "kubernetes.io/service-name");
}

/// Null if its resources can't be read.
std::shared_ptr<const DiscoveredVersion> read_discovery(const std::string& resources,
                                                        const std::string& index,
                                                        const ExtensionServer& server) {
    Result<DiscoveredVersion> read = read_resource_list(resources);
    if (!read) return nullptr;
    read->openapi_url = openapi_url_in(index, server);
    return std::make_shared<const DiscoveredVersion>(*std::move(read));
}

bool is_same_server(ExtensionServer one, const ExtensionServer& other) {
    one.available = other.available;
    return one == other;
}

}  // namespace

struct ExtensionController::Followed {
    Followed(const asio::any_io_executor& executor, ExtensionServer its)
        : server(std::move(its)), changed(executor) {}

    ExtensionServer server;
    Signal changed;
    bool dirty = true;
    bool gone = false;
    std::optional<bool> reported = {};  ///< what the condition was set to last
    Duration pause = kFirstCheckPause;  ///< after the next failure
};

ExtensionController::ExtensionController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("conditions of APIServices", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void ExtensionController::recover(const StartingObject& object) {
    if (object.key.resource != api_service_resource()) return;
    const kube::ObjectPtr held = object.cached.tree();
    follow(object.key.name, held->get_object());
}

void ExtensionController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    const store::StoreKey& key = change.key;
    if (key.resource == api_service_resource()) {
        if (change.object == nullptr)
            unfollow(key.name);
        else
            follow(key.name, change.object->get_object());
    } else if (followed_.empty()) {
        return;
    } else if (key.resource == "services" || key.resource == "endpoints") {
        poke_those_of(key.namespace_, key.name);
    } else if (key.resource == "endpointslices.discovery.k8s.io") {
        if (change.text != nullptr)
            poke_those_of(key.namespace_, service_of_slice(*change.text));
        else
            for (const auto& [name, followed] : followed_)
                poke_those_of(key.namespace_, followed->server.service.name);
    }
}

void ExtensionController::follow(const std::string& name, const json::object& api_service) {
    std::optional<ExtensionServer> server = extension_server_of(api_service);
    if (!server) {
        unfollow(name);
        queue_.add(name);
        return;
    }
    const auto found = followed_.find(name);
    if (found == followed_.end()) {
        if (!state_.extensions.put(*server)) {
            some_left_ = true;
            queue_.add(name);
            return;
        }
        auto followed = std::make_shared<Followed>(state_.executor, *std::move(server));
        followed_.emplace(name, followed);
        spawn_restarting(state_.tasks, state_.clock, "availability of an API server",
                         [this, followed] { return watch_over(followed); });
        return;
    }
    Followed& followed = *found->second;
    state_.extensions.put(*server);
    const bool as_reported = !followed.reported || *followed.reported == server->available;
    const bool same = is_same_server(followed.server, *server);
    followed.server = *std::move(server);
    if (same && as_reported) return;
    followed.dirty = true;
    followed.pause = kFirstCheckPause;
    followed.changed.notify_all();
}

void ExtensionController::unfollow(const std::string& name) {
    const auto found = followed_.find(name);
    if (found == followed_.end()) return;
    const FollowedPtr followed = found->second;
    followed_.erase(found);
    state_.extensions.remove(followed->server.api_version());
    followed->gone = true;
    followed->changed.notify_all();
    if (std::exchange(some_left_, false)) follow_those_left();
}

void ExtensionController::follow_those_left() {
    for (const auto& [key, cached] : state_.cache.objects(api_service_resource())) {
        if (followed_.contains(key.name)) continue;
        const kube::ObjectPtr held = cached.tree();
        if (extension_server_of(held->get_object())) follow(key.name, held->get_object());
        if (some_left_) return;
    }
}

void ExtensionController::poke_those_of(const std::string& namespace_, const std::string& service) {
    for (const auto& [name, followed] : followed_) {
        if (followed->server.service != ServiceName{namespace_, service}) continue;
        followed->dirty = true;
        followed->pause = kFirstCheckPause;
        followed->changed.notify_all();
    }
}

Task<void> ExtensionController::watch_over(FollowedPtr followed) {
    while (!followed->gone) {
        works_for("availability of an API server");
        followed->dirty = false;
        const bool passed = co_await check(followed);
        if (followed->gone) co_return;
        Duration pause = kCheckPeriod;
        if (passed) {
            followed->pause = kFirstCheckPause;
        } else {
            pause = followed->pause;
            followed->pause = std::min(followed->pause * 2, kCheckPeriod);
        }
        co_await state_.clock.sleep_for(kLeastCheckPause);
        if (!followed->dirty && !followed->gone)
            co_await first_of(followed->changed.wait(), state_.clock.sleep_for(pause));
    }
}

Task<bool> ExtensionController::check(FollowedPtr followed) {
    const ExtensionServer server = followed->server;
    if (state_.extension_caller == nullptr) co_return true;
    const std::optional<Availability> found = co_await availability_of(server);
    if (!found || followed->gone || !is_same_server(server, followed->server)) co_return false;
    const Availability& is = *found;
    followed->reported = is.available;
    const StatusResult<void> told = co_await report(server.name, server, is);
    if (!told)
        log::warning("the condition of an APIService can't be written",
                     {{"name", server.name}, {"error", told.error().error.message()}});
    if (is.available)
        co_await discover(server);
    else
        state_.extensions.learn(server.api_version(), nullptr);
    co_return is.available&& told.has_value();
}

/// It may be anyone who answers: the certificate is looked at when a request is passed on.
Task<std::optional<Availability>> ExtensionController::availability_of(ExtensionServer server) {
    const Instant end = state_.clock.now() + kCheckTime;
    std::string failure;
    for (int attempt = 0; attempt < kAttempts && state_.clock.now() < end; ++attempt) {
        if (std::optional<Availability> problem = co_await problem_of_service(state_.cache, server))
            co_return problem;
        Result<ExtensionEndpoint> endpoint = co_await endpoint_of(state_, server);
        if (!endpoint) co_return failed_check(endpoint.error().message());
        endpoint->insecure = true;
        const std::string url = url_of(*endpoint, server.path());
        const Result<net::HttpResponse> answer =
            co_await ask_extension(state_, *std::move(endpoint), server.path(), 0,
                                   std::min(kAttemptTime, end - state_.clock.now()));
        if (answer && answer->status >= kAnswered && answer->status < kAnsweredEnd)
            co_return passed_checks();
        if (!answer && answer.error().code() == Code::kCancelled) co_return std::nullopt;
        failure = answer ? fmt::format(
                               "failing or missing response from {0}: bad status from "
                               "{0}: {1}",
                               url, answer->status)
                         : fmt::format("failing or missing response from {0}: Get \"{0}\": {1}",
                                       url, answer.error().message());
    }
    co_return failed_check(failure);
}

Task<void> ExtensionController::discover(ExtensionServer server) {
    // The body may have more white space than what is kept of it.
    constexpr std::size_t kMost = 4 * ExtensionServers::kLargest;
    Result<net::HttpResponse> list =
        co_await ask_extension(state_, server, server.path(), kMost, kAttemptTime);
    if (!list || list->status != kAnswered) {
        state_.extensions.learn(server.api_version(), nullptr);
        co_return;
    }
    Result<net::HttpResponse> index =
        co_await ask_extension(state_, server, "/openapi/v3", kMost, kAttemptTime);
    std::string documents = index && index->status == kAnswered ? std::move(index->body) : "";
    const std::size_t bytes = list->body.size() + documents.size();
    std::shared_ptr<const DiscoveredVersion> said = co_await compute_beside(
        state_.options.side_thread, "read the discovery of an API server", bytes,
        [resources = std::move(list->body), described = std::move(documents), server] {
            return read_discovery(resources, described, server);
        });
    works_for("availability of an API server");
    // It may be another one that serves the version by now.
    const ExtensionServers::Known* known = state_.extensions.find(server.api_version());
    if (known != nullptr && is_same_server(known->server, server))
        state_.extensions.learn(server.api_version(), std::move(said));
}

Task<StatusResult<void>> ExtensionController::report(std::string name,
                                                     std::optional<ExtensionServer> server,
                                                     Availability is) {
    const DefPtr def = state_.registry.find(kApiServices.api_version(), kApiServices.plural);
    Writer::Change change = [def, server, is, now = state_.clock.wall_now()](
                                const json::value& current) -> StatusResult<NextState> {
        const std::optional<ExtensionServer> stored = extension_server_of(current.get_object());
        if (stored.has_value() != server.has_value() ||
            (stored && !is_same_server(*stored, *server)))
            return NextState{};
        kube::Document next(current);
        set_available(next.object(), is, now);
        return settle(*def, current, std::move(next));
    };
    co_return done_unless(co_await writer_.rewrite(def, "", std::move(name), std::move(change)),
                          {Code::kNotFound});
}

Task<StatusResult<void>> ExtensionController::reconcile(std::string name) {
    if (followed_.contains(name)) co_return StatusResult<void>();
    const CachedObject* found = state_.cache.find(api_service_resource(), "", name);
    if (found == nullptr) co_return StatusResult<void>();
    const kube::ObjectPtr held = found->tree();
    const json::object& api_service = held->get_object();
    std::optional<ExtensionServer> server = extension_server_of(api_service);
    const bool is_local = object_at(child(api_service, "spec"), "service") == nullptr;
    if (!server && !is_local) co_return StatusResult<void>();
    co_return co_await report(
        std::move(name), std::move(server),
        is_local ? local_availability() : too_many_servers(ExtensionServers::kMost));
}

}  // namespace muster::apiserver
