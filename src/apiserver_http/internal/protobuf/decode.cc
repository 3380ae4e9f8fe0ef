#include "apiserver_http/internal/protobuf/decode.h"

#include <fmt/format.h>

#include "apiserver_http/internal/protobuf/message_reader.h"
#include "apiserver_http/internal/protobuf/wire_reader.h"
#include "base/utf8.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kMagic("k8s\0", 4);
/// A server's limit of a body.
constexpr std::size_t kMaxBytes = 3u << 20;

/// runtime.Unknown: the type of the object, and its bytes.
struct Envelope {
    std::string_view api_version;
    std::string_view kind;
    std::string_view object;
};

Result<Envelope> read_type(std::string_view bytes, std::string_view whole, Envelope envelope) {
    WireReader reader(bytes, whole);
    while (!reader.done()) {
        TRY(const WireReader::Tag tag, reader.tag());
        if (tag.type != WireType::kBytes || tag.number > 2) {
            TRY_VOID(reader.skip(tag.type));
            continue;
        }
        TRY(const std::string_view text, reader.bytes());
        (tag.number == 1 ? envelope.api_version : envelope.kind) = text;
    }
    return envelope;
}

Result<Envelope> read_envelope(std::string_view body) {
    if (!body.starts_with(kMagic))
        return Error(Code::kBadRequest,
                     "a protobuf body begins with the bytes 6b 38 73 00, this one does not");
    Envelope envelope;
    WireReader reader(body.substr(kMagic.size()), body);
    while (!reader.done()) {
        TRY(const WireReader::Tag tag, reader.tag());
        if (tag.type != WireType::kBytes) {
            TRY_VOID(reader.skip(tag.type));
            continue;
        }
        TRY(const std::string_view bytes, reader.bytes());
        if (tag.number == 1) {
            TRY(envelope, read_type(bytes, body, envelope));
        } else if (tag.number == 2) {
            envelope.object = bytes;
        } else if ((tag.number == 3 || tag.number == 4) && !bytes.empty()) {
            return Error(Code::kUnsupported,
                         "the object of a protobuf body must be protobuf itself, not encoded");
        }
    }
    if (!is_utf8(envelope.api_version) || !is_utf8(envelope.kind))
        return Error(Code::kBadRequest, "the apiVersion or the kind is not UTF-8");
    return envelope;
}

}  // namespace

Result<json::object> decode_protobuf(std::string_view body) {
    if (body.size() > kMaxBytes)
        return Error(Code::kTooLarge, fmt::format("a protobuf body of {} bytes; the most is {}",
                                                  body.size(), kMaxBytes));
    TRY(const Envelope envelope, read_envelope(body));
    const MessageType* type = find_message(envelope.api_version, envelope.kind);
    if (type == nullptr)
        return Error(Code::kUnsupported,
                     fmt::format("no protobuf description of {} {}; send it as JSON",
                                 envelope.api_version, envelope.kind));
    json::object object{{"apiVersion", envelope.api_version}, {"kind", envelope.kind}};
    TRY_VOID(read_message(*type, envelope.object, body, object));
    return object;
}

}  // namespace muster::apiserver_http
