#include "apiserver_http/internal/protobuf/message_catalog.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "apiserver_http/internal/protobuf/message_tables.h"
#include "base/check.h"
#include "base/fields.h"
#include "base/parse_number.h"

// The notation of the tables: a message's name in the first column, then its fields:
//
//     Container
//       1 name! string, 3 command []string, 10 livenessProbe Probe, 24 restartPolicy *string
//
// A field is its number, its name in JSON and its type. `!` marks a field that Go's encoder writes
// even if it is zero, `*` a type that is a pointer in Go, so that zero is not absence. Types are
// string, bool, int32, int64, double, bytes, time, microtime, quantity, intstr, json, items, the
// name of a message, []T and map[T]; the name `.` stands for a message whose fields are those of
// the object around it. A message's name may be followed by ` : apiVersion Kind` of the objects
// that it represents completely (`*`: of any apiVersion), or by ` union`.

namespace muster::apiserver_http {

namespace {

using Type = MessageField::Type;

std::optional<Type> scalar_type(std::string_view name) {
    static const std::map<std::string_view, Type> kTypes = {
        {"string", Type::kString},     {"bool", Type::kBool},
        {"int32", Type::kInt32},       {"int64", Type::kInt64},
        {"double", Type::kDouble},     {"bytes", Type::kBytes},
        {"time", Type::kTime},         {"microtime", Type::kMicroTime},
        {"quantity", Type::kQuantity}, {"intstr", Type::kIntOrString},
        {"json", Type::kJson},         {"items", Type::kItems}};
    const auto it = kTypes.find(name);
    return it == kTypes.end() ? std::nullopt : std::optional(it->second);
}

/// Every message of the tables, built once.
class Catalog {
  public:
    Catalog() {
        for (std::string_view table :
             {kMetaMessages, kVolumeMessages, kPodMessages, kPodStatusMessages, kCoreMessages,
              kWorkloadMessages, kAccessMessages, kCrdMessages, kAdmissionMessages,
              kStoredMessages}) {
            MessageType* message = nullptr;
            while (!table.empty()) {
                std::string_view line = take_field(table, "\n");
                if (line.empty()) continue;
                if (line.front() != ' ')
                    message = &begin(line);
                else
                    add_fields(*message, line);
            }
        }
        for (const auto& [name, message] : by_name_)
            CHECK(defined_.contains(name), "a table names a message that no table has");
    }

    const MessageType* find(std::string_view api_version, std::string_view kind) const {
        auto it = by_kind_.find({api_version, kind});
        if (it == by_kind_.end()) it = by_kind_.find({"*", kind});
        return it == by_kind_.end() ? nullptr : it->second;
    }

  private:
    MessageType& named(std::string_view name) {
        std::unique_ptr<MessageType>& message = by_name_[name];
        if (message == nullptr) message = std::make_unique<MessageType>();
        return *message;
    }

    MessageType& begin(std::string_view line) {
        const std::string_view name = take_field(line, " ");
        MessageType& message = named(name);
        const bool fresh = defined_.insert(name).second;
        CHECK(fresh, "a message stands twice in the tables");
        const std::string_view mark = take_field(line, " ");
        if (mark == ":") {
            const std::string_view api_version = take_field(line, " ");
            by_kind_[{api_version, line}] = &message;
        } else {
            message.is_union = mark == "union";
        }
        return message;
    }

    void add_fields(MessageType& message, std::string_view line) {
        while (!line.empty()) {
            std::string_view text = take_field(line, ",");
            text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
            if (text.empty()) continue;
            const MessageField field = parse(text);
            CHECK(message.fields.empty() || message.fields.back().number < field.number,
                  "the fields of a message stand in the order of their numbers");
            message.fields.push_back(field);
        }
    }

    MessageField parse(std::string_view text) {
        MessageField field;
        field.number = parse_number<std::uint32_t>(take_field(text, " ")).value_or(0);
        CHECK(field.number > 0, "a field has a number");
        field.name = take_field(text, " ");
        if (field.name == ".") field.name = {};
        if (field.name.ends_with('!')) {
            field.name.remove_suffix(1);
            field.keeps_zero = true;
        }
        if (text.starts_with('*')) {
            text.remove_prefix(1);
            field.keeps_zero = true;
        }
        if (text.starts_with("[]")) {
            text.remove_prefix(2);
            field.shape = MessageField::Shape::kList;
        } else if (text.starts_with("map[")) {
            text = text.substr(4, text.size() - 5);
            field.shape = MessageField::Shape::kMap;
        }
        if (const std::optional<Type> type = scalar_type(text)) {
            field.type = *type;
        } else {
            field.type = Type::kMessage;
            field.message = &named(text);
        }
        CHECK(!field.name.empty() || field.type == Type::kMessage, "only messages have no name");
        return field;
    }

    std::map<std::string_view, std::unique_ptr<MessageType>> by_name_;
    std::set<std::string_view> defined_;
    std::map<std::pair<std::string_view, std::string_view>, const MessageType*> by_kind_;
};

}  // namespace

const MessageField* MessageType::field(std::uint32_t number) const {
    const auto it = std::ranges::lower_bound(fields, number, {}, &MessageField::number);
    return it == fields.end() || it->number != number ? nullptr : &*it;
}

const MessageType* find_message(std::string_view api_version, std::string_view kind) {
    static const Catalog catalog;
    return catalog.find(api_version, kind);
}

}  // namespace muster::apiserver_http
