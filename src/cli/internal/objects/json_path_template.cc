#include "cli/internal/objects/json_path_template.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/trimmed.h"

namespace muster::cli {

namespace {

constexpr std::string_view kRange = "range ";
constexpr int kMaxDepth = 20;

std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            plain += text[at];
            continue;
        }
        const char next = text[++at];
        plain += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
    }
    return plain;
}

}  // namespace

/// Parses a template from its front.
class JsonPathTemplate::Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    /// Up to the end of the text, or to the {end} of a range.
    Result<std::vector<Node>> nodes(int depth) {
        if (depth > kMaxDepth) return wrong("ranges are nested too deeply");
        std::vector<Node> nodes;
        while (at_ < text_.size()) {
            const std::size_t open = std::min(text_.find('{', at_), text_.size());
            if (open > at_)
                nodes.push_back({.kind = Node::Kind::kText,
                                 .text = std::string(text_.substr(at_, open - at_))});
            at_ = open;
            if (at_ == text_.size()) break;
            TRY(const std::string_view inner, block());
            if (inner == "end") {
                if (depth == 0) return wrong("{end} without a {range}");
                return nodes;
            }
            TRY(Node node, make(inner, depth));
            nodes.push_back(std::move(node));
        }
        if (depth > 0) return wrong("a {range} without its {end}");
        return nodes;
    }

  private:
    Error wrong(std::string_view why) const {
        return Error(Code::kInvalid,
                     fmt::format("the JSONPath template is wrong before offset {}: {}", at_, why));
    }

    /// The text between a brace and its partner, which may contain quoted braces.
    Result<std::string_view> block() {
        const std::size_t begin = ++at_;
        char quote = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (quote != 0 && c == '\\') {
                ++at_;
            } else if (quote != 0) {
                if (c == quote) quote = 0;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == '}') {
                return trimmed(text_.substr(begin, at_++ - begin), " ");
            }
        }
        at_ = text_.size();
        return wrong("a '{' without its '}'");
    }

    Result<Node> make(std::string_view inner, int depth) {
        const bool quoted = inner.size() >= 2 && (inner.front() == '"' || inner.front() == '\'') &&
                            inner.back() == inner.front();
        if (quoted)
            return Node{.kind = Node::Kind::kText,
                        .text = unescaped(inner.substr(1, inner.size() - 2))};
        if (!inner.starts_with(kRange)) return path(inner);
        TRY(Node node, path(trimmed(inner.substr(kRange.size()), " ")));
        node.kind = Node::Kind::kRange;
        TRY(node.body, nodes(depth + 1));
        return node;
    }

    Result<Node> path(std::string_view text) const {
        Node node{.kind = Node::Kind::kPath};
        if (text.starts_with('$') || text.starts_with('@')) {
            node.from_root = text.starts_with('$');
            text.remove_prefix(1);
        }
        if (text.empty() || text == ".") return node;
        // The dot before the first field may be left out.
        const bool bare = !text.starts_with('.') && !text.starts_with('[');
        Result<kube::JsonPath> parsed =
            kube::JsonPath::parse(bare ? "." + std::string(text) : std::string(text));
        if (!parsed) return wrong(fmt::format("\"{}\" {}", text, parsed.error().message()));
        node.path.push_back(*std::move(parsed));
        return node;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

Result<JsonPathTemplate> JsonPathTemplate::parse(std::string_view text) {
    const std::string in_braces = text.find('{') == text.npos ? fmt::format("{{{}}}", text) : "";
    JsonPathTemplate made;
    TRY(made.nodes_, Parser(in_braces.empty() ? text : std::string_view(in_braces)).nodes(0));
    return made;
}

std::vector<const json::value*> JsonPathTemplate::Node::find(const json::value& root,
                                                             const json::value& current) const {
    const json::value& from = from_root ? root : current;
    if (path.empty()) return {&from};
    return path.front().find(from);
}

void JsonPathTemplate::render(const std::vector<Node>& nodes, const json::value& root,
                              const json::value& current, std::string& out) {
    for (const Node& node : nodes) {
        if (node.kind == Node::Kind::kText) {
            out += node.text;
            continue;
        }
        bool first = true;
        for (const json::value* value : node.find(root, current)) {
            if (node.kind == Node::Kind::kRange) {
                render(node.body, root, *value, out);
                continue;
            }
            if (!std::exchange(first, false)) out += ' ';
            out += plain_text(*value);
        }
    }
}

std::string JsonPathTemplate::render(const json::value& root) const {
    std::string out;
    render(nodes_, root, root, out);
    return out;
}

std::string plain_text(const json::value& value) {
    const json::string* text = value.if_string();
    return text == nullptr ? json::serialize(value) : std::string(*text);
}

}  // namespace muster::cli
