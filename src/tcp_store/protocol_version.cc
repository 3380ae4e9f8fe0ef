#include "tcp_store/protocol_version.h"

#include <algorithm>

#include "tcp_store/commands.h"

namespace muster::tcp_store {
namespace {

/// The byte's meaning with a command to watch a key among the others, and without one.
constexpr std::uint8_t kWatchOrDelete = 7;
constexpr std::uint8_t kDeleteOrAppend = 8;
constexpr std::uint8_t kAppendOrMultiGet = 9;
constexpr std::uint8_t kMultiGetOrMultiSet = 10;
constexpr std::uint8_t kMultiSetOrCancelWait = 11;
constexpr std::uint8_t kNoCommand = 255;

/// The size of the text at the beginning of `rest`, including its length; nullopt while it is
/// incomplete.
std::optional<std::uint64_t> text_size(std::string_view rest) {
    constexpr std::size_t kLength = 8;
    if (rest.size() < kLength) return std::nullopt;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < kLength; ++i)
        size |= std::uint64_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    if (size > rest.size() - kLength) return std::nullopt;
    return kLength + size;
}

}  // namespace

/// Whether `rest`, which has only grown since the last call, is the keys of the wait as far as it
/// goes. No byte is compared twice.
bool StoreProtocolVersion::repeats_wait(std::string_view rest) {
    const std::size_t both = std::min(rest.size(), waited_.size());
    const std::string_view waited = waited_;
    if (rest.substr(repeated_, both - repeated_) != waited.substr(repeated_, both - repeated_))
        return false;
    repeated_ = both;
    return true;
}

StoreProtocolVersion::Kind StoreProtocolVersion::tell(std::uint8_t byte, std::string_view rest,
                                                      bool all_said) {
    // Clients get several keys only after having waited for exactly these.
    const bool repeats = !waited_.empty() && repeats_wait(rest);
    const bool gets = repeats && rest.size() >= waited_.size();
    const bool may_get = repeats && rest.size() <= waited_.size();
    switch (byte) {
        case kWatchOrDelete:
            return Kind::kOldWithout;
        case kDeleteOrAppend: {
            const std::optional<std::uint64_t> key = text_size(rest);
            if (key && rest.size() > *key) return Kind::kOldWithout;
            return key && all_said ? Kind::kOldWithWatch : Kind::kOld;
        }
        case kAppendOrMultiGet:
            if (gets) return Kind::kOldWithout;
            return may_get ? Kind::kOld : Kind::kOldWithWatch;
        case kMultiGetOrMultiSet:
            if (!gets) return may_get ? Kind::kOld : Kind::kOldWithout;
            if (rest.size() > waited_.size()) return Kind::kOldWithout;  // a value
            return all_said ? Kind::kOldWithWatch : Kind::kOld;
        case kMultiSetOrCancelWait:
            if (waited_.empty() || !rest.empty()) return Kind::kOldWithWatch;
            return all_said ? Kind::kOldWithout : Kind::kOld;
        default:
            return kind_;
    }
}

std::optional<std::uint8_t> StoreProtocolVersion::number_of(std::uint8_t byte,
                                                            std::string_view rest, bool all_said) {
    if (kind_ == Kind::kToday) return byte;
    if (byte > kMultiSetOrCancelWait) return kNoCommand;
    const bool before = byte < kWatchOrDelete;
    if (!before && kind_ == Kind::kOld) kind_ = tell(byte, rest, all_said);
    if (!before && kind_ == Kind::kOld) return std::nullopt;
    return static_cast<std::uint8_t>(before || kind_ == Kind::kOldWithout ? byte + 1 : byte);
}

void StoreProtocolVersion::heard(const StoreCommand& command) {
    waited_.clear();
    repeated_ = 0;
    if (kind_ != Kind::kOld || command.kind != StoreCommandKind::kWait) return;
    waited_ = encode(command).substr(1);
}

}  // namespace muster::tcp_store
