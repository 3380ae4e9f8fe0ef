#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "launch/endpoint.h"
#include "net/byte_stream.h"
#include "net/name_lookup.h"
#include "net/tls/tls.h"

namespace muster::run {

/// Connections to a job's master, wherever it is: the endpoints are tried one after another,
/// beginning with the one that answered last. Thread: the loop. Outlives its connects.
class MasterConnector {
  public:
    /// `tls` may be null, and outlives this, as the others do.
    MasterConnector(asio::any_io_executor executor, Clock& clock, net::NameLookup& names,
                    net::TlsClientContext* tls, std::vector<launch::Endpoint> endpoints);

    /// The error names each endpoint and what it lacks.
    Task<Result<std::unique_ptr<net::ByteStream>>> connect();
    /// This machine's address of the connection that was made last; empty: none was.
    const std::string& local_host() const { return local_host_; }

  private:
    Task<Result<std::unique_ptr<net::ByteStream>>> connect_to(launch::Endpoint endpoint);

    asio::any_io_executor executor_;
    Clock& clock_;
    net::NameLookup& names_;
    net::TlsClientContext* tls_;
    std::vector<launch::Endpoint> endpoints_;
    std::size_t first_ = 0;
    std::string local_host_;
};

}  // namespace muster::run
