#pragma once

#include <memory>
#include <set>
#include <string>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/internal/controllers/controller_queue.h"
#include "apiserver/internal/namespaces/outside_content.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Deletes the content of what is being deleted: everything in a terminating namespace, that of
/// servers behind APIServices last, and the instances of a terminating CustomResourceDefinition. When nothing is left, it lets the object
/// itself be deleted. Respects finalizers and the grace periods of pods.
class NamespaceController final : public Controller {
  public:
    NamespaceController(ServerState& state, Writer& writer,
                        std::unique_ptr<OutsideContent> outside);

    void recover(const StartingObject& object) override;
    void observe(const store::StoreChange& change, const kube::ObjectPtr& before) override;

  private:
    void add_if_deleting(const store::StoreKey& key, const store::ObjectText& object);
    Task<StatusResult<void>> reconcile(store::StoreKey key);
    /// The types of the container's content.
    std::vector<DefPtr> content_types(const store::StoreKey& container) const;
    Task<StatusResult<void>> delete_content(store::StoreKey container);
    bool is_empty(const store::StoreKey& container) const;
    Task<StatusResult<void>> report_remaining(store::StoreKey container);
    Task<StatusResult<void>> let_go(store::StoreKey container);

    ServerState& state_;
    Writer& writer_;
    std::set<std::string> swept_;  ///< uids whose content was told to go
    ControllerQueue<store::StoreKey> queue_;
    std::unique_ptr<OutsideContent> outside_;
};

}  // namespace muster::apiserver
