#include "tcp_store/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::tcp_store {
namespace {

/// The layout of what follows a command's first byte.
struct Layout {
    bool counted = false;  ///< keys preceded by their number; otherwise `keys` of them
    int keys = 0;
    int values = 0;        ///< after each key
    int number_bytes = 0;  ///< at the end
};

std::optional<Layout> layout_of(std::uint8_t kind) {
    switch (static_cast<StoreCommandKind>(kind)) {
        case StoreCommandKind::kValidate:
        case StoreCommandKind::kPing:
            return Layout{.number_bytes = 4};
        case StoreCommandKind::kSet:
        case StoreCommandKind::kAppend:
        case StoreCommandKind::kQueuePush:
            return Layout{.keys = 1, .values = 1};
        case StoreCommandKind::kCompareSet:
            return Layout{.keys = 1, .values = 2};
        case StoreCommandKind::kGet:
        case StoreCommandKind::kDeleteKey:
        case StoreCommandKind::kQueuePop:
        case StoreCommandKind::kQueueLen:
            return Layout{.keys = 1};
        case StoreCommandKind::kAdd:
        case StoreCommandKind::kBarrier:
            return Layout{.keys = 1, .number_bytes = 8};
        case StoreCommandKind::kCheck:
        case StoreCommandKind::kWait:
        case StoreCommandKind::kMultiGet:
            return Layout{.counted = true};
        case StoreCommandKind::kMultiSet:
            return Layout{.counted = true, .values = 1};
        case StoreCommandKind::kGetNumKeys:
        case StoreCommandKind::kCancelWait:
        case StoreCommandKind::kListKeys:
            return Layout{};
    }
    return std::nullopt;
}

/// Reads fields from bytes; when they run out, says how many are needed to continue.
class Fields {
  public:
    explicit Fields(std::string_view bytes) : bytes_(bytes) {}

    /// nullopt: not there yet.
    std::optional<std::uint64_t> number(int size) {
        if (!has(static_cast<std::size_t>(size))) return std::nullopt;
        std::uint64_t value = 0;
        for (int i = 0; i < size; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(bytes_[at_++])} << (8 * i);
        return value;
    }
    /// False: not there yet; then nothing of it has been read.
    Result<bool> text(std::vector<std::string>& into, std::uint64_t longest, const char* what) {
        const std::size_t before = at_;
        const std::optional<std::uint64_t> size = number(8);
        if (!size) return false;
        if (*size > longest)
            return Error(Code::kTooLarge,
                         fmt::format("a {} of {} bytes; torch allows {}", what, *size, longest));
        if (!has(*size)) {
            at_ = before;
            return false;
        }
        into.emplace_back(bytes_.substr(at_, *size));
        at_ += *size;
        return true;
    }

    std::size_t at() const { return at_; }
    std::size_t enough() const { return enough_; }

  private:
    bool has(std::size_t size) {
        enough_ = at_ + size;
        return enough_ <= bytes_.size();
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    std::size_t enough_ = 0;
};

/// Reads the fields that `command` does not have yet. `keys`: how many it says that it has, once
/// that is known. False: incomplete.
Result<bool> read(Fields& fields, const Layout& layout, StoreCommand& command,
                  std::optional<std::uint64_t>& keys) {
    if (!keys) {
        keys = layout.counted ? fields.number(8) : static_cast<std::uint64_t>(layout.keys);
        if (!keys) return false;
        if (*keys > kMostKeys)
            return Error(Code::kTooLarge,
                         fmt::format("{} keys at once; torch allows {}", *keys, kMostKeys));
    }
    const auto values = static_cast<std::size_t>(layout.values);
    for (;;) {
        const bool complete = command.values.size() == values * command.keys.size();
        if (complete && command.keys.size() == *keys) break;
        TRY(const bool whole, complete ? fields.text(command.keys, kLongestKey, "key")
                                       : fields.text(command.values, kLongestValue, "value"));
        if (!whole) return false;
    }
    if (layout.number_bytes == 0) return true;
    const std::optional<std::uint64_t> number = fields.number(layout.number_bytes);
    if (number) command.number = static_cast<std::int64_t>(*number);
    return number.has_value();
}

void append_bytes(std::string& out, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

}  // namespace

void StoreReader::put(std::string_view bytes, bool more) {
    if (used_ > 0 && used_ >= bytes_.size() / 2) {
        bytes_.erase(0, used_);
        used_ = 0;
    }
    bytes_.append(bytes);
    more_ = more;
}

/// Decides by the first bytes whether it is a current client.
void StoreReader::greet() {
    static const std::string kHello =
        encode({.kind = StoreCommandKind::kValidate, .number = kStoreMagic});
    if (left().size() < kHello.size() && kHello.starts_with(left())) return;
    greeted_ = true;
    if (!left().starts_with(kHello)) return;
    dialect_.is_today();
    used_ += kHello.size();
}

void StoreReader::take(std::size_t bytes) {
    used_ += bytes;
    taken_ += bytes;
}

Result<std::optional<StoreCommand>> StoreReader::next() {
    if (!greeted_) greet();
    if (!greeted_ || left().size() < enough_) return std::optional<StoreCommand>();
    if (!begun_) {
        const auto byte = static_cast<std::uint8_t>(left()[0]);
        const std::optional<std::uint8_t> kind = dialect_.number_of(byte, left().substr(1), !more_);
        if (!kind) return std::optional<StoreCommand>();
        if (!layout_of(*kind))
            return Error(Code::kBadRequest, fmt::format("there is no command {}", byte));
        begun_ = StoreCommand{.kind = static_cast<StoreCommandKind>(*kind)};
        take(1);
    }
    Fields fields(left());
    const Layout layout = *layout_of(static_cast<std::uint8_t>(begun_->kind));
    TRY(const bool whole, read(fields, layout, *begun_, keys_of_begun_));
    take(fields.at());
    if (!whole) {
        enough_ = fields.enough() - fields.at();
        return std::optional<StoreCommand>();
    }
    enough_ = 1;
    taken_ = 0;
    keys_of_begun_.reset();
    std::optional<StoreCommand> command = std::exchange(begun_, std::nullopt);
    dialect_.heard(*command);
    return command;
}

void append_byte(std::string& out, std::uint8_t byte) { out.push_back(static_cast<char>(byte)); }

void append_number(std::string& out, std::int64_t number) {
    append_bytes(out, static_cast<std::uint64_t>(number), 8);
}

void append_nonce(std::string& out, std::uint32_t nonce) { append_bytes(out, nonce, 4); }

void append_text(std::string& out, std::string_view text) {
    append_bytes(out, text.size(), 8);
    out.append(text);
}

std::string encode(const StoreCommand& command) {
    const auto kind = static_cast<std::uint8_t>(command.kind);
    const Layout layout = layout_of(kind).value_or(Layout{});
    std::string out(1, static_cast<char>(kind));
    if (layout.counted) append_bytes(out, command.keys.size(), 8);
    std::size_t value = 0;
    for (const std::string& key : command.keys) {
        append_text(out, key);
        for (int i = 0; i < layout.values; ++i) append_text(out, command.values[value++]);
    }
    append_bytes(out, static_cast<std::uint64_t>(command.number), layout.number_bytes);
    return out;
}

}  // namespace muster::tcp_store
