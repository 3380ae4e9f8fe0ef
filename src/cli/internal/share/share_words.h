#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::cli {

/// A line of `muster share`, without the verb: its own flags, and the command.
struct ShareWords {
    std::vector<std::string> flags = {};
    std::vector<std::string> command = {};

    friend bool operator==(const ShareWords&, const ShareWords&) = default;
};

/// The command is what follows "--", or begins with the first word that belongs to no flag: its own
/// flags are not looked at. `with_value`: the flags that take the word after them. Pure.
ShareWords split_command(std::vector<std::string> words,
                         const std::vector<std::string>& with_value);

/// --names INDEX,NUM: each a name with or without the dashes before it. Returns what is wrong.
std::optional<std::string> read_names(const std::string& text, std::string& index,
                                      std::string& count);

/// "process_index" as a flag: "--process_index"; dashes that are there stay.
std::string flag_of(const std::string& name);
/// As a variable: "PROCESS_INDEX".
std::string variable_of(const std::string& name);

}  // namespace muster::cli
