// The text up to the first line feed is a selector, label and field; the rest are labels, one
// key=value a line.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kube/objects/selector.h"

using namespace muster::kube;

namespace {

std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

void check_label_selector(std::string_view text, const std::map<std::string, std::string>& labels) {
    const auto parsed = LabelSelector::parse(text);
    if (!parsed) {
        CHECK(parsed.error().code() == muster::Code::kBadRequest,
              "a bad selector is a bad request");
        return;
    }
    const auto again = LabelSelector::parse(parsed->to_string());
    CHECK(again.has_value(), "a selector's text is a selector");
    CHECK(*again == *parsed, "parse(to_string(s)) == s");
    CHECK(!parsed->empty() || parsed->matches(labels), "the empty selector selects everything");

    std::string_view value;
    const LabelSelector::Lookup lookup = [&](std::string_view key) -> const std::string_view* {
        auto it = labels.find(std::string(key));
        if (it == labels.end()) return nullptr;
        value = it->second;
        return &value;
    };
    CHECK(parsed->matches(labels) == parsed->matches(lookup), "both ways to match agree");
    CHECK(parsed->matches(labels) == again->matches(labels), "equal selectors select the same");
}

void check_field_selector(std::string_view text) {
    const auto parsed = parse_field_selector(text);
    if (!parsed) return;
    const auto again = parse_field_selector(to_string(*parsed));
    CHECK(again.has_value(), "a field selector's text is one");
    CHECK(*again == *parsed, "parse(to_string(s)) == s");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view selector = take_line(text);
    std::map<std::string, std::string> labels;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::size_t at = line.find('=');
        if (at != std::string_view::npos)
            labels[std::string(line.substr(0, at))] = line.substr(at + 1);
    }
    check_label_selector(selector, labels);
    check_field_selector(selector);
    CHECK(LabelSelector::from_map(labels).matches(labels), "labels match themselves");
    return 0;
}
