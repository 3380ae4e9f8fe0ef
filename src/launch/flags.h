#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "launch/flag_table.h"

namespace muster::launch {

/// An environment. Of two with one name the first counts, as it does for getenv().
using Variables = std::vector<std::pair<std::string, std::string>>;
const std::string* find_variable(const Variables& variables, std::string_view name);

/// What somebody said, and where.
struct Given {
    std::string text;
    std::string source = {};  ///< "--nnodes" or "PET_NNODES"; empty: nobody, it is the default
    std::string flag = {};    ///< "--nnodes", whoever said it

    bool said() const { return !source.empty(); }
    bool by_flag() const { return said() && source.starts_with('-'); }
    /// "--nnodes 3:2", "PET_NNODES=3:2".
    std::string written() const;

    friend bool operator==(const Given&, const Given&) = default;
};

/// kInvalid: "--nnodes 3:2: wants at least as many as at most".
Error wrong(const Given& given, std::string_view why);

/// What the person who starts the job should know. At kDebug: only if asked for everything.
struct LaunchNotice {
    log::Level level = log::Level::kWarning;
    std::string text;

    friend bool operator==(const LaunchNotice&, const LaunchNotice&) = default;
};

/// A command line and the environment, each value checked by itself.
struct LaunchFlags {
    LaunchCommand command = LaunchCommand::kMusterRun;
    std::map<Flag, Given> given;         ///< those that were said
    std::string script = {};             ///< never empty
    std::vector<std::string> arguments;  ///< the script's own, untouched
    std::vector<LaunchNotice> notices;   ///< what has no effect, and what is not known

    /// The default where nobody said anything.
    Given get(Flag flag) const;
    bool said(Flag flag) const { return given.contains(flag); }
    /// Of a switch.
    bool on(Flag flag) const { return said(flag); }
};

/// Nothing to run: print that and be done.
enum class LaunchPrint : std::uint8_t { kHelp, kVersion };

/// Reads what stands behind argv[0]. Errors are kInvalid and name the flag or the variable, what it
/// says and what it may say.
///
/// As torch's argparse has it: a flag goes before its variable, the last of two counts; `--name=X`,
/// `--name X`, `-rX`, `-r X`, `-mr X`; the first word that is no flag is the script, and all behind
/// it is the script's own (torch/distributed/run.py, argparse.REMAINDER), but one "--" right behind
/// it, which argparse takes for its own if there was none before. Other than torchrun: no
/// abbreviations, since with them a script's own flag was taken for one of torchrun's
/// (pytorch#120601); an empty PET_STANDALONE is a yes, since training-operator injects that, and
/// torchrun fails on it.
///
/// A table and a loop of our own rather than CLI11, which the house uses: it can stop at the first
/// word, but has neither argparse's "-mr X" and "--", nor several variables for one flag, nor the
/// difference between what is said and what is so by default; and the table is what the help, the
/// reference and the tests against torch's own parser are made of.
Result<std::variant<LaunchFlags, LaunchPrint>> parse_launch_flags(
    LaunchCommand command, const std::vector<std::string>& arguments, const Variables& variables);

/// `COMMAND --help`.
std::string launch_help(LaunchCommand command);
/// docs/flags.md: both tables.
std::string flag_reference();

}  // namespace muster::launch
