#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "kube/client.h"
#include "kube/reflector.h"

namespace muster::kube {

/// A local copy of what a list returns, kept current by a watch. T is what the user keeps of each
/// object: a compact struct of the fields that its decisions read, made by `project`.
///
/// Events are hints: the handler gets the key and both states, and may be called again with equal
/// ones after a relist. Keys are "namespace/name" ("name" for cluster-scoped objects).
/// Thread: the loop of the task group. Pointers into the cache hold until the next suspension.
template <class T>
class Informer {
  public:
    /// nullopt drops the object from the cache (a projection that can't be made is logged there).
    using Project = std::function<std::optional<T>(const json::value&)>;
    /// `before` null: it is new; `after` null: it is gone. Called for every change, in order.
    using Handler = std::function<void(const std::string& key, const T* before, const T* after)>;

    Informer(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
             Project project)
        : project_(std::move(project)),
          reflector_(client, clock, rng, std::move(type), std::move(options),
                     {.replace = [this](auto items) { replace(std::move(items)); },
                      .upsert = [this](auto key, auto object) { upsert(key, *object); },
                      .erase = [this](auto key) { erase(key); }}) {}

    /// Handlers are set before start().
    void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }
    void start(TaskGroup& tasks) { reflector_.start(tasks); }

    bool has_synced() const { return reflector_.has_synced(); }
    /// Returns after the first complete list is in the cache.
    Task<void> wait_synced() { return reflector_.wait_synced(); }

    const T* find(const std::string& key) const {
        auto it = cache_.find(key);
        return it == cache_.end() ? nullptr : &it->second;
    }
    const std::unordered_map<std::string, T>& items() const { return cache_; }

  private:
    void upsert(const std::string& key, const json::value& object) {
        std::optional<T> made = project_(object);
        if (!made) return erase(key);
        auto it = cache_.find(key);
        if (it == cache_.end()) {
            it = cache_.emplace(key, *std::move(made)).first;
            for (auto& handler : handlers_) handler(key, nullptr, &it->second);
        } else {
            T before = std::exchange(it->second, *std::move(made));
            for (auto& handler : handlers_) handler(key, &before, &it->second);
        }
    }
    void erase(const std::string& key) {
        auto node = cache_.extract(key);
        if (node.empty()) return;
        for (auto& handler : handlers_) handler(key, &node.mapped(), nullptr);
    }
    void replace(std::vector<std::pair<std::string, ObjectPtr>> items) {
        std::unordered_map<std::string, bool> listed;
        for (auto& [key, object] : items) {
            listed.emplace(key, true);
            upsert(key, *object);
        }
        std::vector<std::string> gone;
        for (auto& [key, value] : cache_)
            if (!listed.contains(key)) gone.push_back(key);
        for (auto& key : gone) erase(key);
    }

    Project project_;
    std::unordered_map<std::string, T> cache_;
    std::vector<Handler> handlers_;
    Reflector reflector_;
};

}  // namespace muster::kube
