#pragma once

#include <muster/rpc/frame.pb.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "rpc/version.h"

namespace muster::rpc {

/// The longest frame from a client that has not shown the token yet.
inline constexpr std::size_t kLongestHello = 4096;
/// For a client's name, and for its description.
inline constexpr std::size_t kLongestName = 256;

struct Introduction {
    std::string token;
    std::string client;
    std::string about;
    /// Rises during the client's life; 0: not told.
    std::uint64_t connection = 0;
};

/// What a server says about itself.
struct Welcome {
    std::string server;               ///< unique to each server process
    std::uint64_t longest_frame = 0;  ///< the longest that it accepts
};

wire::Frame hello_frame(const Introduction& introduction, Version own);
wire::Frame welcome_frame(const Welcome& welcome, Version own);
wire::Frame farewell_frame(const Error& error);

/// Judges the first frame of a connection. kUnauthorized: not the job's token (compared in constant
/// time); kUnsupported: incompatible versions; kBadRequest: anything else. The token is checked
/// first: without it a client learns nothing else.
Result<Introduction> admit(const wire::Frame& first, std::string_view token, Version own);

/// Judges the server's first frame: who it is, or why it refused.
Result<Welcome> admitted(const wire::Frame& first, Version own);

}  // namespace muster::rpc
