#include "cel/json_value.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <unordered_map>
#include <unordered_set>

#include "cel/internal/time_text.h"
#include "kube/values/base64.h"

namespace muster::cel {
namespace {

using Form = Declaration::Form;
using ListType = Declaration::ListType;
using ListPtr = std::shared_ptr<const List>;

/// Like value_of(), but data that can't be read are a value.
Value read(const json::value& document, const Declaration* declaration) {
    Outcome outcome = value_of(document, declaration);
    if (outcome) return *std::move(outcome);
    return std::make_shared<const Failure>(std::move(outcome).error());
}

class JsonList final : public List {
  public:
    JsonList(const json::array& array, const Declaration* declaration)
        : array_(&array), declaration_(declaration) {}

    std::size_t size() const override { return array_->size(); }
    Value at(std::size_t index) const override {
        return read((*array_)[index], declaration_ ? declaration_->element.get() : nullptr);
    }
    bool equals(const List& other) const override {
        if (list_type() == ListType::kAtomic) return List::equals(other);
        if (size() != other.size()) return false;
        std::unordered_map<std::string, std::size_t> own;
        for (std::size_t i = 0; i < size(); ++i) own.emplace(key_of(at(i)), i);
        for (std::size_t i = 0; i < other.size(); ++i) {
            const Value theirs = other.at(i);
            const auto found = own.find(key_of(theirs));
            if (found == own.end() || !equal(at(found->second), theirs)) return false;
        }
        return true;
    }
    Outcome plus(const ListPtr& self, const ListPtr& other) const override {
        if (list_type() == ListType::kAtomic) return List::plus(self, other);
        std::vector<Value> elements;
        elements.reserve(size() + other->size());
        std::unordered_map<std::string, std::size_t> places;
        for (std::size_t i = 0; i < size(); ++i) {
            elements.push_back(at(i));
            places.emplace(key_of(elements.back()), i);
        }
        for (std::size_t i = 0; i < other->size(); ++i) {
            Value theirs = other->at(i);
            const auto [place, fresh] = places.try_emplace(key_of(theirs), elements.size());
            if (fresh)
                elements.push_back(std::move(theirs));
            else if (list_type() == ListType::kMap)
                elements[place->second] = std::move(theirs);
        }
        return Value::list(std::move(elements));
    }

  private:
    ListType list_type() const {
        return declaration_ ? declaration_->list_type : ListType::kAtomic;
    }
    /// By which elements of such a list are the same.
    std::string key_of(const Value& element) const {
        if (list_type() == ListType::kSet) return content_text(element);
        std::string key;
        for (const std::string& name : declaration_->list_map_keys) {
            const Map* map = element.map();
            const std::optional<Value> part = map ? map->field(escape(name)) : std::nullopt;
            key += part ? content_text(*part) : "-";
        }
        return key;
    }

    const json::array* array_;
    const Declaration* declaration_;
};

class JsonMap final : public Map {
  public:
    JsonMap(const json::object& object, const Declaration* declaration)
        : object_(&object), declaration_(declaration) {}

    std::size_t size() const override { return object_->size(); }
    std::optional<Value> find(const Value& key) const override {
        const Text* name = key.string();
        return name ? held(name->view()) : std::nullopt;
    }
    std::optional<Value> field(std::string_view name) const override {
        if (!is_object()) return held(name);
        const Declaration::Field* field = declaration_->field(name);
        if (field == nullptr) return std::nullopt;
        const json::value* value = object_->if_contains(field->json_name);
        if (value == nullptr) return std::nullopt;
        return read(*value, field->declaration.get());
    }
    void for_each(
        const std::function<bool(const Value& key, const Value& value)>& visit) const override {
        for (const auto& [key, value] : *object_)
            if (!visit(Text::of(key), read(value, declaration_of(key)))) return;
    }
    std::string_view type_name() const override {
        return is_object() ? std::string_view(declaration_->name) : std::string_view();
    }

  private:
    bool is_object() const {
        return declaration_ != nullptr && declaration_->form == Form::kObject;
    }
    const Declaration* declaration_of(std::string_view key) const {
        if (declaration_ == nullptr) return nullptr;
        if (!is_object()) return declaration_->element.get();
        const Declaration::Field* field = declaration_->field(escape(key));
        return field ? field->declaration.get() : nullptr;
    }
    std::optional<Value> held(std::string_view key) const {
        const json::value* value = object_->if_contains(key);
        if (value == nullptr) return std::nullopt;
        return read(*value, declaration_of(key));
    }

    const json::object* object_;
    const Declaration* declaration_;
};

std::string_view kind_of(const json::value& document) {
    switch (document.kind()) {
        case json::kind::object:
            return "map";
        case json::kind::array:
            return "array";
        case json::kind::string:
            return "string";
        case json::kind::bool_:
            return "bool";
        case json::kind::null:
            return "null";
        default:
            return "number";
    }
}

std::unexpected<Failure> wrong(std::string_view wanted, const json::value& document) {
    return failure(fmt::format("invalid data, expected {}, got {}", wanted, kind_of(document)));
}

Outcome scalar_of_text(std::string_view text, Type::Kind kind) {
    if (kind == Type::Kind::kDuration) {
        if (const auto duration = parse_duration(text)) return *duration;
        return failure(fmt::format("Invalid duration {}", text));
    }
    if (kind == Type::Kind::kTimestamp) {
        if (const auto time = parse_timestamp(text)) return *time;
        if (const auto date = parse_date(text)) return *date;
        return failure(fmt::format("Invalid date-time formatted string {}", text));
    }
    if (kind == Type::Kind::kBytes) {
        if (auto bytes = kube::base64_decode(text)) return Bytes{Text(*std::move(bytes))};
        return failure(fmt::format("Invalid byte formatted string {}", text));
    }
    return Text::of(text);
}

Outcome plain_value(const json::value& document) {
    switch (document.kind()) {
        case json::kind::bool_:
            return document.get_bool();
        case json::kind::int64:
            return document.get_int64();
        case json::kind::uint64:
            return document.get_uint64();
        case json::kind::double_:
            return document.get_double();
        case json::kind::string:
            return Text::of(document.get_string());
        default:
            return Value();
    }
}

Outcome scalar_of(const json::value& document, Type::Kind kind) {
    switch (kind) {
        case Type::Kind::kBool:
            if (const bool* flag = document.if_bool()) return *flag;
            return wrong("bool", document);
        case Type::Kind::kInt:
            if (const std::int64_t* number = document.if_int64()) return *number;
            return wrong("int", document);
        case Type::Kind::kDouble:
            if (document.is_number()) return document.to_number<double>();
            return wrong("float", document);
        case Type::Kind::kString:
        case Type::Kind::kBytes:
        case Type::Kind::kDuration:
        case Type::Kind::kTimestamp:
            if (const json::string* text = document.if_string()) return scalar_of_text(*text, kind);
            return wrong("string", document);
        default:
            return plain_value(document);
    }
}

}  // namespace

Outcome value_of(const json::value& document, const Declaration* declaration) {
    if (document.is_null()) return Value();
    const json::array* array = document.if_array();
    const json::object* object = document.if_object();
    if (declaration != nullptr && declaration->form == Form::kScalar &&
        declaration->scalar != Type::Kind::kDyn)
        return scalar_of(document, declaration->scalar);
    const bool typed = declaration != nullptr && declaration->form != Form::kScalar;
    if (typed && declaration->form == Form::kList && array == nullptr)
        return failure("invalid data, expected an array for the provided schema with type=array");
    if (typed && declaration->form != Form::kList && object == nullptr)
        return failure("invalid data, expected a map for the provided schema with type=object");
    const Declaration* of = typed ? declaration : nullptr;
    if (array != nullptr) return ListPtr(std::make_shared<JsonList>(*array, of));
    if (object != nullptr)
        return std::shared_ptr<const Map>(std::make_shared<JsonMap>(*object, of));
    return plain_value(document);
}

}  // namespace muster::cel
