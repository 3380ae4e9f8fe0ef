#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::apiserver_http {

/// How the value of a field stands on the wire.
enum class WireType : std::uint8_t {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,  ///< texts, bytes, messages, packed lists
    kFixed32 = 5,
};

/// Reads the fields of one protobuf message in their order. What it hands out points into the
/// bytes, which outlive it. Errors are kBadRequest and say at which offset.
class WireReader {
  public:
    /// `message` is a part of `whole`: offsets are counted from the start of that.
    WireReader(std::string_view message, std::string_view whole) : rest_(message), whole_(whole) {}

    struct Tag {
        std::uint32_t number;
        WireType type;
    };

    bool done() const { return rest_.empty(); }
    Result<Tag> tag();
    Result<std::uint64_t> varint();
    Result<std::uint64_t> fixed64();
    Result<std::string_view> bytes();
    Result<void> skip(WireType type);

    /// An error at what would be read next.
    Error error(std::string_view what) const;

  private:
    std::string_view rest_;
    std::string_view whole_;
};

bool is_utf8(std::string_view text);

}  // namespace muster::apiserver_http
