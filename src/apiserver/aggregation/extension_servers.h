#pragma once

#include <boost/json/array.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/aggregation/extension_server.h"

namespace muster::apiserver {

/// What an extension server says of its version.
struct DiscoveredVersion {
    json::array resources;    ///< as aggregated discovery lists them
    std::string openapi_url;  ///< of its OpenAPI v3 document; empty: it has none
    std::size_t bytes = 0;    ///< about how large the resources are as text
};

/// The extension servers, by the version that each serves, with what they said last. Thread: the
/// server's loop.
class ExtensionServers {
  public:
    /// How many are served at a time.
    static constexpr std::size_t kMost = 100;
    /// What of their documents is kept, for one of them and for all together: clients ask for all
    /// of it at once.
    static constexpr std::size_t kLargest = std::size_t{256} * 1024;
    static constexpr std::size_t kAllTogether = std::size_t{1024} * 1024;

    struct Known {
        ExtensionServer server;
        std::shared_ptr<const DiscoveredVersion> said;  ///< null: nothing yet
        bool fresh = false;                             ///< it said so when it was asked last
    };
    using Servers = std::map<std::string, Known, std::less<>>;

    /// False: there are too many.
    bool put(ExtensionServer server);
    void remove(std::string_view api_version);
    /// The answer of the server of a version; null: it had none that can be used, and what it said
    /// before counts on.
    void learn(std::string_view api_version, std::shared_ptr<const DiscoveredVersion> said);

    const Servers& all() const { return servers_; }
    const Known* find(std::string_view api_version) const;
    /// The one that serves /apis/GROUP/VERSION and what is below it.
    const Known* serving(std::string_view path) const;
    /// Raised by each change of what is served or described.
    std::uint64_t generation() const { return generation_; }

  private:
    Servers servers_;
    std::size_t bytes_ = 0;  ///< of all that was said
    std::uint64_t generation_ = 0;
};

}  // namespace muster::apiserver
