#pragma once

#include <array>
#include <string_view>

namespace muster::control_plane {

// What a state directory holds that can't be made again, for whoever copies one.

inline constexpr std::string_view kStoreFile = "store.db";
/// The certificates, keys and token by which clients know the server, and it them.
inline constexpr std::array<std::string_view, 11> kKeyFiles = {"ca.crt",
                                                               "ca.key",
                                                               "server.crt",
                                                               "server.key",
                                                               "admin.crt",
                                                               "admin.key",
                                                               "admin.token",
                                                               "sa.key",
                                                               "front-proxy-ca.crt",
                                                               "front-proxy-client.crt",
                                                               "front-proxy-client.key"};

}  // namespace muster::control_plane
