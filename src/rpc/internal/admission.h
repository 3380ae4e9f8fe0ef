#pragma once

#include <muster/rpc/frame.pb.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "rpc/version.h"

namespace muster::rpc {

/// The longest frame of somebody who has not shown the token yet.
inline constexpr std::size_t kLongestHello = 4096;
/// Of a client's name and of what it says about itself.
inline constexpr std::size_t kLongestName = 256;

struct Introduction {
    std::string token;
    std::string client;
    std::string about;
    /// Counts up in the client's life; 0: it does not say.
    std::uint64_t connection = 0;
};

/// What a server says of itself.
struct Welcome {
    std::string server;               ///< the name of its life
    std::uint64_t longest_frame = 0;  ///< that it takes
};

wire::Frame hello_frame(const Introduction& introduction, Version own);
wire::Frame welcome_frame(const Welcome& welcome, Version own);
wire::Frame farewell_frame(const Error& error);

/// What a server makes of the first frame of a connection. kUnauthorized: not the job's token (how
/// much of it was right does not show in the time that this takes); kUnsupported: versions that do
/// not talk; kBadRequest: anything else. Tokens are looked at first: who has none learns nothing
/// more.
Result<Introduction> admit(const wire::Frame& first, std::string_view token, Version own);

/// What a client makes of the server's first frame: who it is, or why it refused.
Result<Welcome> admitted(const wire::Frame& first, Version own);

}  // namespace muster::rpc
