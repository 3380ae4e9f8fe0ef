#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::apiserver_http {

struct MessageType;

/// A field of a message: its form on the wire and in JSON.
struct MessageField {
    enum class Type {
        kString,
        kBool,
        kInt32,
        kInt64,
        kDouble,
        kBytes,        ///< base64 in JSON
        kTime,         ///< metav1.Time
        kMicroTime,    ///< metav1.MicroTime
        kQuantity,     ///< resource.Quantity
        kIntOrString,  ///< intstr.IntOrString
        kJson,         ///< a message around JSON text (FieldsV1, a schema's default)
        kItems,        ///< a message around a list of strings, which is the list in JSON
        kMessage,
    };
    enum class Shape { kSingle, kList, kMap };

    std::uint32_t number = 0;
    std::string_view name;  ///< if empty, its fields belong to the object around it
    Type type = Type::kString;
    Shape shape = Shape::kSingle;
    /// Zero is a value: the field is a pointer in Go, or Go always writes it.
    bool keeps_zero = false;
    const MessageType* message = nullptr;  ///< of kMessage
};

struct MessageType {
    std::vector<MessageField> fields;  ///< by number
    /// In JSON it is the value of one of its fields: the last one present.
    bool is_union = false;

    /// Null for an unknown number.
    const MessageField* field(std::uint32_t number) const;
};

/// The message of a kind, or null. Any thread.
const MessageType* find_message(std::string_view api_version, std::string_view kind);

}  // namespace muster::apiserver_http
