#include "apiserver/requests/json_body.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>
#include <set>

#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxDuplicates = 100;
/// Of their paths together, each of which may be as long as the body.
constexpr std::size_t kMaxDuplicateBytes = std::size_t{64} * 1024;

using error_code = boost::system::error_code;

/// Builds the value as json::parse() does, and counts the keys: if an object has a key twice, the
/// value has one key less.
struct CountingHandler {
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    json::value_stack stack;
    std::size_t keys = 0;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return true; }
    bool on_object_end(std::size_t size, error_code&) {
        keys += size;
        stack.push_object(size);
        return true;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t size, error_code&) {
        stack.push_array(size);
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, error_code&) {
        stack.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t, error_code&) {
        stack.push_key(part);
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, error_code&) {
        stack.push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t, error_code&) {
        stack.push_string(part);
        return true;
    }
    bool on_number_part(json::string_view, error_code&) { return true; }
    bool on_int64(std::int64_t value, json::string_view, error_code&) {
        stack.push_int64(value);
        return true;
    }
    bool on_uint64(std::uint64_t value, json::string_view, error_code&) {
        stack.push_uint64(value);
        return true;
    }
    bool on_double(double value, json::string_view, error_code&) {
        stack.push_double(value);
        return true;
    }
    bool on_bool(bool value, error_code&) {
        stack.push_bool(value);
        return true;
    }
    bool on_null(error_code&) {
        stack.push_null();
        return true;
    }
    bool on_comment_part(json::string_view, error_code&) { return true; }
    bool on_comment(json::string_view, error_code&) { return true; }
};

std::size_t count_keys(const json::value& value) {
    std::size_t keys = 0;
    if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array) keys += count_keys(item);
    } else if (const json::object* object = value.if_object()) {
        keys = object->size();
        for (const auto& field : *object) keys += count_keys(field.value());
    }
    return keys;
}

/// Walks the text a second time, only to name the duplicate keys.
struct DuplicateHandler {
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    struct Level {
        bool array = false;
        std::size_t index = 0;
        std::string key;
        std::set<std::string> seen;
    };
    std::vector<Level> levels;
    std::string key_begin;
    std::vector<std::string> found;
    std::size_t found_bytes = 0;

    std::string path() const {
        std::string text;
        for (const Level& level : levels) {
            if (level.array) {
                text += fmt::format("[{}]", level.index);
            } else {
                if (!text.empty()) text += '.';
                text += level.key;
            }
        }
        return text;
    }
    bool value_ended() {
        if (!levels.empty()) ++levels.back().index;
        return true;
    }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) {
        levels.emplace_back();
        return true;
    }
    bool on_object_end(std::size_t, error_code&) {
        levels.pop_back();
        return value_ended();
    }
    bool on_array_begin(error_code&) {
        levels.push_back({.array = true, .index = 0, .key = {}, .seen = {}});
        return true;
    }
    bool on_array_end(std::size_t, error_code&) {
        levels.pop_back();
        return value_ended();
    }
    bool on_key_part(json::string_view part, std::size_t, error_code&) {
        key_begin += part;
        return true;
    }
    bool on_key(json::string_view part, std::size_t, error_code&) {
        Level& level = levels.back();
        level.key = std::move(key_begin) + std::string(part);
        key_begin.clear();
        if (level.seen.insert(level.key).second) return true;
        if (found.size() >= kMaxDuplicates || found_bytes >= kMaxDuplicateBytes) return true;
        found.push_back(path());
        found_bytes += found.back().size();
        return true;
    }
    bool on_string_part(json::string_view, std::size_t, error_code&) { return true; }
    bool on_string(json::string_view, std::size_t, error_code&) { return value_ended(); }
    bool on_number_part(json::string_view, error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, error_code&) { return value_ended(); }
    bool on_uint64(std::uint64_t, json::string_view, error_code&) { return value_ended(); }
    bool on_double(double, json::string_view, error_code&) { return value_ended(); }
    bool on_bool(bool, error_code&) { return value_ended(); }
    bool on_null(error_code&) { return value_ended(); }
    bool on_comment_part(json::string_view, error_code&) { return true; }
    bool on_comment(json::string_view, error_code&) { return true; }
};

/// How far it got, and why it stopped there.
template <class Handler>
std::pair<std::size_t, error_code> walk(json::basic_parser<Handler>& parser,
                                        std::string_view text) {
    error_code failed;
    const std::size_t taken = parser.write_some(false, text.data(), text.size(), failed);
    if (!failed && text.find_first_not_of(" \t\r\n", taken) != text.npos)
        failed = json::make_error_code(json::error::extra_data);
    return {taken, failed};
}

std::vector<std::string> find_duplicates(std::string_view text) {
    json::basic_parser<DuplicateHandler> parser(kube::json_limits());
    walk(parser, text);
    return std::move(parser.handler().found);
}

}  // namespace

StatusResult<JsonBody> parse_json_body(std::string_view text) {
    JsonBody body;
    if (text.find_first_not_of(" \t\r\n") == text.npos) return body;
    json::basic_parser<CountingHandler> parser(kube::json_limits());
    // The values of one body are freed together.
    parser.handler().stack.reset(
        json::make_shared_resource<json::monotonic_resource>(2 * text.size() + 256));
    const auto [taken, failed] = walk(parser, text);
    if (failed)
        return bad_request(fmt::format("the body of the request is not JSON: {} at byte {}",
                                       failed.message(), taken));
    const std::size_t keys = parser.handler().keys;
    auto value = std::make_shared<const json::value>(parser.handler().stack.release());
    if (count_keys(*value) != keys) body.duplicate_fields = find_duplicates(text);
    body.value = std::move(value);
    return body;
}

}  // namespace muster::apiserver
