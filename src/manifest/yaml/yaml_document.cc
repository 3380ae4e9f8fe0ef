#include "manifest/yaml/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "manifest/yaml/manifest_limits.h"
#include "manifest/yaml/yaml_scalar.h"

namespace muster::manifest {

namespace {

/// Ends the parse of a document from inside an event.
struct Stop {};

/// A finished node: its value, its places, and about how many bytes of JSON it makes.
struct Made {
    json::value value;
    SourcePtr places;
    std::size_t size = 0;
};

/// A list or map that is being filled.
struct Open {
    json::value value;
    SourceNode places;
    std::size_t size = 2;
    YAML::anchor_t anchor = 0;
    // Only for a map.
    bool have_key = false;
    bool key_usable = true;
    bool key_is_merge = false;
    std::string key;
    Place key_place;
    std::vector<std::pair<Made, Place>> merges;
};

/// Builds JSON and places from the parser's events. Problems that leave the structure intact are
/// recorded, and the parse continues.
class Builder final : public YAML::EventHandler {
  public:
    Builder(std::size_t offset, const LineIndex& lines, YamlDocument& out)
        : offset_(offset), lines_(lines), out_(out) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            note(place(mark),
                 "the document has ended before this; start a new one with a line \"---\"");
            throw Stop{};
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        // The parser's mark is the token after the missing value; the key is where people look.
        Place where =
            !open_.empty() && open_.back().have_key ? open_.back().key_place : place(mark);
        add(make(nullptr, where, 4), anchor, where);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Place where = place(mark);
        auto it = anchors_.find(anchor);
        if (it == anchors_.end()) {
            note(where, "this alias stands inside the value that it refers to");
            return add(make(nullptr, where, 4), 0, where);
        }
        alias_bytes_ += it->second.size;
        if (alias_bytes_ > kMaxManifestBytes) {
            note(where,
                 fmt::format("the aliases of this document expand to more than {} bytes; write "
                             "the values out, or fewer of them",
                             kMaxManifestBytes));
            throw Stop{};
        }
        depth_check(where, it->second.places, static_cast<int>(open_.size()));
        add(it->second, 0, where);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        Place where = place(mark);
        bool quoted = tag == "!";
        if (quoted) last_quoted_ = offset_of(mark);
        bool is_key = !open_.empty() && open_.back().value.is_object() && !open_.back().have_key;
        if (is_key && tag == "?" && text == "<<") {
            open_.back().key_is_merge = true;
            return set_key("<<", where);
        }
        Result<json::value> value = tag == "?" || tag.empty() ? resolve_plain(text)
                                    : quoted ? Result<json::value>(json::value(text))
                                             : resolve_tagged(tag, text, false);
        if (!value) {
            note(where, value.error().message());
            value = json::value(nullptr);
            if (is_key) return set_unusable_key(where);
        }
        const bool converted = value->is_number() || value->is_bool();
        add(make(*std::move(value), where, text.size() + 2, converted ? text : std::string()),
            anchor, where);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        start(json::array(), mark, anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        start(json::object(), mark, anchor);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapEnd() override { end(); }

    std::size_t last_quoted() const { return last_quoted_; }
    bool in_quotes() const { return last_quoted_ != kNone; }
    /// Where the innermost open list or map began.
    std::optional<Place> innermost() const {
        if (open_.empty()) return std::nullopt;
        return open_.back().places.value;
    }
    Place place_at(const YAML::Mark& mark) const { return place(mark); }
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  private:
    std::size_t offset_of(const YAML::Mark& mark) const {
        return offset_ + static_cast<std::size_t>(std::max(mark.pos, 0));
    }
    Place place(const YAML::Mark& mark) const { return lines_.at(offset_of(mark)); }
    void note(Place where, std::string message) {
        out_.problems.push_back({where, std::move(message)});
        if (out_.problems.size() >= kMaxProblems) throw Stop{};
    }
    static Made make(json::value value, Place where, std::size_t size, std::string written = {}) {
        auto places = std::make_shared<SourceNode>();
        places->value = where;
        places->written = std::move(written);
        return {std::move(value), std::move(places), size};
    }

    void start(json::value empty, const YAML::Mark& mark, YAML::anchor_t anchor) {
        Place where = place(mark);
        if (open_.size() >= kMaxManifestDepth) {
            note(where,
                 fmt::format("more than {} lists and maps inside each other", kMaxManifestDepth));
            throw Stop{};
        }
        Open node;
        node.places.value = where;
        node.places.list = empty.is_array();
        node.value = std::move(empty);
        node.anchor = anchor;
        open_.push_back(std::move(node));
    }

    void end() {
        Open node = std::move(open_.back());
        open_.pop_back();
        if (!node.merges.empty()) apply_merges(node);
        Place where = node.places.value;
        YAML::anchor_t anchor = node.anchor;
        add({std::move(node.value), std::make_shared<SourceNode>(std::move(node.places)),
             node.size},
            anchor, where);
    }

    /// Puts a finished node where it belongs: the root, a list, a key or its value.
    void add(Made made, YAML::anchor_t anchor, Place where) {
        if (anchor != 0) anchors_[anchor] = made;
        if (open_.empty()) {
            out_.value = std::move(made.value);
            out_.places = std::move(made.places);
            return;
        }
        Open& parent = open_.back();
        parent.size += made.size + 2;
        if (parent.value.is_array()) {
            parent.value.get_array().push_back(std::move(made.value));
            parent.places.children.push_back({{}, where, std::move(made.places)});
        } else if (!parent.have_key) {
            add_key(made.value, where);
        } else {
            add_field(parent, std::move(made), where);
        }
    }

    void add_key(const json::value& value, Place where) {
        if (value.is_structured()) {
            note(where, "a list or map can't be a key");
            return set_unusable_key(where);
        }
        Result<std::string> key = key_from_value(value);
        if (!key) {
            note(where, key.error().message());
            return set_unusable_key(where);
        }
        set_key(*std::move(key), where);
        const Open& parent = open_.back();
        if (!parent.value.get_object().contains(parent.key)) return;
        for (const SourceNode::Child& child : parent.places.children)
            if (child.name == parent.key) return refuse_twin(child.key, where);
    }
    void refuse_twin(Place first, Place where) {
        open_.back().key_usable = false;
        note(where, fmt::format("the key \"{}\" is there twice; first at line {}, column {}",
                                open_.back().key, first.line, first.column));
    }
    void set_key(std::string key, Place where) {
        Open& parent = open_.back();
        parent.have_key = true;
        parent.key_usable = true;
        parent.key = std::move(key);
        parent.key_place = where;
    }
    void set_unusable_key(Place where) {
        set_key({}, where);
        open_.back().key_usable = false;
    }

    void add_field(Open& parent, Made made, Place where) {
        parent.have_key = false;
        if (std::exchange(parent.key_is_merge, false))
            return add_merge(parent, std::move(made), where);
        if (!parent.key_usable) return;
        parent.size += parent.key.size() + 3;
        parent.value.get_object().emplace(parent.key, std::move(made.value));
        parent.places.children.push_back(
            {std::move(parent.key), parent.key_place, std::move(made.places)});
    }

    /// "<<": one map, or a list of maps of which earlier ones win.
    void add_merge(Open& parent, Made made, Place where) {
        if (made.value.is_object()) {
            parent.merges.emplace_back(std::move(made), where);
            return;
        }
        bool ok = made.value.is_array();
        if (ok) {
            std::size_t index = 0;
            for (json::value& item : made.value.get_array()) {
                ok = ok && item.is_object();
                SourcePtr places = made.places->children[index++].node;
                if (ok)
                    parent.merges.emplace_back(Made{std::move(item), std::move(places), 0}, where);
            }
        }
        if (!ok)
            note(where,
                 "\"<<\" merges a map or a list of maps, usually an alias such as *defaults");
    }
    /// The map's own keys win over merged ones, wherever "<<" stands (YAML's merge key draft).
    static void apply_merges(Open& node) {
        json::object& object = node.value.get_object();
        for (auto& [made, where] : node.merges) {
            for (const SourceNode::Child& child : made.places->children) {
                auto field = made.value.get_object().find(child.name);
                if (field == made.value.get_object().end() || object.contains(child.name)) continue;
                object.emplace(child.name, std::move(field->value()));
                node.places.children.push_back(child);
            }
        }
    }

    void depth_check(Place where, const SourcePtr& node, int above) {
        if (above + height(*node) <= kMaxManifestDepth) return;
        note(where,
             fmt::format("more than {} lists and maps inside each other", kMaxManifestDepth));
        throw Stop{};
    }
    /// Memoised per node: an alias of an alias must not walk the whole expansion.
    int height(const SourceNode& node) {
        auto known = heights_.find(&node);
        if (known != heights_.end()) return known->second;
        int tallest = 0;
        for (const SourceNode::Child& child : node.children)
            tallest = std::max(tallest, 1 + height(*child.node));
        heights_.emplace(&node, tallest);
        return tallest;
    }

    static constexpr std::size_t kMaxProblems = 100;

    std::size_t offset_;
    const LineIndex& lines_;
    YamlDocument& out_;
    int documents_ = 0;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Made> anchors_;
    std::map<const SourceNode*, int> heights_;
    std::size_t alias_bytes_ = 0;
    std::size_t last_quoted_ = kNone;
};

/// yaml-cpp's message, and what to do about it.
std::string explain(const std::string& message, std::string_view line, const Builder& builder) {
    std::size_t indent = line.find_first_not_of(" \t");
    bool tab = line.substr(0, indent == std::string_view::npos ? 0 : indent).find('\t') !=
               std::string_view::npos;
    if (tab || message == YAML::ErrorMsg::TAB_IN_INDENTATION)
        return "a tab in the indentation; YAML allows only spaces there";
    std::string opened;
    if (auto place = builder.innermost())
        opened = fmt::format(" that starts at line {}, column {}", place->line, place->column);
    if (message == YAML::ErrorMsg::END_OF_SEQ_FLOW)
        return "the list" + opened + " is not closed: a \"]\" or \",\" is missing before this";
    if (message == YAML::ErrorMsg::END_OF_MAP_FLOW)
        return "the map" + opened + " is not closed: a \"}\" or \",\" is missing before this";
    if (message == YAML::ErrorMsg::END_OF_MAP)
        return "this does not belong to the map" + opened + ": check its indentation";
    if (message == YAML::ErrorMsg::END_OF_SEQ)
        return "this does not belong to the list" + opened +
               ": check its indentation, or the \"- \" is missing";
    if (message == YAML::ErrorMsg::MAP_VALUE)
        return "a \": \" where no key can stand: quote the text if it contains one, or check the "
               "indentation";
    if (message == YAML::ErrorMsg::BLOCK_ENTRY)
        return "a \"- \" where no list can stand: check its indentation";
    if (message == YAML::ErrorMsg::UNKNOWN_TOKEN)
        return "a text can't start with this character: quote it";
    if (message == YAML::ErrorMsg::BAD_FILE) return "this can't be parsed as YAML";
    return "not YAML: " + message;
}

/// Where "{{ }}" of a template stands in the way, what follows is no fault of its own.
void name_template(YamlDocument& document, const LineIndex& lines) {
    const auto found = std::ranges::find_if(document.problems, [&](const auto& problem) {
        return lines.line(problem.place.line).find("{{") != std::string_view::npos;
    });
    if (found == document.problems.end()) return;
    found->message =
        "this is a template and not yet a manifest: fill in what stands in {{ }} first, for "
        "example with helm template";
    document.problems.erase(std::next(found), document.problems.end());
}

/// Whether the quoted scalar at `text` has its closing quote: the parser accepts the end of the
/// text instead.
bool quote_closes(std::string_view text) {
    // An anchor or a tag may precede the quote.
    std::size_t start = text.find_first_of("\"'|>");
    if (start == std::string_view::npos || text[start] == '|' || text[start] == '>') return true;
    char quote = text[start];
    for (std::size_t i = start + 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return true;
            ++i;
        }
    }
    return false;
}

}  // namespace

YamlDocument parse_yaml_document(std::string_view text, std::size_t offset,
                                 const LineIndex& lines) {
    YamlDocument document;
    Builder builder(offset, lines, document);
    std::size_t first = text.find_first_not_of(" \t\r\n");
    bool is_json = first != std::string_view::npos && text[first] == '{';
    try {
        std::istringstream stream(is_json ? join_surrogates(text) : std::string(text));
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Stop&) {
    } catch (const YAML::Exception& error) {
        std::size_t at = offset + static_cast<std::size_t>(std::max(error.mark.pos, 0));
        document.problems.push_back(
            {builder.place_at(error.mark), explain(error.msg, lines.line_at(at), builder)});
    }
    if (builder.in_quotes()) {
        std::size_t at = builder.last_quoted();
        if (!quote_closes(text.substr(std::min(at - offset, text.size()))))
            document.problems.push_back(
                {lines.at(at), "the quote that opens here is never closed"});
    }
    name_template(document, lines);
    return document;
}

}  // namespace muster::manifest
