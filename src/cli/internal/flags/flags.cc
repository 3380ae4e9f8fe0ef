#include "cli/internal/flags/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kube/schema/schema.h"

namespace muster::cli {

namespace {

CLI::App* chosen_verb(const CLI::App& app) {
    const auto verbs = app.get_subcommands();
    return verbs.empty() ? nullptr : verbs.front();
}

/// The flag or verb that was probably meant.
std::string nearest_word(const CLI::App& app, const std::string& word) {
    std::vector<std::string> known;
    if (word.starts_with('-')) {
        for (const CLI::Option* option : app.get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    } else {
        for (const CLI::App* verb : app.get_subcommands({})) known.push_back(verb->get_name());
    }
    return kube::nearest_name(word.substr(0, word.find('=')), known);
}

std::string unknown_word(const CLI::App& app, const std::string& verb, const std::string& word) {
    if (!verb.empty() && !word.starts_with('-'))
        return fmt::format("{} does not know what to do with \"{}\"", verb, word);
    const std::string nearest = nearest_word(app, word);
    return fmt::format("unknown {} \"{}\"{}", word.starts_with('-') ? "flag" : "verb", word,
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

/// CLI11's words for a flag without its value and for one that is given twice, in ours.
std::string mismatch(std::string_view told) {
    const std::string_view flag = told.substr(0, told.find(": "));
    if (told.ends_with(" missing")) return fmt::format("{} wants a value", flag);
    if (told.contains(": At Most 1 ")) return fmt::format("{} is given more than once", flag);
    return std::string(told);
}

}  // namespace

template <class T>
void Flags::value(const std::string& names, T& to, Check check) {
    CLI::Option* const option = app_->add_option(names, to);
    if (check != nullptr) option->check(check);
}

template void Flags::value(const std::string&, std::string&, Check);
template void Flags::value(const std::string&, int&, Check);
template void Flags::value(const std::string&, unsigned&, Check);
template void Flags::value(const std::string&, double&, Check);
template void Flags::value(const std::string&, std::uint16_t&, Check);
template void Flags::value(const std::string&, std::int64_t&, Check);
template void Flags::value(const std::string&, std::uint64_t&, Check);
template void Flags::value(const std::string&, std::optional<int>&, Check);
template void Flags::value(const std::string&, std::optional<std::int64_t>&, Check);

void Flags::list(const std::string& names, std::vector<std::string>& to, char delimiter) {
    CLI::Option* const option = app_->add_option(names, to)->allow_extra_args(false);
    if (delimiter != '\0') option->delimiter(delimiter);
    if (last_counts_) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Flags::words(const std::string& name, std::vector<std::string>& to) {
    app_->add_option(name, to);
}

void Flags::flag(const std::string& names, bool& to) { app_->add_flag(names, to); }

void Flags::count(const std::string& names, int& to) { app_->add_flag(names, to); }

void Flags::ignored(const std::string& name, bool takes_value, std::function<void()> seen) {
    if (takes_value)
        app_->add_option_function<std::string>(
            name, [seen = std::move(seen)](const std::string&) { seen(); });
    else
        app_->add_flag_function(name, [seen = std::move(seen)](std::int64_t) { seen(); });
}

void Flags::let_the_last_count() {
    app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    last_counts_ = true;
}

void Flags::exclude(const std::string& flag, const std::string& other) {
    app_->get_option(flag)->excludes(app_->get_option(other));
}

bool Flags::given(const std::string& name) const { return app_->count(name) > 0; }

FlagParser::FlagParser() : app_(std::make_unique<CLI::App>()) {
    app_->set_help_flag("-h,--help");
    app_->add_flag("--version");
}

FlagParser::~FlagParser() = default;

Flags FlagParser::add_verb(std::string_view name) {
    return Flags(*app_->add_subcommand(std::string(name)));
}

FlagParser::Outcome FlagParser::parse(std::vector<std::string> words) {
    Outcome outcome;
    std::ranges::reverse(words);
    try {
        app_->parse(words);
    } catch (const CLI::CallForHelp&) {
        outcome.help = true;
    } catch (const CLI::ExtrasError&) {
        const CLI::App* const verb = chosen_verb(*app_);
        const std::vector<std::string> extra = app_->remaining(true);
        outcome.wrong = unknown_word(verb == nullptr ? *app_ : *verb,
                                     verb == nullptr ? std::string() : verb->get_name(),
                                     extra.empty() ? std::string() : extra.front());
    } catch (const CLI::ArgumentMismatch& error) {
        outcome.wrong = mismatch(error.what());
    } catch (const CLI::ParseError& error) {
        outcome.wrong = error.what();
    }
    if (const CLI::App* const verb = chosen_verb(*app_)) outcome.verb = verb->get_name();
    outcome.version = app_->count("--version") > 0;
    return outcome;
}

std::vector<KnownVerb> FlagParser::known_verbs() const {
    std::vector<KnownVerb> known;
    for (const CLI::App* verb : std::as_const(*app_).get_subcommands({})) {
        KnownVerb& one = known.emplace_back(verb->get_name());
        for (const CLI::Option* option : verb->get_options()) {
            KnownFlag flag{.names = {}, .takes_value = option->get_items_expected_max() > 0};
            for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
            for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
            if (!flag.names.empty()) one.flags.push_back(std::move(flag));
        }
    }
    return known;
}

}  // namespace muster::cli
