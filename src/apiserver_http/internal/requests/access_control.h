#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authentication/access_options.h"
#include "apiserver/authentication/token_authentication.h"
#include "apiserver/authorization/action.h"
#include "apiserver/request_handler.h"
#include "apiserver_http/internal/requests/request_record.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

/// Identifies senders and decides what they may do, from what the server has stored at the moment
/// of the request. Thread: the server's loop.
class AccessControl {
  public:
    AccessControl(const apiserver::RequestHandler& handler, apiserver::AccessOptions options)
        : handler_(handler), options_(std::move(options)) {}

    /// Finds out who sent the request, and which user they want to act as, if they may.
    apiserver::StatusResult<void> identify(const net::HttpRequest& request,
                                           RequestRecord& record) const;
    /// Decides about the request's own action.
    apiserver::StatusResult<void> authorize(RequestRecord& record) const;
    apiserver::StatusResult<void> authorize(const apiserver::User& user,
                                            const apiserver::Action& action) const;
    /// The checks for a user other than the admin beyond the verb of the request.
    apiserver::Admit admission(const apiserver::User& user, const apiserver::Target& target,
                               kube::Method method) const;
    /// Whoever is authenticated may do everything.
    bool everything_allowed() const { return options_.everything_allowed; }
    /// The owner of a token, which may be the admin, if it is meant for one of the audiences.
    Result<apiserver::TokenOwner> owner_of(std::string_view token,
                                           const std::vector<std::string>& audiences) const;

  private:
    Result<apiserver::User> sender_of(const net::HttpRequest& request) const;
    Result<apiserver::TokenOwner> account_of(std::string_view token,
                                             const std::vector<std::string>& audiences) const;

    const apiserver::RequestHandler& handler_;
    apiserver::AccessOptions options_;
};

}  // namespace muster::apiserver_http
