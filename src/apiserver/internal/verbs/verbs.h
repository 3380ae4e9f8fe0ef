#pragma once

#include <memory>

#include "apiserver/internal/conversions/shared_conversions.h"
#include "apiserver/internal/extensions/extension_call.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"
#include "apiserver/request_handler.h"

namespace muster::apiserver {

/// Serves the requests for one routed target: decides what each method means on which kind of path.
class Verbs final : public RequestHandler {
  public:
    Verbs(ServerState& state, Writer& writer);

    Task<StatusResult<Reply>> call(Target target, kube::Request request,
                                   Requester requester) override;
    Task<StatusResult<std::unique_ptr<Watcher>>> watch(Target target,
                                                       kube::Request request) override;
    Task<StatusResult<std::unique_ptr<kube::TextStream>>> log(Target target,
                                                              kube::Request request) override;

    const Registry& registry() const override { return state_.registry; }
    const ExtensionServers& extensions() const override { return state_.extensions; }
    Task<Result<ExtensionEndpoint>> place_of(ExtensionServer server) const override {
        return endpoint_of(state_, std::move(server));
    }
    ExtensionCaller* extension_caller() const override { return state_.extension_caller; }
    const WatchCache& cache() const override { return state_.cache; }
    NodeApi* node() const override { return state_.node; }
    const net::SigningKey* signing_key() const override { return state_.options.signing_key.get(); }
    const TokenRules& token_rules() const override { return state_.options.token_rules; }
    std::optional<Error> write_failure() const override { return state_.store->failure(); }
    Clock& clock() const override { return state_.clock; }
    Rng& rng() const override { return state_.rng; }

  private:
    Task<StatusResult<Reply>> read(Target target, kube::Request request);
    Task<StatusResult<Reply>> list(Target target, kube::Request request);
    Task<StatusResult<Reply>> create(Target target, kube::Request request, Requester requester);
    Task<StatusResult<Reply>> change(Target target, kube::Request request, Requester requester);
    Task<StatusResult<Reply>> remove(Target target, kube::Request request, Requester requester);
    Task<StatusResult<Reply>> remove_collection(Target target, kube::Request request,
                                                Requester requester);
    Task<StatusResult<Reply>> scale(Target target, kube::Request request);
    Task<StatusResult<Reply>> bind(Target target, kube::Request request);
    Task<StatusResult<Reply>> measure(Target target, kube::Request request);
    Task<StatusResult<Reply>> finalize(Target target, kube::Request request);
    /// 504 after a while if the revision does not arrive.
    Task<StatusResult<void>> wait_for_revision(store::Revision revision);

    ServerState& state_;
    Writer& writer_;
    SharedConversions conversions_;
};

}  // namespace muster::apiserver
