#include "apiserver_http/internal/protobuf/message_reader.h"

#include <fmt/format.h>

#include <bit>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <optional>
#include <vector>

#include "apiserver_http/internal/protobuf/message_catalog.h"
#include "apiserver_http/internal/protobuf/wire_reader.h"
#include "base/utf8.h"
#include "kube/values/base64.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"

namespace muster::apiserver_http {

namespace {

using Type = MessageField::Type;
using Shape = MessageField::Shape;

constexpr int kMaxDepth = kube::kDeepestJson;

WireType wire_type_of(Type type) {
    switch (type) {
        case Type::kBool:
        case Type::kInt32:
        case Type::kInt64:
            return WireType::kVarint;
        case Type::kDouble:
            return WireType::kFixed64;
        default:
            return WireType::kBytes;
    }
}

/// Whole numbers are written as such: 5 and not 5E0.
json::value number_value(double number) {
    constexpr double kExact = 9007199254740992;  // 2^53
    if (number > -kExact && number < kExact) {
        const auto whole = static_cast<std::int64_t>(number);
        if (static_cast<double>(whole) == number) return whole;
    }
    return number;
}

/// Turns messages into JSON. Values that stand for Go's zero become nothing.
class Reader {
  public:
    explicit Reader(std::string_view whole) : whole_(whole) {}

    /// Adds the fields of a message to an object.
    Result<void> read(const MessageType& type, std::string_view bytes, json::object& out) {
        if (++depth_ > kMaxDepth)
            return located(Error(Code::kBadRequest,
                                 fmt::format("nested more than {} levels deep", kMaxDepth)));
        WireReader reader(bytes, whole_);
        while (!reader.done()) {
            TRY(const WireReader::Tag tag, located(reader.tag()));
            const MessageField* field = type.field(tag.number);
            if (field == nullptr) {
                TRY_VOID(located(reader.skip(tag.type)));
                continue;
            }
            path_.push_back(field->name);
            TRY_VOID(read_field(*field, tag.type, reader, out));
            path_.pop_back();
        }
        --depth_;
        return {};
    }

  private:
    /// Puts the path of the field before the message.
    Error located(Error error) const {
        std::string path;
        for (const std::string_view name : path_)
            if (!name.empty()) path += (path.empty() ? "" : ".") + std::string(name);
        return path.empty() ? error : error.prefix(path);
    }
    template <class T>
    Result<T> located(Result<T> result) const {
        if (result.has_value()) return result;
        return located(std::move(result.error()));
    }

    Result<void> read_field(const MessageField& field, WireType wire_type, WireReader& reader,
                            json::object& out) {
        if (field.shape == Shape::kList) return read_item(field, wire_type, reader, out);
        if (field.shape == Shape::kMap) return read_entry(field, wire_type, reader, out);
        if (field.type == Type::kMessage && !field.message->is_union) {
            // A message in several parts is their sum.
            TRY(const std::string_view bytes, part(wire_type, reader));
            if (field.name.empty()) return read(*field.message, bytes, out);
            json::value& slot = out[field.name];
            if (!slot.is_object()) slot.emplace_object();
            return read(*field.message, bytes, slot.get_object());
        }
        TRY(std::optional<json::value> value,
            read_value(field, wire_type, reader, field.keeps_zero));
        // The last one counts, and so does a zero.
        if (value)
            out[field.name] = *std::move(value);
        else
            out.erase(field.name);
        return {};
    }

    Result<void> read_item(const MessageField& field, WireType wire_type, WireReader& reader,
                           json::object& out) {
        json::value& slot = out[field.name];
        if (!slot.is_array()) slot.emplace_array();
        json::array& list = slot.get_array();
        const bool packed =
            wire_type == WireType::kBytes && wire_type_of(field.type) != WireType::kBytes;
        if (!packed) {
            TRY(std::optional<json::value> value, read_value(field, wire_type, reader, true));
            list.push_back(value ? *std::move(value) : json::value());
            return {};
        }
        TRY(const std::string_view bytes, located(reader.bytes()));
        WireReader numbers(bytes, whole_);
        while (!numbers.done()) {
            TRY(std::optional<json::value> value,
                read_value(field, wire_type_of(field.type), numbers, true));
            list.push_back(value ? *std::move(value) : json::value());
        }
        return {};
    }

    /// An entry of a map is a message {1: key, 2: value}.
    Result<void> read_entry(const MessageField& field, WireType wire_type, WireReader& reader,
                            json::object& out) {
        TRY(const std::string_view bytes, part(wire_type, reader));
        json::value& slot = out[field.name];
        if (!slot.is_object()) slot.emplace_object();
        std::string key;
        json::value value = empty_value(field.type);
        WireReader entry(bytes, whole_);
        while (!entry.done()) {
            TRY(const WireReader::Tag tag, located(entry.tag()));
            if (tag.number == 1) {
                TRY(const std::string_view text, text_of(tag.type, entry));
                key = text;
            } else if (tag.number == 2) {
                TRY(std::optional<json::value> read, read_value(field, tag.type, entry, true));
                value = read ? *std::move(read) : json::value();
            } else {
                TRY_VOID(located(entry.skip(tag.type)));
            }
        }
        slot.get_object()[key] = std::move(value);
        return {};
    }

    /// The default of an entry without a value.
    static json::value empty_value(Type type) {
        switch (type) {
            case Type::kString:
            case Type::kBytes:
                return json::string();
            case Type::kQuantity:
                return "0";
            case Type::kItems:
                return json::array();
            case Type::kMessage:
                return json::object();
            default:
                return nullptr;
        }
    }

    Result<std::string_view> part(WireType wire_type, WireReader& reader) {
        if (wire_type != WireType::kBytes) return mismatch(wire_type, reader);
        return located(reader.bytes());
    }
    Error mismatch(WireType wire_type, const WireReader& reader) {
        return located(reader.error(
            fmt::format("a value of the wrong wire type {}", static_cast<int>(wire_type))));
    }

    Result<std::string_view> text_of(WireType wire_type, WireReader& reader) {
        TRY(const std::string_view text, part(wire_type, reader));
        if (!is_utf8(text)) return located(reader.error("a text that is not UTF-8 before"));
        return text;
    }

    /// Nothing for a value that stands for zero, unless zero is kept.
    Result<std::optional<json::value>> read_value(const MessageField& field, WireType wire_type,
                                                  WireReader& reader, bool keep_zero) {
        using Value = std::optional<json::value>;
        switch (field.type) {
            case Type::kString: {
                TRY(const std::string_view text, text_of(wire_type, reader));
                if (text.empty() && !keep_zero) return Value();
                return Value(json::string(text));
            }
            case Type::kBool:
            case Type::kInt32:
            case Type::kInt64: {
                if (wire_type != WireType::kVarint) return mismatch(wire_type, reader);
                TRY(const std::uint64_t bits, located(reader.varint()));
                if (bits == 0 && !keep_zero) return Value();
                if (field.type == Type::kBool) return Value(bits != 0);
                if (field.type == Type::kInt32) return Value(static_cast<std::int32_t>(bits));
                return Value(static_cast<std::int64_t>(bits));
            }
            case Type::kDouble: {
                if (wire_type != WireType::kFixed64) return mismatch(wire_type, reader);
                TRY(const std::uint64_t bits, located(reader.fixed64()));
                const double number = std::bit_cast<double>(bits);
                if (number - number != 0)
                    return located(reader.error("a number that JSON can't write before"));
                if (number == 0 && !keep_zero) return Value();
                return Value(number_value(number));
            }
            case Type::kBytes: {
                TRY(const std::string_view bytes, part(wire_type, reader));
                if (bytes.empty() && !keep_zero) return Value();
                return Value(json::string(kube::base64_encode(bytes)));
            }
            default:
                break;
        }
        TRY(const std::string_view bytes, part(wire_type, reader));
        switch (field.type) {
            case Type::kTime:
                return read_time(bytes, false);
            case Type::kMicroTime:
                return read_time(bytes, true);
            case Type::kQuantity:
                return read_quantity(bytes);
            case Type::kIntOrString:
                return read_int_or_string(bytes, keep_zero);
            case Type::kJson:
                return read_json(bytes, reader);
            case Type::kItems:
                return read_items(bytes);
            default:
                return read_object(*field.message, bytes);
        }
    }

    /// The fields 1, 2 and 3 of the small messages that are one value in JSON.
    struct Parts {
        std::uint64_t number[4] = {};
        std::string_view text[4] = {};
    };
    Result<Parts> parts_of(std::string_view bytes) {
        Parts parts;
        WireReader reader(bytes, whole_);
        while (!reader.done()) {
            TRY(const WireReader::Tag tag, located(reader.tag()));
            if (tag.number > 3 || (tag.type != WireType::kVarint && tag.type != WireType::kBytes)) {
                TRY_VOID(located(reader.skip(tag.type)));
            } else if (tag.type == WireType::kVarint) {
                TRY(parts.number[tag.number], located(reader.varint()));
            } else {
                TRY(parts.text[tag.number], located(reader.bytes()));
            }
        }
        return parts;
    }

    Result<std::optional<json::value>> read_time(std::string_view bytes, bool micro) {
        TRY(const Parts parts, parts_of(bytes));
        const auto seconds = static_cast<std::int64_t>(parts.number[1]);
        const auto nanos = static_cast<std::int32_t>(parts.number[2]);
        // Go's zero time, of the year 1, is an empty message.
        if (seconds == 0 && nanos == 0) return std::optional<json::value>();
        constexpr std::int64_t kFirst = -9'000'000'000;  // the years 1684 to 2255
        constexpr std::int64_t kLast = 9'000'000'000;
        if (seconds < kFirst || seconds > kLast || nanos < 0 || nanos >= 1'000'000'000)
            return located(WireReader(bytes, whole_).error("a time that can't be told"));
        const WallTime time{std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanos)};
        return std::optional<json::value>(
            json::string(micro ? kube::format_micro_time(time) : kube::format_time(time)));
    }

    Result<std::optional<json::value>> read_quantity(std::string_view bytes) {
        TRY(const Parts parts, parts_of(bytes));
        if (!is_utf8(parts.text[1]))
            return located(WireReader(bytes, whole_).error("a text that is not UTF-8"));
        if (parts.text[1].empty()) return std::optional<json::value>();
        return std::optional<json::value>(json::string(parts.text[1]));
    }

    Result<std::optional<json::value>> read_int_or_string(std::string_view bytes, bool keep_zero) {
        using Value = std::optional<json::value>;
        TRY(const Parts parts, parts_of(bytes));
        const bool is_text = parts.number[1] != 0;
        if (is_text && !is_utf8(parts.text[3]))
            return located(WireReader(bytes, whole_).error("a text that is not UTF-8"));
        if (!keep_zero && (is_text ? parts.text[3].empty() : parts.number[2] == 0)) return Value();
        if (is_text) return Value(json::string(parts.text[3]));
        return Value(static_cast<std::int32_t>(parts.number[2]));
    }

    Result<std::optional<json::value>> read_json(std::string_view bytes, const WireReader& reader) {
        TRY(const Parts parts, parts_of(bytes));
        if (parts.text[1].empty()) return std::optional<json::value>();
        boost::system::error_code problem;
        json::value value = json::parse(parts.text[1], problem, {}, kube::json_limits());
        if (problem)
            return located(
                reader.error(fmt::format("no valid JSON ({}) before", problem.message())));
        return std::optional<json::value>(std::move(value));
    }

    Result<std::optional<json::value>> read_items(std::string_view bytes) {
        json::array items;
        WireReader reader(bytes, whole_);
        while (!reader.done()) {
            TRY(const WireReader::Tag tag, located(reader.tag()));
            if (tag.number != 1) {
                TRY_VOID(located(reader.skip(tag.type)));
                continue;
            }
            TRY(const std::string_view text, text_of(tag.type, reader));
            items.emplace_back(text);
        }
        return std::optional<json::value>(std::move(items));
    }

    Result<std::optional<json::value>> read_object(const MessageType& type,
                                                   std::string_view bytes) {
        json::object fields;
        TRY_VOID(read(type, bytes, fields));
        if (!type.is_union) return std::optional<json::value>(std::move(fields));
        for (auto it = type.fields.rbegin(); it != type.fields.rend(); ++it)
            if (json::value* value = fields.if_contains(it->name))
                return std::optional<json::value>(std::move(*value));
        return std::optional<json::value>();
    }

    std::string_view whole_;
    std::vector<std::string_view> path_;
    int depth_ = 0;
};

}  // namespace

Result<void> read_message(const MessageType& type, std::string_view message, std::string_view whole,
                          json::object& out) {
    return Reader(whole).read(type, message, out);
}

}  // namespace muster::apiserver_http
