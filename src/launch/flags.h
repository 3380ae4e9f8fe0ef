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

/// An environment. If a name occurs twice, the first one counts, as for getenv().
using Variables = std::vector<std::pair<std::string, std::string>>;
const std::string* find_variable(const Variables& variables, std::string_view name);

/// A value that was given, and where.
struct Given {
    std::string text;
    std::string source = {};  ///< "--nnodes" or "PET_NNODES"; empty: not given, the default
    std::string flag = {};    ///< "--nnodes", even if a variable set it

    bool said() const { return !source.empty(); }
    bool by_flag() const { return said() && source.starts_with('-'); }
    /// "--nnodes 3:2", "PET_NNODES=3:2".
    std::string written() const;

    friend bool operator==(const Given&, const Given&) = default;
};

/// kInvalid: "--nnodes 3:2: at least 3 nodes but at most 2".
Error wrong(const Given& given, std::string_view why);

/// Something that the user should know. At level kDebug: only on request.
struct LaunchNotice {
    log::Level level = log::Level::kWarning;
    std::string text;

    friend bool operator==(const LaunchNotice&, const LaunchNotice&) = default;
};

/// The command line and the environment, each value checked by itself.
struct LaunchFlags {
    LaunchCommand command = LaunchCommand::kMusterRun;
    std::map<Flag, Given> given;         ///< flags and variables that were set
    std::string script = {};             ///< never empty
    std::vector<std::string> arguments;  ///< the script's arguments, unchanged
    std::vector<LaunchNotice> notices;   ///< about flags without effect and unknown variables

    /// Returns the default if the flag was not given.
    Given get(Flag flag) const;
    bool said(Flag flag) const { return given.contains(flag); }
    /// For a switch.
    bool on(Flag flag) const { return said(flag); }
};

/// What to print instead of running a script.
enum class LaunchPrint : std::uint8_t { kHelp, kVersion };

/// Parses the arguments after argv[0]. Errors are kInvalid and name the flag or the variable, its
/// value, and what it accepts.
///
/// Follows torch's argparse: a flag overrides its variable, and the last of two counts; `--name=X`,
/// `--name X`, `-rX`, `-r X`, `-mr X`; the first word that is not a flag is the script, and
/// everything after it belongs to the script (torch/distributed/run.py, argparse.REMAINDER), except
/// a "--" directly after it, which argparse consumes if there was none before. Differences from
/// torchrun: no abbreviations, because they made torchrun take a script's flag for its own
/// (pytorch#120601); and an empty PET_STANDALONE means yes, because training-operator injects it,
/// while torchrun fails on it.
///
/// This is our own table and loop, although the rest of Muster uses CLI11: CLI11 can stop at the
/// first word, but it supports neither argparse's "-mr X" and "--", nor several variables for one
/// flag, nor the difference between a given value and a default. The table also generates the help,
/// the reference, and the tests against torch's own parser.
Result<std::variant<LaunchFlags, LaunchPrint>> parse_launch_flags(
    LaunchCommand command, const std::vector<std::string>& arguments, const Variables& variables);

/// `COMMAND --help`.
std::string launch_help(LaunchCommand command);
/// The text of docs/flags.md: both tables.
std::string flag_reference();

}  // namespace muster::launch
