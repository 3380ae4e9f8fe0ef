#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/flags/known_verbs.h"

namespace CLI {
class App;
}

namespace muster::cli {

/// The flags of one verb, each bound to the target of its value. Names are written as
/// "--output,-o"; a name without dashes is for words on the line that belong to no flag.
class Flags {
  public:
    /// What is wrong with a value as it is written, or "".
    using Check = std::string (*)(const std::string& text);

    explicit Flags(CLI::App& app) : app_(&app) {}

    /// A flag with a value: a string, a number, or an optional number.
    template <class T>
    void value(const std::string& names, T& to, Check check = nullptr);
    /// A flag that may be repeated, with one value each time, or several separated by `delimiter`.
    void list(const std::string& names, std::vector<std::string>& to, char delimiter = '\0');
    /// All words that belong to no flag.
    void words(const std::string& name, std::vector<std::string>& to);
    /// A flag without a value; in "--wait,!--no-wait" the second name means the opposite.
    void flag(const std::string& names, bool& to);
    /// A flag without a value that counts how often it is given.
    void count(const std::string& names, int& to);
    /// A flag that is accepted but not stored; `seen` is called if it is given.
    void ignored(const std::string& name, bool takes_value, std::function<void()> seen);

    /// For the flags that follow: if one is repeated, its last value counts; otherwise a flag may
    /// be given once.
    void let_the_last_count();
    /// The two can't be given together.
    void exclude(const std::string& flag, const std::string& other);

    /// Whether the line has it.
    bool given(const std::string& name) const;

  private:
    CLI::App* app_;
    bool last_counts_ = false;
};

/// Parses command lines by the flags of all verbs. Hides CLI11 completely.
class FlagParser {
  public:
    FlagParser();
    ~FlagParser();
    FlagParser(const FlagParser&) = delete;
    FlagParser& operator=(const FlagParser&) = delete;

    Flags add_verb(std::string_view name);

    struct Outcome {
        std::string verb;                       ///< empty if none is given
        bool help = false;                      ///< --help of that verb
        bool version = false;                   ///< --version
        std::optional<std::string> wrong = {};  ///< what is wrong with the line
    };
    Outcome parse(std::vector<std::string> words);

    std::vector<KnownVerb> known_verbs() const;

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace muster::cli
