#pragma once

#include <map>
#include <memory>
#include <string>

#include "apiserver/internal/server_state.h"

namespace muster::apiserver {

/// What was made of the objects of a resource: once of each state. Large ones are read beside the
/// loop. Thread: the server's loop.
template <class T>
class ReadObjects {
  public:
    using Read = T (*)(const json::object& object);
    using Ptr = std::shared_ptr<const T>;

    ReadObjects(ServerState& state, std::string resource, Read read)
        : state_(state), resource_(std::move(resource)), read_(read) {}

    bool is_empty() const { return state_.cache.objects(resource_).empty(); }

    /// Reads what has changed since the last time.
    Task<void> catch_up() {
        // What an expression takes to be compiled, beside JSON that is just read.
        constexpr std::size_t kWeight = 8;
        for (;;) {
            const auto& objects = state_.cache.objects(resource_);
            std::erase_if(known_,
                          [&](const auto& entry) { return !objects.contains(entry.first); });
            const auto next = std::ranges::find_if(objects, [&](const auto& entry) {
                const auto known = known_.find(entry.first);
                return known == known_.end() || known->second.revision != entry.second.revision;
            });
            if (next == objects.end()) co_return;
            const NamespacedName key = next->first;
            const store::Revision revision = next->second.revision;
            const kube::ObjectPtr tree = next->second.tree();
            const std::size_t bytes = next->second.object->text().size();
            T made = co_await compute_beside(
                state_.options.side_thread, "read a configuration of admission", bytes * kWeight,
                [read = read_, tree] { return read(tree->get_object()); });
            known_[key] = {revision, std::make_shared<const T>(std::move(made))};
        }
    }
    /// All as they were at the last catch_up(), by their names.
    template <class Use>
    void for_each(Use use) const {
        for (const auto& [key, known] : known_) use(known.object);
    }

  private:
    struct Known {
        store::Revision revision = 0;
        Ptr object;
    };

    ServerState& state_;
    std::string resource_;
    Read read_;
    std::map<NamespacedName, Known> known_;
};

}  // namespace muster::apiserver
