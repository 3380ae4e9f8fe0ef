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

/// How much a store may hold, and have on its way.
struct StoreLimits {
    std::size_t connections = 65'536;
    std::size_t entries = std::size_t{1} << 20;    ///< StoreKeys::entries()
    std::size_t bytes = std::size_t{1} << 30;      ///< StoreKeys::bytes()
    std::size_t in_flight = std::size_t{1} << 30;  ///< of commands and answers that are not whole
};

/// What the answer will take, and what is stored with it at most. kTooLarge: it would exceed what a
/// store may hold, or have on its way besides `in_flight` bytes; then nothing of it is to be done.
Result<void> check_room(const StoreKeys& keys, const StoreCommand& command,
                        const StoreLimits& limits, std::size_t in_flight);

/// The answer to a wait that is over.
inline constexpr std::uint8_t kStopWaiting = 0;

}  // namespace muster::tcp_store
