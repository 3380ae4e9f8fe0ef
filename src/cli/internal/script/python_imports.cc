#include "cli/internal/script/python_imports.h"

#include <set>

namespace muster::cli {

namespace {

bool is_name(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\r'; }

/// Cuts a source into its statements, without strings and comments.
class Statements {
  public:
    explicit Statements(std::string_view source) : source_(source) {}

    /// The next statement; false at the end.
    bool next(std::string& statement) {
        statement.clear();
        int depth = 0;
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (c == '#') {
                skip_to_line_end();
            } else if (c == '\'' || c == '"') {
                skip_string(c);
                statement += ' ';
            } else if (c == '\\' && at_ + 1 < source_.size()) {
                at_ += source_.substr(at_ + 1).starts_with("\r\n") ? 3 : 2;
                statement += ' ';
            } else {
                ++at_;
                if (c == '(' || c == '[' || c == '{') ++depth;
                if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
                // `if x: import y` has two, too. A name never has a colon.
                if ((c == '\n' && depth == 0) || c == ';' || c == ':') return true;
                statement += c == '\n' ? ' ' : c;
            }
        }
        return !statement.empty();
    }

  private:
    void skip_to_line_end() {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
    }
    void skip_string(char quote) {
        const std::string three(3, quote);
        const bool is_long = source_.substr(at_).starts_with(three);
        at_ += is_long ? 3 : 1;
        while (at_ < source_.size()) {
            const char c = source_[at_];
            if (c == '\\') {
                at_ += 2;
            } else if (is_long && source_.substr(at_).starts_with(three)) {
                at_ += 3;
                return;
            } else if (!is_long && (c == quote || c == '\n')) {
                at_ += c == quote ? 1 : 0;
                return;
            } else {
                ++at_;
            }
        }
    }

    std::string_view source_;
    std::size_t at_ = 0;
};

/// Reads words and commas of one statement.
class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    /// A dotted name; empty if something else comes.
    std::string_view word() {
        skip_spaces();
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '.')) ++at_;
        return text_.substr(begin, at_ - begin);
    }
    bool skip_comma() {
        skip_spaces();
        const bool comma = at_ < text_.size() && text_[at_] == ',';
        if (comma) ++at_;
        return comma;
    }
    /// `from . import (a, b)`.
    void skip_bracket() {
        skip_spaces();
        if (at_ < text_.size() && text_[at_] == '(') ++at_;
    }

  private:
    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::string_view first_name(std::string_view dotted) {
    const std::size_t begin = dotted.find_first_not_of('.');
    if (begin == std::string_view::npos) return {};
    return dotted.substr(begin, dotted.find('.', begin) - begin);
}

/// `a, b.c as d`: the first name of each.
void read_names(Reader& reader, std::vector<std::string_view>& names) {
    do {
        const std::string_view name = first_name(reader.word());
        if (name.empty()) return;
        names.push_back(name);
        Reader after = reader;
        if (after.word() == "as") {
            after.word();
            reader = after;
        }
    } while (reader.skip_comma());
}

std::vector<std::string_view> names_of(std::string_view statement) {
    std::vector<std::string_view> names;
    Reader reader(statement);
    const std::string_view verb = reader.word();
    if (verb == "import") {
        read_names(reader, names);
    } else if (verb == "from") {
        const std::string_view module = reader.word();
        if (reader.word() != "import") return names;
        if (!first_name(module).empty()) {
            names.push_back(first_name(module));
        } else if (!module.empty()) {
            reader.skip_bracket();
            read_names(reader, names);
        }
    }
    return names;
}

}  // namespace

std::vector<std::string> imported_modules(std::string_view source) {
    std::vector<std::string> modules;
    std::set<std::string, std::less<>> seen;
    Statements statements(source);
    std::string statement;
    while (statements.next(statement))
        for (const std::string_view name : names_of(statement))
            if (seen.emplace(name).second) modules.emplace_back(name);
    return modules;
}

}  // namespace muster::cli
