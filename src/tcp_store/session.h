#pragma once

#include <string>

#include "tcp_store/commands.h"
#include "tcp_store/stored_keys.h"

namespace muster::tcp_store {

/// Does one command for one client, and adds what it is answered to `out`. Some are answered by
/// nothing, and waits by a byte once they are over: that is up to who has take_released(). kInvalid
/// and kBadRequest: the connection is of no use any more.
Result<void> answer(StoreKeys& keys, StoreKeys::Waiter client, StoreCommand command,
                    std::string& out);

/// What a released wait is answered.
inline constexpr std::uint8_t kStopWaiting = 0;

}  // namespace muster::tcp_store
