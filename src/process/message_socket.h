#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// Messages with descriptors between our own processes, over SOCK_SEQPACKET. Uses plain system
// calls.

namespace muster::process {

inline constexpr std::size_t kMaxMessage = std::size_t{12} * 1024;
inline constexpr std::size_t kMaxMessageFds = 16;

/// Both ends, close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> make_message_pair();

/// The caller keeps its descriptors. False: there is no room now, with MSG_DONTWAIT in `flags`.
Result<bool> send_message(int socket, std::string_view bytes, std::span<const int> fds,
                          int flags = 0);

struct Message {
    std::string bytes;  ///< empty if the other end is closed
    std::vector<UniqueFd> fds;
    bool nothing_yet = false;  ///< with MSG_DONTWAIT
};

/// Blocks, unless `flags` has MSG_DONTWAIT.
Result<Message> receive_message(int socket, int flags);

}  // namespace muster::process
