#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tcp_store/protocol_version.h"

namespace muster::tcp_store {

/// What clients of torch's TCPStore send, as today's number it on the wire (pytorch,
/// torch/csrc/distributed/c10d/TCPStoreBackend.hpp).
enum class StoreCommandKind : std::uint8_t {
    kValidate = 0,
    kSet = 1,
    kCompareSet = 2,
    kGet = 3,
    kAdd = 4,
    kCheck = 5,
    kWait = 6,
    kGetNumKeys = 7,
    kDeleteKey = 8,
    kAppend = 9,
    kMultiGet = 10,
    kMultiSet = 11,
    kCancelWait = 12,
    kPing = 13,
    kQueuePush = 14,
    kQueuePop = 15,
    kQueueLen = 16,
    kListKeys = 17,
    kBarrier = 18,
};

struct StoreCommand {
    StoreCommandKind kind = StoreCommandKind::kValidate;
    std::vector<std::string> keys = {};
    std::vector<std::string> values = {};  ///< of kCompareSet: what is expected, what is desired
    std::int64_t number = 0;               ///< magic, nonce, amount, members of a barrier

    friend bool operator==(const StoreCommand&, const StoreCommand&) = default;
};

/// What a client sends first, and nobody else does.
inline constexpr std::int64_t kStoreMagic = 0x3C85F7CE;

/// torch's own limits.
inline constexpr std::uint64_t kLongestKey = 8 * 1024;
inline constexpr std::uint64_t kLongestValue = 8 * 1024 * 1024;
inline constexpr std::uint64_t kMostKeys = 128 * 1024;

/// Bytes as they come, whole commands as they go. After an error the connection is of no use.
///
/// Today's clients begin with kValidate and the magic number, which this takes for itself; older
/// ones begin with any command (see StoreProtocolVersion). As a length the magic number is over the
/// limit, so nobody can be taken for the other.
class StoreReader {
  public:
    /// `more`: the client has said more than that, which comes with the next call.
    void put(std::string_view bytes, bool more = false);
    /// The next whole one, or nothing until more has come. kBadRequest: no such command; kTooLarge:
    /// over a limit, told before the rest is there.
    Result<std::optional<StoreCommand>> next();

  private:
    void greet();

    StoreProtocolVersion dialect_;
    bool greeted_ = false;
    bool more_ = false;
    std::string bytes_;
    std::size_t used_ = 0;
    std::size_t enough_ = 1;  ///< with fewer unread bytes nothing is whole
};

// ---- answers: numbers with the lowest byte first, texts with their length before them

void append_byte(std::string& out, std::uint8_t byte);
void append_number(std::string& out, std::int64_t number);
void append_nonce(std::string& out, std::uint32_t nonce);
void append_text(std::string& out, std::string_view text);

/// As a client sends it; for tests, and for what we ask ourselves.
std::string encode(const StoreCommand& command);

}  // namespace muster::tcp_store
