#pragma once

#include <string>
#include <string_view>

#include "apiserver/requests/user.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

// How requests and answers look on their way through this server. Pure.

/// Whether the client wants another protocol on the connection.
bool asks_for_upgrade(const net::HttpHeaders& headers);

/// Path and query without empty segments of the path, which this server passes over and others may
/// not.
std::string forwarded_target(std::string_view target);

/// The fields of a request for an extension server: without credentials, without what counts for
/// one connection only, and with the user, which nothing that the client sent can pretend to be.
net::HttpHeaders forwarded_headers(const net::HttpHeaders& sent, const apiserver::User& user);

/// The fields of its answer, without what counts for one connection only.
net::HttpHeaders returned_headers(const net::HttpHeaders& answered);

}  // namespace muster::apiserver_http
