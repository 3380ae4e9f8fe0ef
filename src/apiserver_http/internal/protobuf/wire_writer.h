#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::apiserver_http {

/// Writes protobuf messages, field by field.
class WireWriter {
  public:
    WireWriter& varint(std::uint32_t number, std::uint64_t value) {
        raw_varint(number << 3);
        raw_varint(value);
        return *this;
    }
    WireWriter& bytes(std::uint32_t number, std::string_view value) {
        raw_varint(number << 3 | 2);
        raw_varint(value.size());
        out_ += value;
        return *this;
    }
    WireWriter& message(std::uint32_t number, const WireWriter& fields) {
        return bytes(number, fields.out_);
    }
    WireWriter& fixed64(std::uint32_t number, std::uint64_t value) {
        raw_varint(number << 3 | 1);
        for (int i = 0; i < 8; ++i) out_ += static_cast<char>(value >> (8 * i));
        return *this;
    }
    WireWriter& fixed32(std::uint32_t number, std::uint32_t value) {
        raw_varint(number << 3 | 5);
        for (int i = 0; i < 4; ++i) out_ += static_cast<char>(value >> (8 * i));
        return *this;
    }
    const std::string& text() const { return out_; }

  private:
    void raw_varint(std::uint64_t value) {
        while (value >= 0x80) {
            out_ += static_cast<char>(value | 0x80);
            value >>= 7;
        }
        out_ += static_cast<char>(value);
    }

    std::string out_;
};

/// The whole body of a client: the magic bytes and the envelope around an object.
inline std::string protobuf_body(std::string_view api_version, std::string_view kind,
                                 const WireWriter& object) {
    WireWriter envelope;
    envelope.message(1, WireWriter().bytes(1, api_version).bytes(2, kind));
    envelope.message(2, object).bytes(3, "").bytes(4, "");
    return std::string("k8s\0", 4) + envelope.text();
}

}  // namespace muster::apiserver_http
