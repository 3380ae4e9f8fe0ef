#include <fmt/format.h>

#include "base/fields.h"
#include "launch/flags.h"

namespace muster::launch {
namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kIndent = 8;

/// Words in lines of at most kWidth, each indented.
std::string wrapped(std::string_view text) {
    std::string lines;
    std::string line(kIndent, ' ');
    while (!text.empty()) {
        const std::string_view word = take_field(text, ' ');
        const bool first = line.size() == kIndent;
        if (!first && line.size() + 1 + word.size() > kWidth) {
            lines += line + '\n';
            line.assign(kIndent, ' ');
        } else if (!first) {
            line += ' ';
        }
        line += word;
    }
    return lines + line + '\n';
}

/// "-r, --redirects 0..3|RANK:0..3,...".
std::string names(const FlagRow& row) {
    std::string text = row.letter == '\0' ? std::string() : fmt::format("-{}, ", row.letter);
    text += fmt::format("--{}", row.name);
    if (row.kind == FlagKind::kOptionalText) return text + fmt::format("[={}]", row.value);
    return row.kind == FlagKind::kSwitch ? text : text + fmt::format(" {}", row.value);
}

std::string all_of_it(const FlagRow& row) {
    std::string text(row.help);
    if (row.status == FlagStatus::kNoEffectYet)
        text += fmt::format(" No effect yet: {}.", row.note);
    if (row.status == FlagStatus::kNeedless) text += fmt::format(" Nothing to do: {}.", row.note);
    return text;
}

std::string where_from(const FlagRow& row) {
    std::string text;
    if (!row.otherwise.empty()) text += fmt::format(" Default: {}.", row.otherwise);
    if (!row.variables.empty()) {
        std::string_view rest = row.variables;
        std::string each(take_field(rest, ' '));
        while (!rest.empty()) each += fmt::format(", {}", take_field(rest, ' '));
        text += fmt::format(" [{}]", each);
    }
    return text;
}

/// Of a table of Markdown.
std::string cell(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '|') safe += '\\';
        safe += c;
    }
    return safe;
}

std::string_view whose(const FlagRow& row) {
    return row.torchs ? "torch" : row.dlrovers ? "DLRover" : "Muster";
}

}  // namespace

std::string launch_help(LaunchCommand command) {
    std::string text = fmt::format(
        "Usage: {0} [flags] SCRIPT [its own flags]\n\n"
        "Runs SCRIPT as a group of workers on one node or many, and brings back what dies.\n\n"
        "  {0} --standalone --nproc-per-node 4 train.py\n"
        "  {0} --nnodes 2:4 --rdzv-endpoint node0,node1 --max-restarts 3 train.py\n\n"
        "Names may have '_' for '-'. A flag goes before the variable in brackets, and all behind\n"
        "SCRIPT is the script's own.\n",
        to_string(command));
    std::string_view section;
    for (const FlagRow& row : flag_table()) {
        if (row.hidden || !knows(command, row)) continue;
        if (row.section != section) text += fmt::format("\n{}:\n", section = row.section);
        text += fmt::format("  {}\n{}", names(row), wrapped(all_of_it(row) + where_from(row)));
    }
    return text;
}

std::string flag_reference() {
    std::string text =
        "# The flags of muster-run, torchrun and dlrover-run\n\n"
        "Made by `./dev docs` from the tables that the program reads its command line by\n"
        "(`src/launch/flag_table.cc`, `variable_table.cc`).\n\n"
        "One program has the three names. `muster-run` and `dlrover-run` know every flag, "
        "`torchrun` "
        "those of\ntorch and of Muster. Names may have `_` for `-`. A flag goes before its "
        "variable, "
        "and all behind the\nscript is the script's own.\n";
    std::string_view section;
    for (const FlagRow& row : flag_table()) {
        if (row.hidden) continue;
        if (row.section != section)
            text += fmt::format(
                "\n## {}\n\n| Flag | Default | Variable | From | |\n|---|---|---|---|---|\n",
                section = row.section);
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", cell(names(row)),
                            row.otherwise.empty() ? "" : fmt::format("`{}`", row.otherwise),
                            row.variables.empty() ? "" : fmt::format("`{}`", row.variables),
                            whose(row), cell(all_of_it(row)));
    }
    text += "\n## Variables without a flag\n\n| Variable | |\n|---|---|\n";
    for (const VariableRow& row : variable_table()) {
        std::string about(row.help);
        if (row.status == FlagStatus::kNoEffectYet)
            about += fmt::format(" No effect yet: {}.", row.note);
        if (row.status == FlagStatus::kNeedless)
            about += fmt::format(" Nothing to do: {}.", row.note);
        text += fmt::format("| `{}` | {} |\n", row.name, cell(about));
    }
    return text;
}

}  // namespace muster::launch
