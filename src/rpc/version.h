#pragma once

#include <cstdint>

namespace muster::rpc {

/// The version of the protocol and of all messages sent over it. A new field is a new minor
/// version; a change that an older program would misread is a new major version.
struct Version {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;

    friend bool operator==(const Version&, const Version&) = default;
};

inline constexpr Version kVersion{.major = 1, .minor = 2};

/// Agent and master are upgraded one after the other, so adjacent minor versions must work
/// together.
constexpr bool talk_together(Version one, Version other) {
    const std::uint32_t apart =
        one.minor < other.minor ? other.minor - one.minor : one.minor - other.minor;
    return one.major == other.major && apart <= 1;
}

}  // namespace muster::rpc
