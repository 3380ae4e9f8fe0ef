#include "launch/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "base/fields.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"

namespace muster::launch {
namespace {

std::string with_dashes(const FlagRow& row) { return fmt::format("--{}", row.name); }

std::vector<std::string> words(std::string_view text, char separator) {
    std::vector<std::string> found;
    while (!text.empty()) found.emplace_back(take_field(text, separator));
    return found;
}

std::string alternatives(std::string_view listed) {
    const std::vector<std::string> each = words(listed, '|');
    return fmt::format("{}", fmt::join(each, ", "));
}

/// What is wrong with a value, judged by its kind. If there is a default, an empty value probably
/// comes from an unset variable in a user's script.
std::optional<std::string> complaint(const FlagRow& row, const std::string& text) {
    if (text.empty() && !row.otherwise.empty())
        return fmt::format("is empty; expects {}", row.value);
    switch (row.kind) {
        case FlagKind::kSwitch:
        case FlagKind::kText:
        case FlagKind::kOptionalText:
            return std::nullopt;
        case FlagKind::kCount: {
            const auto number = parse_number<int>(text);
            if (number && *number >= 0) return std::nullopt;
            return "expects a whole number, 0 or above";
        }
        case FlagKind::kPositive: {
            const auto number = parse_number<int>(text);
            if (number && *number > 0) return std::nullopt;
            return "expects a whole number above 0";
        }
        case FlagKind::kSeconds: {
            constexpr double kLongest = 1e9;
            const auto number = parse_number<double>(text);
            if (number && std::isfinite(*number) && *number >= 0 && *number <= kLongest)
                return std::nullopt;
            return "expects a number of seconds, 0 or above";
        }
        case FlagKind::kOneOf: {
            const std::vector<std::string> allowed = words(row.value, '|');
            if (std::ranges::find(allowed, text) != allowed.end()) return std::nullopt;
            return "expects one of " + alternatives(row.value);
        }
    }
    return std::nullopt;
}

/// The variable of a switch: torch accepts any whole number, and any but 0 means yes.
std::optional<bool> yes_or_no(const FlagRow& row, std::string_view text) {
    if (text.empty()) return row.flag == Flag::kStandalone ? std::optional(true) : std::nullopt;
    if (text == "true" || text == "false") return text == "true";
    const auto number = parse_number<int>(text);
    return number ? std::optional(*number != 0) : std::nullopt;
}

class Reader {
  public:
    Reader(LaunchCommand command, const std::vector<std::string>& arguments)
        : arguments_(arguments) {
        read_.command = command;
    }

    /// Reads all flags up to the script, and what follows it.
    Result<LaunchFlags> read() {
        bool flags_ended = false;
        while (at_ < arguments_.size()) {
            const std::string& word = arguments_[at_];
            if (flags_ended || !looks_like_flag(word)) {
                take_script(flags_ended);
                break;
            }
            ++at_;
            if (word == "--")
                flags_ended = true;
            else if (word.starts_with("--"))
                TRY_VOID(take_long(word));
            else
                TRY_VOID(take_letters(word));
        }
        return std::move(read_);
    }

  private:
    /// As in argparse, "-" alone, "-1" and words with a blank are not flags.
    static bool looks_like_flag(std::string_view word) {
        if (word.size() < 2 || !word.starts_with('-')) return false;
        if (word.substr(0, word.find('=')).find(' ') != word.npos) return false;
        return word.find_first_not_of("0123456789.", 1) != word.npos;
    }

    void take_script(bool flags_ended) {
        read_.script = arguments_[at_++];
        if (!flags_ended && at_ < arguments_.size() && arguments_[at_] == "--") ++at_;
        read_.arguments.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                               arguments_.end());
    }

    Result<void> take_long(const std::string& word) {
        std::string_view rest = std::string_view(word).substr(2);
        const bool has_value = rest.find('=') != rest.npos;
        std::string name(take_field(rest, '='));
        std::ranges::replace(name, '_', '-');
        const FlagRow* const row = find([&](const FlagRow& each) { return each.name == name; });
        if (row == nullptr) return unknown(word.substr(0, word.find('=')), name);
        if (!knows(read_.command, *row)) return foreign(*row);
        return take(*row, word.substr(0, word.find('=')),
                    has_value ? std::optional<std::string>(rest) : std::nullopt);
    }

    /// "-m", "-r3", "-r=3", "-r 3" and "-mr3".
    Result<void> take_letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const FlagRow* const row = find(
                [&](const FlagRow& each) { return each.letter != '\0' && each.letter == word[i]; });
            if (row == nullptr) return unknown(word, word.substr(1));
            const std::string written = fmt::format("-{}", word[i]);
            if (row->kind == FlagKind::kSwitch) {
                TRY_VOID(take(*row, written, std::nullopt));
                continue;
            }
            std::string rest = word.substr(i + 1);
            if (i == 1 && rest.starts_with('=')) rest.erase(0, 1);
            return take(*row, written,
                        i + 1 == word.size() ? std::nullopt : std::optional(std::move(rest)));
        }
        return {};
    }

    Result<void> take(const FlagRow& row, const std::string& written,
                      std::optional<std::string> value) {
        if (row.kind == FlagKind::kSwitch && value)
            return Error(Code::kInvalid,
                         fmt::format("{}={}: this flag takes no value", written, *value));
        if (row.kind != FlagKind::kSwitch && row.kind != FlagKind::kOptionalText && !value) {
            const bool there = at_ < arguments_.size();
            const std::string_view next = there ? std::string_view(arguments_[at_]) : "";
            if (!there || looks_like_flag(next))
                return Error(Code::kInvalid,
                             fmt::format("{} needs a value, {}{}", written, row.value,
                                         there ? fmt::format("; if {} is meant, write {}={}", next,
                                                             with_dashes(row), next)
                                               : std::string()));
            value = arguments_[at_++];
        }
        Given given{value.value_or(""), written, with_dashes(row)};
        if (row.kind != FlagKind::kSwitch && row.kind != FlagKind::kOptionalText)
            if (const auto why = complaint(row, given.text)) return wrong(given, *why);
        read_.given[row.flag] = std::move(given);
        return {};
    }

    template <class Matches>
    static const FlagRow* find(Matches matches) {
        const auto row = std::ranges::find_if(flag_table(), matches);
        return row == flag_table().end() ? nullptr : &*row;
    }

    Error unknown(const std::string& written, const std::string& name) const {
        std::vector<std::string> names;
        std::vector<std::string> longer;  // could be an abbreviation, which argparse accepts
        for (const FlagRow& row : flag_table()) {
            if (!knows(read_.command, row) || row.hidden) continue;
            names.push_back(with_dashes(row));
            if (name.size() > 1 && row.name.starts_with(name)) longer.push_back(names.back());
        }
        const std::string who(to_string(read_.command));
        const std::string near = nearest_name("--" + name, names);
        if (!longer.empty() && near != "--" + name)
            return {Code::kInvalid,
                    fmt::format("{} has no flag {}: names can't be abbreviated; write {}", who,
                                written, fmt::join(longer, " or "))};
        return {
            Code::kInvalid,
            fmt::format(
                "{} has no flag {}{}; '{} --help' lists them, and flags for the script go after it",
                who, written, near.empty() ? "" : fmt::format("; did you mean {}?", near), who)};
    }

    Error foreign(const FlagRow& row) const {
        return {Code::kInvalid,
                fmt::format("{} has no flag {}; {}", to_string(read_.command), with_dashes(row),
                            row.launchs ? "what torch.distributed.launch does with it, this does "
                                          "always: drop it"
                                        : "muster-run and dlrover-run have it")};
    }

    const std::vector<std::string>& arguments_;
    std::size_t at_ = 0;
    LaunchFlags read_;
};

/// Reads the variable of each flag that is missing from the command line.
Result<void> take_variables(const Variables& variables, LaunchFlags& flags) {
    for (const FlagRow& row : flag_table()) {
        if (flags.said(row.flag) || !knows(flags.command, row)) continue;
        for (const std::string& name : words(row.variables, ' ')) {
            const std::string* const text = find_variable(variables, name);
            if (text == nullptr) continue;
            Given given{*text, name, with_dashes(row)};
            if (row.kind == FlagKind::kSwitch) {
                const std::optional<bool> yes = yes_or_no(row, *text);
                if (!yes) return wrong(given, "expects 1 or 0");
                if (*yes) flags.given[row.flag] = std::move(given);
                break;
            }
            if (text->empty() && row.otherwise.empty()) break;
            if (row.kind == FlagKind::kOptionalText) {
                const std::optional<bool> yes = yes_or_no(row, *text);
                if (yes && !*yes) break;
                if (yes) given.text.clear();
            } else if (const auto why = complaint(row, *text)) {
                return wrong(given, *why);
            }
            flags.given[row.flag] = std::move(given);
            break;
        }
    }
    return {};
}

log::Level level_of(FlagStatus status) {
    return status == FlagStatus::kNoEffectYet ? log::Level::kWarning : log::Level::kDebug;
}

void note_what_has_no_effect(const Variables& variables, LaunchFlags& flags) {
    for (const auto& [flag, given] : flags.given) {
        const FlagRow& row = row_of(flag);
        const bool asks = row.kind == FlagKind::kSwitch || given.text != row.otherwise;
        if (row.status == FlagStatus::kEffective || !asks) continue;
        flags.notices.push_back(
            {level_of(row.status), fmt::format("{} has no effect: {}", given.written(), row.note)});
    }
    for (const VariableRow& row : variable_table()) {
        if (row.status == FlagStatus::kEffective) continue;
        const std::string* const text = find_variable(variables, row.name);
        if (text == nullptr || text->empty()) continue;
        const std::vector<std::string> harmless = words(row.harmless, '|');
        if (std::ranges::find(harmless, *text) != harmless.end()) continue;
        flags.notices.push_back({level_of(row.status), fmt::format("{}={} has no effect: {}",
                                                                   row.name, *text, row.note)});
    }
}

/// torchrun ignores variables with unknown names, so typos go unnoticed.
void note_unknown_variables(const Variables& variables, LaunchFlags& flags) {
    std::vector<std::string> known;
    for (const FlagRow& row : flag_table())
        for (std::string& name : words(row.variables, ' '))
            if (name.starts_with("PET_")) known.push_back(std::move(name));
    for (const std::string& name : variables | std::views::keys) {
        if (!name.starts_with("PET_") || std::ranges::find(known, name) != known.end()) continue;
        const std::string near = nearest_name(name, known);
        flags.notices.push_back(
            {log::Level::kWarning,
             fmt::format("no flag reads the variable {}{}", name,
                         near.empty() ? "" : fmt::format("; did you mean {}?", near))});
    }
}

}  // namespace

LaunchCommand launch_command(std::string_view argv0) {
    const std::string_view name = argv0.substr(argv0.rfind('/') + 1);
    if (name == to_string(LaunchCommand::kTorchrun)) return LaunchCommand::kTorchrun;
    if (name == to_string(LaunchCommand::kDlroverRun)) return LaunchCommand::kDlroverRun;
    return LaunchCommand::kMusterRun;
}

std::optional<LaunchCommand> launch_module(std::string_view module) {
    if (module == "torch.distributed.run") return LaunchCommand::kTorchrun;
    if (module == "torch.distributed.launch") return LaunchCommand::kTorchLaunch;
    if (module == "dlrover.trainer.torch.main") return LaunchCommand::kDlroverRun;
    return std::nullopt;
}

std::string_view to_string(LaunchCommand command) {
    switch (command) {
        case LaunchCommand::kMusterRun:
            return "muster-run";
        case LaunchCommand::kTorchrun:
            return "torchrun";
        case LaunchCommand::kDlroverRun:
            return "dlrover-run";
        case LaunchCommand::kTorchLaunch:
            return "torch.distributed.launch";
    }
    return "";
}

const std::string* find_variable(const Variables& variables, std::string_view name) {
    for (const auto& [key, value] : variables)
        if (key == name) return &value;
    return nullptr;
}

std::string Given::written() const {
    if (!said()) return fmt::format("{} {} (the default)", flag, text);
    if (!by_flag()) return fmt::format("{}={}", source, text);
    return text.empty() ? source : fmt::format("{} {}", source, text);
}

Error wrong(const Given& given, std::string_view why) {
    const std::string_view nothing = given.by_flag() && given.text.empty() ? " \"\"" : "";
    return {Code::kInvalid, fmt::format("{}{}: {}", given.written(), nothing, why)};
}

Given LaunchFlags::get(Flag flag) const {
    const auto found = given.find(flag);
    if (found != given.end()) return found->second;
    const FlagRow& row = row_of(flag);
    return {std::string(row.otherwise), "", with_dashes(row)};
}

Result<std::variant<LaunchFlags, LaunchPrint>> parse_launch_flags(
    LaunchCommand command, const std::vector<std::string>& arguments, const Variables& variables) {
    using Parsed = std::variant<LaunchFlags, LaunchPrint>;
    TRY(LaunchFlags flags, Reader(command, arguments).read());
    if (flags.on(Flag::kHelp)) return Parsed(LaunchPrint::kHelp);
    if (flags.on(Flag::kVersion)) return Parsed(LaunchPrint::kVersion);
    TRY_VOID(take_variables(variables, flags));
    if (flags.script.empty())
        return Error(Code::kInvalid,
                     fmt::format("no script was given: {0} [flags] SCRIPT [its own flags]; "
                                 "'{0} --help' lists the flags",
                                 to_string(command)));
    note_what_has_no_effect(variables, flags);
    note_unknown_variables(variables, flags);
    return Parsed(std::move(flags));
}

}  // namespace muster::launch
