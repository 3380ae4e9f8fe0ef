#pragma once

#include <sys/types.h>

#include <optional>
#include <span>

#include "workers/shim/order.h"

// The shim's side of the conversation with its agent. Nothing here blocks.

namespace muster::workers {

/// nullopt if the file has no order. Closes the file.
std::optional<ShimOrder> read_order(int file);

struct ReceivedRequest {
    ssize_t size = 0;  ///< as recvmsg returns it, with its errno
    ShimRequest request;
    int file = -1;  ///< received with it; the caller closes it
};
ReceivedRequest receive_request(int from);

/// At most two descriptors. False, with errno, if it was not sent.
bool send_report(int to, const ShimReport& report, std::span<const int> fds);

/// Whether the other end of a connection is a process of our user, or root's.
bool is_of_our_user(int connection);

}  // namespace muster::workers
