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

/// The commands of torch's TCPStore clients, numbered as current clients do on the wire (pytorch,
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
    /// kCompareSet: the expected value, then the desired one
    std::vector<std::string> values = {};
    std::int64_t number = 0;  ///< magic, nonce, amount, or members of a barrier

    friend bool operator==(const StoreCommand&, const StoreCommand&) = default;
};

/// What current clients send first, and nothing else does.
inline constexpr std::int64_t kStoreMagic = 0x3C85F7CE;

/// Limits of torch itself.
inline constexpr std::uint64_t kLongestKey = 8 * 1024;
inline constexpr std::uint64_t kLongestValue = 8 * 1024 * 1024;
inline constexpr std::uint64_t kMostKeys = 128 * 1024;

/// Takes bytes as they arrive and returns whole commands. After an error the connection can't be
/// used any more.
///
/// Current clients begin with kValidate and the magic number, which this consumes; older ones begin
/// with any command (see StoreProtocolVersion). Read as a length, the magic number exceeds the
/// limit, so the two can't be confused.
class StoreReader {
  public:
    /// `more`: the client has sent more than that; it comes with the next call.
    void put(std::string_view bytes, bool more = false);
    /// The next whole command; nullopt until more has arrived. kBadRequest: unknown command;
    /// kTooLarge: over a limit, returned before the rest has arrived.
    Result<std::optional<StoreCommand>> next();
    /// That have come and belong to no whole command yet.
    std::size_t buffered() const { return bytes_.size() - used_ + taken_; }

  private:
    void greet();
    std::string_view left() const { return std::string_view(bytes_).substr(used_); }
    void take(std::size_t bytes);

    StoreProtocolVersion dialect_;
    bool greeted_ = false;
    bool more_ = false;
    std::string bytes_;
    std::size_t used_ = 0;
    std::size_t enough_ = 1;  ///< with fewer unread bytes there is no whole field
    /// The command whose first fields have been read: each is read once, however many are to come.
    std::optional<StoreCommand> begun_;
    std::optional<std::uint64_t> keys_of_begun_;  ///< as it says itself
    std::size_t taken_ = 0;                       ///< bytes of it that were read
};

// ---- answers: numbers in little-endian order, texts preceded by their length

void append_byte(std::string& out, std::uint8_t byte);
void append_number(std::string& out, std::int64_t number);
void append_nonce(std::string& out, std::uint32_t nonce);
void append_text(std::string& out, std::string_view text);

/// As a client sends it; for tests and for our own requests.
std::string encode(const StoreCommand& command);

}  // namespace muster::tcp_store
