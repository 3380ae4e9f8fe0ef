#pragma once

#include <string>

#include "tcp_store/commands.h"
#include "tcp_store/stored_keys.h"

namespace muster::tcp_store {

/// Executes one command of a client and appends the answer to `out`. Some commands have no answer;
/// a wait is answered with one byte when it is over, which is up to the caller of take_released().
/// kInvalid and kBadRequest: the connection can't be used any more.
Result<void> answer(StoreKeys& keys, StoreKeys::Waiter client, StoreCommand command,
                    std::string& out);

/// The answer to a wait that is over.
inline constexpr std::uint8_t kStopWaiting = 0;

}  // namespace muster::tcp_store
