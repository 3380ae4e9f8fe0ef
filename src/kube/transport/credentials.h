#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::kube {

/// The credentials of requests, which may change while a program runs. Thread: one loop.
class Credentials {
  public:
    using Fields = std::vector<std::pair<std::string, std::string>>;
    /// The header fields of a request.
    struct Headers {
        std::shared_ptr<const Fields> fields;  ///< of its head
        std::uint64_t version = 0;             ///< changes whenever one of the fields changes
    };

    virtual ~Credentials() = default;

    /// For a request that is about to be sent. kUnavailable if we have no valid credentials at the
    /// moment: the message says why. kCancelled after a stop.
    virtual Task<Result<Headers>> headers() = 0;
    /// A request with this `version` was answered with 401. Renews the credentials, and returns
    /// whether they changed, so that repeating the request is worthwhile.
    virtual Task<bool> refused(std::uint64_t version) = 0;
};

/// Always the same token; no credentials if it is empty.
class FixedToken final : public Credentials {
  public:
    explicit FixedToken(const std::string& token) {
        Fields fields;
        if (!token.empty()) fields.emplace_back("Authorization", "Bearer " + token);
        headers_.fields = std::make_shared<const Fields>(std::move(fields));
    }

    Task<Result<Headers>> headers() override { co_return headers_; }
    Task<bool> refused(std::uint64_t) override { co_return false; }

  private:
    Headers headers_;
};

}  // namespace muster::kube
