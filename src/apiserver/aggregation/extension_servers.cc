#include "apiserver/aggregation/extension_servers.h"

#include <algorithm>

namespace muster::apiserver {

namespace {

constexpr std::string_view kGroupPaths = "/apis/";

std::size_t said_bytes(const ExtensionServers::Known& known) {
    return known.said == nullptr ? 0 : known.said->bytes;
}

}  // namespace

bool ExtensionServers::put(ExtensionServer server) {
    const std::string api_version = server.api_version();
    const auto found = servers_.find(api_version);
    if (found == servers_.end()) {
        if (servers_.size() >= kMost) return false;
        servers_.emplace(api_version, Known{std::move(server), nullptr, false});
    } else {
        if (found->second.server == server) return true;
        // Another server may say something else of the same version.
        ExtensionServer as_before = found->second.server;
        as_before.available = server.available;
        if (as_before != server) {
            bytes_ -= said_bytes(found->second);
            found->second.said = nullptr;
            found->second.fresh = false;
        }
        found->second.server = std::move(server);
    }
    ++generation_;
    return true;
}

void ExtensionServers::remove(std::string_view api_version) {
    const auto found = servers_.find(api_version);
    if (found == servers_.end()) return;
    bytes_ -= said_bytes(found->second);
    servers_.erase(found);
    ++generation_;
}

void ExtensionServers::learn(std::string_view api_version,
                             std::shared_ptr<const DiscoveredVersion> said) {
    const auto found = servers_.find(api_version);
    if (found == servers_.end()) return;
    Known& known = found->second;
    const std::size_t others = bytes_ - said_bytes(known);
    if (said != nullptr && (said->bytes > kLargest || others + said->bytes > kAllTogether))
        said = nullptr;
    const bool fresh = said != nullptr;
    const bool same = fresh && known.said != nullptr && known.said->resources == said->resources &&
                      known.said->openapi_url == said->openapi_url;
    if (known.fresh == fresh && (same || !fresh)) return;
    known.fresh = fresh;
    if (fresh) {
        bytes_ = others + said->bytes;
        known.said = std::move(said);
    }
    ++generation_;
}

const ExtensionServers::Known* ExtensionServers::find(std::string_view api_version) const {
    const auto found = servers_.find(api_version);
    return found == servers_.end() ? nullptr : &found->second;
}

const ExtensionServers::Known* ExtensionServers::serving(std::string_view path) const {
    if (servers_.empty() || !path.starts_with(kGroupPaths)) return nullptr;
    path.remove_prefix(kGroupPaths.size());
    const std::size_t slash = path.find('/');
    if (slash == path.npos) return nullptr;
    return find(path.substr(0, std::min(path.find('/', slash + 1), path.size())));
}

}  // namespace muster::apiserver
