#include "jobs/internal/agents/launcher_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/shell_word.h"
#include "jobs/internal/agents/shell_words.h"

namespace muster::jobs {
namespace {

using CommandWords = std::span<const std::string>;

constexpr auto kLaunchers =
    std::to_array<std::string_view>({"torchrun", "dlrover-run", "muster-run"});
constexpr auto kModules = std::to_array<std::string_view>(
    {"torch.distributed.run", "torch.distributed.launch", "dlrover.trainer.torch.main"});
/// How they are written behind a Python; the first is what an agent does without being told.
constexpr auto kModuleWords = std::to_array<std::string_view>(
    {"", " -m torch.distributed.launch", " -m dlrover.trainer.torch.main"});
/// After these words a command begins.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "coproc"});
/// They set variables, and start nothing.
constexpr auto kSetters =
    std::to_array<std::string_view>({"export", "local", "declare", "readonly", "typeset"});
/// They start what their arguments name, after options of their own.
constexpr auto kStarters = std::to_array<std::string_view>(
    {"env",     "exec",      "command",    "time",     "timeout",  "nohup",  "nice", "ionice",
     "numactl", "taskset",   "stdbuf",     "setsid",   "chrt",     "sudo",   "gosu", "su-exec",
     "tini",    "dumb-init", "catchsegv",  "unbuffer", "xvfb-run", "strace", "nsys", "srun",
     "conda",   "mamba",     "micromamba", "poetry",   "pipenv",   "pdm",    "uv"});
/// They only look for the name that they are given.
constexpr auto kSearches = std::to_array<std::string_view>({"which", "type", "whereis", "command"});

std::string_view file_name(std::string_view word) {
    return word.substr(word.rfind('/') + 1);  // npos + 1: all of it
}

template <std::size_t kSize>
bool is_one_of(const std::array<std::string_view, kSize>& names, std::string_view word) {
    return std::ranges::find(names, word) != names.end();
}

bool is_python(std::string_view word) {
    std::string_view name = file_name(word);
    if (!name.starts_with("python")) return false;
    name.remove_prefix(6);
    return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_assignment(std::string_view word) {
    const std::size_t equals = word.find('=');
    return equals != std::string_view::npos && equals > 0 &&
           word.substr(0, equals).find_first_of("/-${") == std::string_view::npos;
}

/// In the text of a shell, a word that is what a variable has or another command prints.
bool is_replaced(std::string_view word) {
    return word.find("${") != std::string_view::npos || word.find("$(") != std::string_view::npos ||
           word.find('`') != std::string_view::npos;
}

Error not_followed(std::string_view word) {
    return Error(
        Code::kInvalid,
        fmt::format("torchrun is called by way of \"{}\", where muster-run can't take its place; "
                    "write torchrun where it is called",
                    word));
}

/// `python [-u] -m MODULE`; nothing if it is another program of Python.
Result<std::optional<LauncherCall>> find_module(CommandWords words, std::size_t python) {
    std::size_t at = python + 1;
    if (at < words.size() && words[at] == "-u") ++at;
    const bool plain = at < words.size() && words[at] == "-m";
    while (at < words.size() && words[at] != "-m") {
        if (!words[at].starts_with('-')) return std::nullopt;  // a script and its arguments
        ++at;
    }
    if (at + 1 >= words.size()) return std::nullopt;
    const auto* const module = std::ranges::find(kModules, words[at + 1]);
    if (module == kModules.end()) return std::nullopt;
    if (!plain)
        return Error(Code::kInvalid,
                     fmt::format("{} starts torch's own agent here, where muster-run can't take "
                                 "its place; write torchrun",
                                 words[at + 1]));
    return LauncherCall{
        .index = python,
        .count = at + 2 - python,
        .module = kModuleWords[static_cast<std::size_t>(module - kModules.begin())]};
}

/// What a shell runs.
struct Operand {
    std::size_t index = 0;
    bool is_text = false;  ///< after -c; otherwise a file
};

/// Nothing if the shell runs what it reads.
std::optional<Operand> find_operand(CommandWords words, std::size_t shell) {
    bool has_text = false;
    for (std::size_t i = shell + 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const bool option = word.size() > 1 && (word[0] == '-' || word[0] == '+');
        if (!option) return Operand{.index = i, .is_text = has_text};
        if (word.starts_with("--")) {
            if (word == "--rcfile" || word == "--init-file") ++i;
            continue;
        }
        has_text = has_text || word.find('c') != std::string_view::npos;
        // -o pipefail, also as in -euo pipefail
        if (word.ends_with('o') || word.ends_with('O')) ++i;
    }
    return std::nullopt;
}

/// The text after `-c`; nothing if the shell runs a file or what it reads.
std::optional<LauncherCall> find_text(CommandWords words, std::size_t shell) {
    const std::optional<Operand> operand = find_operand(words, shell);
    if (!operand || !operand->is_text) return std::nullopt;
    return LauncherCall{.kind = LauncherCall::Kind::kText, .index = operand->index};
}

struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text = {};  ///< in place of what is between them
};

/// Follows one text of a shell.
class TextEditor {
  public:
    TextEditor(std::string_view text, std::string_view before, std::string_view after)
        : text_(text), before_(before), after_(after) {}

    /// How the words from one command to the next change; nothing if they call no launcher.
    Result<std::optional<Edit>> edit(std::span<const ShellWord> command) const {
        std::vector<std::string> words;
        for (const ShellWord& word : command) words.push_back(word.value);
        if (command.front().printed && is_one_of(kSearches, words[0]) &&
            std::ranges::any_of(words, names_launcher))
            return not_followed(text_of(command.front(), command.back()));
        TRY(const auto call, find_launcher_call(words));
        if (!call) return std::nullopt;
        const ShellWord& first = command[call->index];
        if (call->kind == LauncherCall::Kind::kText) return edit_inner(first);
        const ShellWord& last = command[call->index + call->count - 1];
        return Edit{
            .begin = first.begin,
            .end = last.end,
            .text = fmt::format("{} {}{}{}", before_, text_of(first, first), call->module, after_)};
    }

  private:
    std::string_view text_of(const ShellWord& first, const ShellWord& last) const {
        return text_.substr(first.begin, last.end - first.begin);
    }
    Result<std::optional<Edit>> edit_inner(const ShellWord& word) const {
        if (!names_launcher(word.value)) return std::nullopt;
        if (!word.quoted) return not_followed(word.value);
        const std::size_t begin = word.begin + 1;
        const std::size_t end = word.end - 1;
        TRY(auto inner, with_agents(text_.substr(begin, end - begin), before_, after_));
        if (!inner) return std::nullopt;
        return Edit{.begin = begin, .end = end, .text = *std::move(inner)};
    }

    std::string_view text_;
    std::string_view before_;
    std::string_view after_;
};

}  // namespace

std::string script_of(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    if (!is_shell(words[0]))
        return words[0].find('/') == std::string::npos ? std::string() : words[0];
    const std::optional<Operand> operand = find_operand(words, 0);
    return operand && !operand->is_text ? words[operand->index] : std::string();
}

bool names_launcher(std::string_view text) {
    // Parts of other names, such as torchrun-logs or torchrun.py, are not meant.
    constexpr std::string_view kOfNames =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const auto has = [&](std::string_view name) {
        for (std::size_t at = text.find(name); at != std::string_view::npos;
             at = text.find(name, at + 1)) {
            const std::size_t end = at + name.size();
            const bool begins = at == 0 || kOfNames.find(text[at - 1]) == std::string_view::npos ||
                                text.substr(0, at).ends_with(":-");
            const bool ends =
                end == text.size() ||
                (kOfNames.find(text[end]) == std::string_view::npos && text[end] != '/');
            if (begins && ends) return true;
        }
        return false;
    };
    return std::ranges::any_of(kLaunchers, has) || std::ranges::any_of(kModules, has);
}

Result<std::optional<LauncherCall>> find_launcher_call(const std::vector<std::string>& words) {
    bool started = false;  // by another program, whose options come first
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const std::string_view name = file_name(word);
        if (is_assignment(word)) {
            if (names_launcher(word)) return not_followed(word);
            continue;
        }
        if (is_one_of(kLaunchers, name)) return LauncherCall{.index = i};
        if (is_replaced(word) && names_launcher(word)) return not_followed(word);
        if (is_python(word)) return find_module(words, i);
        if (is_shell(word)) return find_text(words, i);
        if (word == "eval" && i + 1 < words.size())
            return LauncherCall{.kind = LauncherCall::Kind::kText, .index = i + 1};
        // `command -v` only looks.
        if (name == "command" && i + 1 < words.size() && words[i + 1].starts_with('-'))
            return std::nullopt;
        if (is_one_of(kStarters, name)) started = true;
        if (!started && !is_one_of(kKeywords, word) && !is_one_of(kSetters, word))
            return std::nullopt;
    }
    return std::nullopt;
}

Result<std::optional<std::string>> with_agents(std::string_view text, std::string_view before,
                                               std::string_view after) {
    if (!names_launcher(text)) return std::nullopt;
    const std::optional<std::vector<ShellWord>> words = read_shell_words(text);
    if (!words)
        return Error(Code::kInvalid,
                     "the shell's command names torchrun, but where it is called can't be seen: a "
                     "quote is not closed; write a here-document into a file");
    const TextEditor editor(text, before, after);
    std::string made;
    std::size_t copied = 0;
    bool any = false;
    for (std::size_t at = 0; at < words->size();) {
        std::size_t end = at + 1;
        while (end < words->size() && !(*words)[end].first) ++end;
        TRY(const auto edit, editor.edit(std::span(*words).subspan(at, end - at)));
        at = end;
        if (!edit) continue;
        any = true;
        made += text.substr(copied, edit->begin - copied);
        made += edit->text;
        copied = edit->end;
    }
    if (!any) return std::nullopt;
    made += text.substr(copied);
    return made;
}

}  // namespace muster::jobs
