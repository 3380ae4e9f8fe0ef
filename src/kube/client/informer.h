#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/async/side_thread.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "base/unexpected.h"
#include "kube/client/client.h"
#include "kube/client/reflector.h"
#include "kube/values/namespaced_name.h"
#include "kube/values/text_size.h"

namespace muster::kube {

/// A local copy of the result of a list, kept current by a watch. T is what the user keeps of each
/// object: a compact struct of the fields that its decisions read, made by `project`.
///
/// Events are hints: the handler gets the key and both states, and may be called again with equal
/// ones after a relist. A list is projected page by page, and becomes visible only when it is
/// complete. Keys are texts of a NamespacedName. Thread: the loop of the task group. Pointers into
/// the cache are valid until the next suspension.
template <class T>
class Informer {
  public:
    /// nullopt drops the object from the cache (`project` logs it if it failed).
    using Project = std::function<std::optional<T>(const json::value&)>;
    /// `before` null: the object is new; `after` null: it is gone. Called for every change, in
    /// order.
    using Handler = std::function<void(const std::string& key, const T* before, const T* after)>;
    /// Called after each complete list (null), and after each list that failed.
    using ListHandler = std::function<void(const Error* error)>;
    /// What `project` makes of an object, without holding the loop.
    using ReadLarge = std::function<Task<std::optional<T>>(ObjectPtr object)>;

    /// `listed_fields` and `lists`: see Reflector. `project` drops the objects that match none of
    /// these fields.
    Informer(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
             Project project, std::vector<std::string> listed_fields = {},
             Reflector::Lists lists = Reflector::Lists::kPaged)
        : project_(std::move(project)),
          reflector_(client, clock, rng, std::move(type), std::move(options),
                     {.begin_list = [this] { listed_.clear(); },
                      .listed =
                          [this](std::string key, ObjectPtr object) {
                              if (std::optional<T> made = take(object))
                                  listed_.emplace_back(std::move(key), *std::move(made));
                          },
                      .end_list =
                          [this] {
                              replace(std::exchange(listed_, {}));
                              if (list_handler_) list_handler_(nullptr);
                          },
                      .upsert =
                          [this](const std::string& key, ObjectPtr object) {
                              std::optional<T> made = take(object);
                              if (made)
                                  upsert(key, *std::move(made));
                              else
                                  erase(key);
                          },
                      .erase = [this](const std::string& key) { erase(key); },
                      .read = [this](const ObjectPtr& object) { return read_ahead(object); },
                      .failed =
                          [this](const Error& error) {
                              if (list_handler_) list_handler_(&error);
                          }},
                     std::move(listed_fields), lists) {}

    /// Handlers are set before start().
    void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }
    void on_list(ListHandler handler) { list_handler_ = std::move(handler); }
    /// For objects that are worth a SideThread, instead of `project`; set before start(), too.
    void read_large_with(ReadLarge read) { read_large_ = std::move(read); }
    void start(TaskGroup& tasks) { reflector_.start(tasks); }

    bool has_synced() const { return reflector_.has_synced(); }
    /// Returns after the first complete list is in the cache.
    Task<void> wait_synced() { return reflector_.wait_synced(); }
    /// See Reflector.
    Task<void> wait_settled() { return reflector_.wait_settled(); }
    const Error* refusal() const { return reflector_.refusal(); }

    const T* find(const std::string& key) const {
        auto it = cache_.find(key);
        return it == cache_.end() ? nullptr : &it->second;
    }
    const T* find(const NamespacedName& name) const { return find(name.text()); }
    const std::unordered_map<std::string, T>& items() const { return cache_; }

  private:
    std::optional<Task<void>> read_ahead(const ObjectPtr& object) {
        if (!read_large_ || text_size(*object, kWorthSideThread) < kWorthSideThread)
            return std::nullopt;
        return read_large(object);
    }
    Task<void> read_large(ObjectPtr object) { read_ = {object, co_await read_large_(object)}; }
    std::optional<T> take(const ObjectPtr& object) {
        if (read_.first != object) return project_(*object);
        return std::exchange(read_, {}).second;
    }

    /// A handler that throws does not keep the cache from following.
    void tell(const std::string& key, const T* before, const T* after) {
        for (auto& handler : handlers_)
            contained("a handler of changes", [&] { handler(key, before, after); });
    }
    void upsert(const std::string& key, T made) {
        auto it = cache_.find(key);
        if (it == cache_.end()) {
            it = cache_.emplace(key, std::move(made)).first;
            tell(key, nullptr, &it->second);
        } else {
            T before = std::exchange(it->second, std::move(made));
            tell(key, &before, &it->second);
        }
    }
    void erase(const std::string& key) {
        auto node = cache_.extract(key);
        if (node.empty()) return;
        tell(key, &node.mapped(), nullptr);
    }
    void replace(std::vector<std::pair<std::string, T>> listed) {
        const bool first = cache_.empty();
        for (auto& [key, made] : listed) upsert(key, std::move(made));
        if (first) return;
        std::unordered_set<std::string_view> there;
        for (const auto& [key, made] : listed) there.insert(key);
        std::vector<std::string> gone;
        for (const auto& [key, value] : cache_)
            if (!there.contains(key)) gone.push_back(key);
        for (const auto& key : gone) erase(key);
    }

    Project project_;
    ReadLarge read_large_;
    std::pair<ObjectPtr, std::optional<T>> read_;  ///< the object that comes next, if it is large
    std::unordered_map<std::string, T> cache_;
    std::vector<std::pair<std::string, T>> listed_;  ///< of a list that is not complete yet
    std::vector<Handler> handlers_;
    ListHandler list_handler_;
    Reflector reflector_;
};

}  // namespace muster::kube
