#include <boost/json/value.hpp>
#include <map>

#include "base/check.h"
#include "base/parse_number.h"
#include "kube/internal/core_tables/core_tables.h"
#include "kube/internal/schema/schema_formats.h"
#include "kube/schema/schema.h"

// The notation of the tables: a struct's name in the first column, then one field a line:
//
//     Container
//       name!          string
//       env            []EnvVar  keys=name repeats merge
//
// Behind a struct's name, `atomic` says that it has one owner and is applied as a whole
// (x-kubernetes-map-type). `!` marks a required field. Types are string, bool, int32, int64,
// number, any (kept as it is), object (kept as it is, but an object), quantity, intstr (int or
// string), time, microtime, bytes (base64), the name of a struct, []T and map[T]. The zero value of
// an optional scalar, list or map is its absence, unless `*` stands before the type: in Go that is
// a pointer, or Go writes zero too. Behind the type:
//
//     keys=a,b       a list whose items are told apart by these fields
//                    (x-kubernetes-list-type: map)
//     repeats        ... though Kubernetes accepts equal ones in the built-in kinds
//     atomic         a map that has one owner and is applied as a whole
//     set            a list without equal items
//     merge, merge=k a strategic merge patch merges the list: by its first key, or by k, or, of
//                    scalars, as a union
//     retain         ... and honours $retainKeys (also of a struct)
//     default=text   the default, as JSON or a plain word

namespace muster::kube {
namespace {

using Type = Schema::Type;

std::string_view next_word(std::string_view& line) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) {
        line = {};
        return {};
    }
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

/// Every structure of the tables, built once. What fields share (a string, a LabelSelector) is one
/// Schema object.
class Catalog {
  public:
    Catalog() {
        add_scalars();
        for (std::string_view table :
             {kMetaTable, kPodTable, kPodStatusTable, kVolumeTable, kNodeTable, kCrdTable,
              kKindTable, kAccessTable, kAdmissionTable, kWorkloadTable, kAutoscalerTable,
              kStorageTable, kNetworkTable, kLimitTable})
            index(table);
        for (const auto& [name, block] : blocks_) schema(name);
        blocks_.clear();
    }

    Schema::Ptr find(std::string_view name) const {
        auto it = built_.find(name);
        return it == built_.end() ? nullptr : it->second;
    }

    std::string_view name_of(const Schema& schema) const {
        auto it = names_.find(&schema);
        return it == names_.end() ? std::string_view() : it->second;
    }

  private:
    void add_scalar(std::string_view name, Type type, std::string_view format = {}) {
        auto schema = std::make_shared<Schema>();
        schema->type = type;
        schema->format = format;
        scalars_.emplace(name, std::move(schema));
    }
    void add_scalars() {
        add_scalar("string", Type::kString);
        add_scalar("bool", Type::kBoolean);
        add_scalar("int32", Type::kInteger, "int32");
        add_scalar("int64", Type::kInteger, "int64");
        add_scalar("number", Type::kNumber);
        add_scalar("any", Type::kAny);
        add_scalar("quantity", Type::kIntOrString, "quantity");
        add_scalar("intstr", Type::kIntOrString);
        add_scalar("time", Type::kString, "date-time");
        add_scalar("microtime", Type::kString, kMicroTimeFormat);
        add_scalar("bytes", Type::kString, "byte");
        auto object = std::make_shared<Schema>();
        object->type = Type::kObject;
        object->preserve_unknown = true;
        scalars_.emplace("object", std::move(object));
    }

    /// Records where each struct's lines are.
    void index(std::string_view table) {
        std::string_view name;
        const char* start = table.data();
        while (!table.empty()) {
            const std::size_t end = std::min(table.find('\n'), table.size());
            const std::string_view line = table.substr(0, end);
            if (!line.empty() && line.front() != ' ' && line.front() != '#') {
                close(name, start, line.data());
                name = line.substr(0, line.find(' '));
                start = line.data() + name.size();
            }
            table.remove_prefix(std::min(end + 1, table.size()));
            if (table.empty()) close(name, start, line.data() + line.size());
        }
    }
    void close(std::string_view name, const char* start, const char* end) {
        if (name.empty()) return;
        const bool fresh =
            blocks_.emplace(name, std::string_view(start, static_cast<std::size_t>(end - start)))
                .second;
        CHECK(fresh, "a struct stands twice in the tables");
    }

    /// The struct of that name, built when it is first needed.
    Schema::Ptr schema(std::string_view name) {
        if (auto it = built_.find(name); it != built_.end()) return it->second;
        auto block = blocks_.find(name);
        CHECK(block != blocks_.end(), "a table names a struct that no table has");
        CHECK(++depth_ < 50, "the structs of the tables contain each other");
        auto made = std::make_shared<Schema>();
        made->type = Type::kObject;
        std::string_view rest = block->second;
        std::string_view heading = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(heading.size());
        for (std::string_view word = next_word(heading); !word.empty(); word = next_word(heading))
            apply(*made, word);
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            std::string_view line = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            std::string_view field = next_word(line);
            if (field.empty() || field.front() == '#') continue;
            const bool required = field.back() == '!';
            if (required) {
                field.remove_suffix(1);
                made->required.emplace_back(field);
            }
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            const bool writes_zero = line.starts_with('*');
            if (writes_zero) line.remove_prefix(1);
            Schema::Ptr type = parse_type(line);
            if (!required && !writes_zero) type = omitting_zero(std::move(type));
            const bool fresh = made->properties.emplace(field, std::move(type)).second;
            CHECK(fresh, "a field stands twice in a struct");
        }
        --depth_;
        built_.emplace(name, made);
        names_.emplace(made.get(), name);
        return made;
    }

    /// The same type of a field whose zero value is its absence; one object for each, too. Structs,
    /// and scalars that are structs in Go, have no such value.
    Schema::Ptr omitting_zero(Schema::Ptr type) {
        const bool is_struct = type->type == Type::kObject && type->additional == nullptr;
        const bool is_go_struct = type->type == Type::kAny || type->type == Type::kIntOrString ||
                                  type->format == "date-time" || type->format == kMicroTimeFormat;
        if (is_struct || is_go_struct) return type;
        Schema::Ptr& made = omitting_[type];
        if (made == nullptr) {
            auto copy = std::make_shared<Schema>(*type);
            copy->omits_zero = true;
            made = std::move(copy);
        }
        return made;
    }

    Schema::Ptr parse_type(std::string_view line) {
        const std::string_view name = next_word(line);
        // Fields without attributes share one schema for each type, so that a pod's tree stays
        // small.
        if (line.find_first_not_of(' ') == std::string_view::npos) {
            if (auto it = plain_.find(name); it != plain_.end()) return it->second;
            Schema::Ptr made = named(name);
            plain_.emplace(name, made);
            return made;
        }
        auto made = std::make_shared<Schema>(*named(name));
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
            apply(*made, word);
        return made;
    }

    Schema::Ptr named(std::string_view name) {
        const bool list = name.starts_with("[]");
        if (list || name.starts_with("map[")) {
            auto made = std::make_shared<Schema>();
            made->type = list ? Type::kArray : Type::kObject;
            if (list) {
                made->items = parse_type(name.substr(2));
            } else {
                made->additional = parse_type(name.substr(4, name.size() - 5));
            }
            return made;
        }
        if (auto it = scalars_.find(name); it != scalars_.end()) return it->second;
        return schema(name);
    }

    static void apply(Schema& schema, std::string_view word) {
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        std::string_view value =
            equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
        if (key == "keys") {
            schema.list_type = Schema::ListType::kMap;
            while (!value.empty()) {
                const std::size_t end = std::min(value.find(','), value.size());
                schema.list_map_keys.emplace_back(value.substr(0, end));
                value.remove_prefix(std::min(end + 1, value.size()));
            }
        } else if (key == "repeats") {
            schema.repeats = true;
        } else if (key == "atomic") {
            schema.atomic = true;
        } else if (key == "set") {
            schema.list_type = Schema::ListType::kSet;
        } else if (key == "merge") {
            if (!value.empty()) {
                schema.patch_merge_key = value;
            } else if (!schema.list_map_keys.empty()) {
                schema.patch_merge_key = schema.list_map_keys.front();
            } else {
                schema.patch_merge_primitive = true;
            }
        } else if (key == "retain") {
            schema.patch_retain_keys = true;
        } else if (key == "default") {
            schema.default_value = parse_default(value, schema.type);
        } else {
            CHECK(false, "a table has an unknown attribute");
        }
    }

    static json::value parse_default(std::string_view text, Type type) {
        if (type == Type::kBoolean) return text == "true";
        if (type != Type::kInteger) return json::string(text);
        return parse_number<std::int64_t>(text).value_or(0);
    }

    template <class T>
    using ByName = std::unordered_map<std::string_view, T>;

    ByName<std::string_view> blocks_;
    ByName<Schema::Ptr> scalars_;
    ByName<Schema::Ptr> plain_;
    std::map<Schema::Ptr, Schema::Ptr> omitting_;  ///< by the type that keeps its zero value
    ByName<Schema::Ptr> built_;
    std::unordered_map<const Schema*, std::string_view> names_;
    int depth_ = 0;
};

const Catalog& core_catalog() {
    static const Catalog catalog;
    return catalog;
}

}  // namespace

Schema::Ptr core_schema(std::string_view name) { return core_catalog().find(name); }

std::string_view core_schema_name(const Schema& schema) { return core_catalog().name_of(schema); }

}  // namespace muster::kube
