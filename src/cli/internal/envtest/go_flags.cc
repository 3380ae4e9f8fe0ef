#include "cli/internal/envtest/go_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHelpFlag = "help";

/// As strconv.ParseBool reads it.
std::optional<bool> read_switch(std::string_view text) {
    for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
        if (text == yes) return true;
    for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
        if (text == no) return false;
    return std::nullopt;
}

/// Reads the words of one line, one after the other.
class GoFlagReader {
  public:
    GoFlagReader(GoFlagStyle style, std::string_view program, const std::vector<GoFlag>& known,
                 const std::vector<std::string>& words)
        : style_(style), program_(program), known_(known), words_(words) {}

    Result<GivenFlags> read() {
        std::vector<std::string> rest;
        while (at_ < words_.size()) {
            const std::string_view word = words_[at_++];
            if (word == "--") {
                rest.insert(rest.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_),
                            words_.end());
                break;
            }
            if (word.size() < 2 || !word.starts_with('-')) {
                rest.emplace_back(word);
                // The standard library stops at the first one.
                if (style_ == GoFlagStyle::kStandard) break;
                continue;
            }
            TRY_VOID(word.starts_with("--") ? take(word.substr(2), "--") : take_short(word));
        }
        if (std::ranges::any_of(rest, [](const std::string& word) { return !word.empty(); }))
            return wrong(fmt::format("\"{}\" does not take any arguments, got [{}]", program_,
                                     fmt::join(rest, " ")));
        return std::move(given_);
    }

  private:
    static Error wrong(std::string message) { return {Code::kInvalid, std::move(message)}; }

    Error unknown(std::string_view name, std::string_view dashes) const {
        return style_ == GoFlagStyle::kPflag
                   ? wrong(fmt::format("unknown flag: {}{}", dashes, name))
                   : wrong(fmt::format("flag provided but not defined: -{}", name));
    }
    Error incomplete(std::string_view name, std::string_view dashes) const {
        return wrong(fmt::format("flag needs an argument: {}{}",
                                 style_ == GoFlagStyle::kPflag ? dashes : "-", name));
    }

    Result<void> take_short(std::string_view word) {
        word.remove_prefix(1);
        if (style_ == GoFlagStyle::kStandard) return take(word, "-");
        if (word == "h") return take(kHelpFlag, "--");
        // "-v4", "-v=4" and "-v 4" are the same.
        if (!word.starts_with('v'))
            return wrong(fmt::format("unknown shorthand flag: '{}' in -{}", word.front(), word));
        if (word.size() > 1 && word[1] != '=') {
            given_.add("v", std::string(word.substr(1)));
            return {};
        }
        return take(word, "-");
    }

    /// "name" or "name=value", without its dashes.
    Result<void> take(std::string_view word, std::string_view dashes) {
        const std::size_t equals = word.find('=');
        std::string name(word.substr(0, equals));
        if (style_ == GoFlagStyle::kPflag) std::ranges::replace(name, '_', '-');
        std::optional<std::string> value;
        if (equals != word.npos) value = std::string(word.substr(equals + 1));
        GoFlag flag{kHelpFlag, GoFlagKind::kSwitch};
        if (name != kHelpFlag && name != "h") {
            const auto found = std::ranges::find(known_, name, &GoFlag::name);
            if (found == known_.end()) return unknown(name, dashes);
            flag = *found;
        }
        if (!value && flag.kind == GoFlagKind::kSwitch) value = "true";
        if (!value && at_ == words_.size()) return incomplete(name, dashes);
        if (!value) value = words_[at_++];
        TRY_VOID(check(flag, *value));
        given_.add(flag.name, *std::move(value));
        return {};
    }

    Result<void> check(const GoFlag& flag, const std::string& value) const {
        const bool good = flag.kind == GoFlagKind::kText ||
                          (flag.kind == GoFlagKind::kSwitch && read_switch(value)) ||
                          (flag.kind == GoFlagKind::kNumber && parse_number<long long>(value));
        if (good) return {};
        const std::string_view function =
            flag.kind == GoFlagKind::kSwitch ? "strconv.ParseBool" : "strconv.ParseInt";
        if (style_ == GoFlagStyle::kPflag)
            return wrong(fmt::format(
                "invalid argument \"{0}\" for \"--{1}\" flag: {2}: parsing \"{0}\": invalid syntax",
                value, flag.name, function));
        return wrong(fmt::format("invalid {}value \"{}\" for flag -{}: parse error",
                                 flag.kind == GoFlagKind::kSwitch ? "boolean " : "", value,
                                 flag.name));
    }

    const GoFlagStyle style_;
    const std::string_view program_;
    const std::vector<GoFlag>& known_;
    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    GivenFlags given_;
};

}  // namespace

void GivenFlags::add(std::string_view name, std::string value) {
    values_[std::string(name)].push_back(std::move(value));
}

std::vector<std::string> GivenFlags::names() const {
    std::vector<std::string> names;
    for (const auto& [name, values] : values_) names.push_back(name);
    return names;
}

std::vector<std::string> GivenFlags::all(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> GivenFlags::list(std::string_view name) const {
    std::vector<std::string> items;
    for (const std::string& value : all(name))
        for (std::string_view rest = value; !rest.empty();)
            items.emplace_back(take_field(rest, ','));
    return items;
}

std::string GivenFlags::text(std::string_view name, std::string_view otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string(otherwise) : found->second.back();
}

bool GivenFlags::on(std::string_view name, bool otherwise) const {
    return has(name) ? read_switch(text(name)).value_or(otherwise) : otherwise;
}

long long GivenFlags::number(std::string_view name, long long otherwise) const {
    return has(name) ? parse_number<long long>(text(name)).value_or(otherwise) : otherwise;
}

Result<GivenFlags> parse_go_flags(GoFlagStyle style, std::string_view program,
                                  const std::vector<GoFlag>& known,
                                  const std::vector<std::string>& words) {
    return GoFlagReader(style, program, known, words).read();
}

}  // namespace muster::cli
