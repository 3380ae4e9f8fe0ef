#include "manifest/yaml/yaml_writer.h"

#include <boost/json/serialize.hpp>

#include "manifest/yaml/yaml_scalar.h"

namespace muster::manifest {

namespace {

/// Whether the text reads back as itself without quotes.
bool is_plain(std::string_view text) {
    constexpr std::string_view kFirst = "-?:,[]{}#&*!|>'\"%@` ";
    constexpr std::string_view kAnywhere = "\n\r\t\"\\[]{},";
    if (text.empty() || text == "<<" || text == "---" || text == "..." || text.back() == ' ')
        return false;
    if (kFirst.find(text.front()) != std::string_view::npos) return false;
    if (text.find_first_of(kAnywhere) != std::string_view::npos) return false;
    if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos)
        return false;
    if (text.back() == ':') return false;
    // Other readers take texts of the Kubernetes tools for dates, and for numbers of base 60.
    const bool number = (text.front() >= '0' && text.front() <= '9') || text.front() == '+';
    if (number && text.find_first_not_of("0123456789-:.+TtZz ") == std::string_view::npos)
        return false;
    for (char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F)
            return false;
    Result<json::value> read = resolve_plain(text);
    return read && read->is_string();
}

std::string scalar(const json::value& value) {
    if (value.is_string() && is_plain(value.get_string())) return std::string(value.get_string());
    return json::serialize(value);
}

bool is_nested(const json::value& value) {
    if (const json::object* object = value.if_object()) return !object->empty();
    if (const json::array* array = value.if_array()) return !array->empty();
    return false;
}

/// `lead` is what precedes the first line: nothing, or the "- " of the list around it.
void write(const json::value& value, std::size_t indent, bool continues_line, std::string& out) {
    auto start_line = [&](bool first) {
        if (!(first && continues_line)) out.append(indent, ' ');
    };
    bool first = true;
    if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
        for (const auto& [key, field] : *object) {
            start_line(std::exchange(first, false));
            out += scalar(json::value(key)) + ":";
            if (!is_nested(field)) {
                out += ' ' + scalar(field) + '\n';
                continue;
            }
            out += '\n';
            // Lists have the indentation of their key, as kubectl writes them.
            write(field, field.is_array() ? indent : indent + 2, false, out);
        }
        return;
    }
    if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
        for (const json::value& item : *array) {
            start_line(std::exchange(first, false));
            out += "- ";
            if (is_nested(item))
                write(item, indent + 2, true, out);
            else
                out += scalar(item) + '\n';
        }
        return;
    }
    start_line(true);
    out += scalar(value) + '\n';
}

void write_json(const json::value& value, std::size_t indent, std::string& out) {
    if (!is_nested(value)) {
        out += json::serialize(value);
        return;
    }
    bool first = true;
    bool is_object = value.is_object();
    auto next = [&] {
        out += std::exchange(first, false) ? "\n" : ",\n";
        out.append(indent + 2, ' ');
    };
    out += is_object ? '{' : '[';
    if (is_object) {
        for (const auto& [key, field] : value.get_object()) {
            next();
            out += json::serialize(json::value(key)) + ": ";
            write_json(field, indent + 2, out);
        }
    } else {
        for (const json::value& item : value.get_array()) {
            next();
            write_json(item, indent + 2, out);
        }
    }
    out += '\n';
    out.append(indent, ' ');
    out += is_object ? '}' : ']';
}

}  // namespace

std::string to_yaml(const json::value& value) {
    std::string out;
    write(value, 0, false, out);
    return out;
}

std::string to_pretty_json(const json::value& value) {
    std::string out;
    write_json(value, 0, out);
    return out + '\n';
}

}  // namespace muster::manifest
