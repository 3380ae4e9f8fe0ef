#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/flags/flags.h"

namespace muster::cli {

/// A verb of the command line: its name, its flags, its help, and what it does. An object parses
/// one command line and runs once.
///
///   flags   declare -> [the line is read] -> finish -> run
///   words   take_words -> run
class Verb {
  public:
    /// `help`: the text of `muster VERB --help`. Both have static storage.
    Verb(std::string_view name, std::string_view help) : name_(name), help_(help) {}
    virtual ~Verb() = default;
    Verb(const Verb&) = delete;
    Verb& operator=(const Verb&) = delete;

    std::string_view name() const { return name_; }
    std::string_view help() const { return help_; }

    /// Binds its flags to the targets of their values.
    virtual void declare(Flags&) {}
    /// Translates what follows its name for the parser of flags.
    virtual std::vector<std::string> to_flags(std::vector<std::string> words) { return words; }
    /// Makes options from what was written, once all flags are read. Returns what is wrong.
    virtual std::optional<std::string> finish(const Flags&) { return std::nullopt; }

    /// It parses what follows its name itself: its flags are declared only for completion.
    virtual bool wants_words() const { return false; }
    /// Returns what is wrong with them.
    virtual std::optional<std::string> take_words(std::vector<std::string>) { return std::nullopt; }

    /// The exit status.
    virtual int run() = 0;

  private:
    std::string_view name_;
    std::string_view help_;
};

/// A verb that runs as its options say.
template <class Options>
class VerbOf : public Verb {
  public:
    using Verb::Verb;
    const Options& options() const { return options_; }

  protected:
    Options options_;
};

}  // namespace muster::cli
