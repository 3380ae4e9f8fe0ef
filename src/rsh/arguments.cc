#include "rsh/arguments.h"

#include <fmt/format.h>

#include "base/time/duration.h"
#include "net/port.h"

namespace muster::rsh {

namespace {

/// Flags of ssh, one letter each, that make no difference here: there is no password prompt, no
/// terminal and no forwarding.
constexpr std::string_view kWithoutValue = "1246AaCGgKkMnqsTtVvXxYy";
constexpr std::string_view kWithValue = "BbcDEeFIiJLmOopQRSWw";

constexpr std::string_view kHelp =
    R"(Runs a command on a worker of an MPIJob: the remote shell that mpirun calls, and its server. Jobs get both
automatically, with a token that authenticates them to each other.

Usage: muster rsh [FLAGS] HOST COMMAND...
       muster rsh --serve [FLAGS]

The command is one line for /bin/sh on that host, in the directory and environment of the server. Its input,
output, errors and exit status are those of this program. It is ended when this program ends.

      --token-file FILE      the job's token (default: /etc/muster-rsh/token)
      --port N, -p N         the server's port (default: 7322)
      --patience DURATION    how long to retry if a host is unknown or does not answer (default: 1m)
  -n                         no standard input
      --serve                run the server, until SIGTERM
      --listen ADDRESS       the address of this machine to listen at (default: all)

Options of ssh that make no difference here, such as -x, -q and -o, are accepted and ignored; another user (-l) is
refused.

Exit status: that of the command; 128 + the signal that killed it; 126 if it could not be started; 255 if the host
was not reached or the connection broke. As a server: 0, or 255 if it could not listen.
)";

class Parser {
  public:
    Parser(const std::vector<std::string>& words, Arguments& options)
        : words_(words), options_(options) {}

    std::optional<std::string> parse() {
        while (at_ < words_.size() && !wrong_ && words_[at_].starts_with('-')) {
            const std::string& word = words_[at_++];
            if (word == "--") break;
            if (word.starts_with("--"))
                take_long(word);
            else
                take_letters(word);
        }
        if (wrong_) return wrong_;
        return options_.serve ? no_more() : take_command();
    }

  private:
    /// The value after "=", or the next word.
    std::string value_of(const std::string& flag, std::optional<std::string> attached) {
        if (attached) return *attached;
        if (at_ < words_.size()) return words_[at_++];
        wrong_ = fmt::format("{} needs a value", flag);
        return {};
    }

    void set_port(const std::string& flag, const std::string& value) {
        if (wrong_) return;
        if (const auto port = net::parse_port(value))
            options_.port = *port;
        else
            wrong_ = fmt::format("{} must be a number from 1 to 65535, not \"{}\"", flag, value);
    }

    void take_long(const std::string& word) {
        const std::size_t equals = word.find('=');
        const std::string flag = word.substr(0, equals);
        const std::optional<std::string> attached =
            equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1));
        if (flag == "--serve" && !attached) {
            options_.serve = true;
        } else if (flag == "--token-file") {
            options_.token_file = value_of(flag, attached);
        } else if (flag == "--listen") {
            options_.listen = value_of(flag, attached);
        } else if (flag == "--port") {
            set_port(flag, value_of(flag, attached));
        } else if (flag == "--patience") {
            const std::string value = value_of(flag, attached);
            if (wrong_) return;
            if (const auto patience = parse_duration(value))
                options_.patience = *patience;
            else
                wrong_ = fmt::format("--patience must be a time such as 60s, not \"{}\"", value);
        } else {
            wrong_ = fmt::format("unknown flag \"{}\"", flag);
        }
    }

    /// "-xq", "-p22", "-o ConnectionAttempts=10".
    void take_letters(const std::string& word) {
        for (std::size_t i = 1; i < word.size(); ++i) {
            const char letter = word[i];
            if (letter == 'l') return refuse_user();
            if (kWithValue.find(letter) != std::string_view::npos) {
                const std::string rest = word.substr(i + 1);
                const std::string flag{'-', letter};
                const std::string value =
                    value_of(flag, rest.empty() ? std::nullopt : std::optional(rest));
                if (letter == 'p') set_port(flag, value);
                return;
            }
            if (kWithoutValue.find(letter) == std::string_view::npos) {
                wrong_ = fmt::format("unknown flag \"-{}\"", letter);
                return;
            }
            if (letter == 'n') options_.input = false;
        }
        if (word.size() == 1) wrong_ = "\"-\" is not a host";
    }

    void refuse_user() { wrong_ = "commands run as the worker's user; no other can be chosen"; }

    std::optional<std::string> no_more() const {
        if (at_ == words_.size()) return std::nullopt;
        return fmt::format("--serve takes no host and no command, but got \"{}\"", words_[at_]);
    }

    /// As ssh does: joins the words with spaces for the remote shell.
    std::optional<std::string> take_command() {
        if (at_ == words_.size()) return "name the host: muster rsh HOST COMMAND...";
        options_.host = words_[at_++];
        if (options_.host.find('@') != std::string::npos) {
            refuse_user();
            return wrong_;
        }
        for (; at_ < words_.size(); ++at_)
            options_.command += (options_.command.empty() ? "" : " ") + words_[at_];
        if (options_.command.empty())
            return fmt::format("name the command to run on {}; there is no interactive login",
                               options_.host);
        return std::nullopt;
    }

    const std::vector<std::string>& words_;
    Arguments& options_;
    std::size_t at_ = 0;
    std::optional<std::string> wrong_;
};

}  // namespace

std::optional<std::string> parse_arguments(const std::vector<std::string>& words,
                                           Arguments& options) {
    return Parser(words, options).parse();
}

std::string_view help_text() { return kHelp; }

}  // namespace muster::rsh
