#include "runtime/internal/files/data_watch.h"

#include "kube/values/json_access.h"

namespace muster::runtime {

namespace {

std::optional<std::string> revision_of(const json::value& object) {
    const json::object* meta = kube::object_at(object.get_object(), "metadata");
    return std::string(meta == nullptr ? std::string_view()
                                       : kube::string_at(*meta, "resourceVersion"));
}

}  // namespace

DataWatch::Objects::Objects(kube::Client& client, Clock& clock, Rng& rng, kube::ResourceType type)
    : revisions(client, clock, rng, std::move(type), {}, revision_of) {
    revisions.on_change(
        [this](const std::string& key, const std::string* before, const std::string* after) {
            // The first list shows what exists already.
            if (!revisions.has_synced()) return;
            if (before != nullptr && after != nullptr && *before == *after) return;
            const auto [begin, end] = followers.equal_range(key);
            for (auto it = begin; it != end; ++it) it->second->changed_();
        });
}

DataWatch::DataWatch(kube::Client& client, Clock& clock, Rng& rng)
    : config_maps_(client, clock, rng, kube::types::kConfigMaps),
      secrets_(client, clock, rng, kube::types::kSecrets) {}

void DataWatch::start(TaskGroup& tasks) {
    config_maps_.revisions.start(tasks);
    secrets_.revisions.start(tasks);
}

Task<void> DataWatch::wait_synced() {
    co_await config_maps_.revisions.wait_synced();
    co_await secrets_.revisions.wait_synced();
}

std::unique_ptr<DataWatch::Following> DataWatch::follow(const std::string& namespace_,
                                                        const References& references,
                                                        std::function<void()> changed) {
    std::unique_ptr<Following> following(new Following(std::move(changed)));
    following->add(config_maps_.followers, namespace_, references.config_maps);
    following->add(secrets_.followers, namespace_, references.secrets);
    return following;
}

void DataWatch::Following::add(Followers& followers, const std::string& namespace_,
                               const std::set<std::string>& names) {
    for (const std::string& name : names)
        places_.emplace_back(
            &followers, followers.emplace(kube::NamespacedName{namespace_, name}.text(), this));
}

DataWatch::Following::~Following() {
    for (const auto& [followers, place] : places_) followers->erase(place);
}

}  // namespace muster::runtime
