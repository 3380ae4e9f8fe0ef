#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/transport/transport.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";

/// The headers of an answer that must not be cached.
net::HttpHeaders headers_of(std::string_view content_type);
/// As many as clients read; the last one then says how many more there are.
void add_warnings(net::HttpHeaders& headers, const std::vector<std::string>& warnings);
/// The Status of a request that was certainly not executed may suggest another try.
void add_retry_after(net::HttpHeaders& headers, const kube::Response& response);

}  // namespace muster::apiserver_http
