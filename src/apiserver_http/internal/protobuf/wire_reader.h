#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::apiserver_http {

/// The wire format of a field's value.
enum class WireType : std::uint8_t {
    kVarint = 0,
    kFixed64 = 1,
    kBytes = 2,  ///< texts, bytes, messages, packed lists
    kFixed32 = 5,
};

/// Reads the fields of one protobuf message in order. Results point into the bytes, which outlive
/// it. Errors are kBadRequest and give the offset.
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

    /// An error at the present position.
    Error error(std::string_view what) const;

  private:
    std::string_view rest_;
    std::string_view whole_;
};

}  // namespace muster::apiserver_http
