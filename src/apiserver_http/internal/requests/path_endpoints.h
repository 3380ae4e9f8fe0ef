#pragma once

#include <memory>
#include <vector>

#include "apiserver_http/internal/requests/access_control.h"
#include "apiserver_http/internal/requests/incoming.h"
#include "apiserver_http/internal/wire/documents.h"

namespace muster::apiserver_http {

/// Answers requests for paths other than objects: health, metrics, the issuer's documents, and
/// those that describe the server. Refers to its arguments. Thread: the server's loop.
class PathEndpoints {
  public:
    /// `metrics`: further metrics for /metrics besides those of the accounts. `side_thread`: for
    /// large documents; may be null.
    PathEndpoints(const apiserver::RequestHandler& handler, const AccessControl& access,
                  RequestAccounts& accounts,
                  std::vector<std::shared_ptr<prometheus::Collectable>> metrics,
                  SideThread* side_thread)
        : handler_(handler),
          access_(access),
          accounts_(accounts),
          metrics_(std::move(metrics)),
          side_thread_(side_thread),
          documents_(handler.registry(), handler.extensions()) {}

    /// `unknown`: the error for a path that is none of these.
    Task<apiserver::StatusResult<void>> serve(Incoming& incoming, apiserver::StatusError unknown);

  private:
    void respond_health(Incoming& incoming) const;
    Task<void> respond_document(Incoming& incoming, Document document) const;

    const apiserver::RequestHandler& handler_;
    const AccessControl& access_;
    RequestAccounts& accounts_;
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics_;
    SideThread* side_thread_;
    Documents documents_;
};

}  // namespace muster::apiserver_http
