#include <fmt/format.h>

#include "base/duration.h"
#include "cli/internal/command_line/raw_flags.h"

namespace muster::cli {

namespace {

constexpr std::string_view kJsonPath = "jsonpath=";

std::optional<std::string> take_output(const std::string& output, GetOptions& options) {
    if (output.starts_with(kJsonPath)) {
        options.format = ObjectFormat::kJsonPath;
        options.json_path = output.substr(kJsonPath.size());
        if (options.json_path.empty()) return "--output jsonpath= has no template behind its '='";
        return std::nullopt;
    }
    constexpr std::pair<std::string_view, ObjectFormat> kFormats[] = {
        {"", ObjectFormat::kTable},    {"wide", ObjectFormat::kWide}, {"json", ObjectFormat::kJson},
        {"yaml", ObjectFormat::kYaml}, {"name", ObjectFormat::kName},
    };
    for (const auto& [name, format] : kFormats) {
        if (name != output) continue;
        options.format = format;
        return std::nullopt;
    }
    return fmt::format("--output wants wide, json, yaml, name or jsonpath=TEMPLATE, not \"{}\"",
                       output);
}

/// A duration, or nothing at all.
std::optional<std::string> take_timeout(const std::string& text,
                                        std::chrono::nanoseconds& timeout) {
    const auto parsed = parse_duration(text);
    const bool zero = text == "0" || text == "0s";
    if (!parsed && !zero)
        return fmt::format("--timeout wants a duration such as 90s or 1h30m, not \"{}\"", text);
    timeout = zero ? std::chrono::nanoseconds(0) : *parsed;
    return std::nullopt;
}

}  // namespace

std::optional<std::string> take_apart(const Raw& raw, GetOptions& options) {
    options.ignore_not_found = raw.ignore_not_found;
    options.headers = !raw.no_headers;
    if (options.objects.words.empty()) return "name a kind, as in 'muster get pods'";
    return take_output(raw.output, options);
}

std::optional<std::string> take_apart(const Raw& raw, DeleteOptions& options) {
    options.objects.files = raw.more_files;
    options.ignore_not_found = raw.ignore_not_found;
    options.grace_period = raw.grace_period;
    if (options.objects.words.empty() == options.objects.files.empty())
        return options.objects.words.empty() ? "name what to delete, or a manifest with -f"
                                             : "name objects or a manifest (-f), not both";
    if (options.grace_period && *options.grace_period < 0)
        return fmt::format("--grace-period wants seconds, not {}", *options.grace_period);
    if (options.grace_period == 0 && !options.force)
        return "--grace-period 0 kills at once and asks for --force, too";
    if (options.force && options.grace_period.value_or(0) != 0)
        return "--force kills at once: leave out --grace-period";
    if (raw.cascade == "foreground")
        options.cascade = Cascade::kForeground;
    else if (raw.cascade == "orphan")
        options.cascade = Cascade::kOrphan;
    else if (raw.cascade != "background")
        return fmt::format("--cascade wants background, foreground or orphan, not \"{}\"",
                           raw.cascade);
    if (raw.timeout.empty()) return std::nullopt;
    return take_timeout(raw.timeout, options.timeout.emplace());
}

std::optional<std::string> take_apart(const Raw& raw, ApplyOptions& options) {
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest with -f, or - for standard input";
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, WaitOptions& options) {
    options.condition = raw.for_;
    if (options.objects.words.empty())
        return "name what to wait for, as in 'muster wait job/digits --for condition=Succeeded'";
    if (options.condition.empty())
        return "say what to wait for with --for: condition=TYPE, delete or jsonpath=PATH=VALUE";
    if (raw.timeout.empty()) return std::nullopt;
    return take_timeout(raw.timeout, options.timeout);
}

std::optional<std::string> take_apart(const Raw& raw, LogsOptions& options) {
    if (options.about.empty()) return "name a job, or a pod as pod/NAME";
    if (options.rank && *options.rank < 0)
        return fmt::format("--rank wants a number from 0 on, not {}", *options.rank);
    if (options.tail && *options.tail < 0)
        return fmt::format("--tail wants a number of lines, not {}", *options.tail);
    if (options.follow && options.previous)
        return "--follow and --previous do not go together: what was before has ended";
    if (raw.since.empty()) return std::nullopt;
    options.since = parse_duration(raw.since);
    if (!options.since)
        return fmt::format("--since wants a duration such as 90s or 1h30m, not \"{}\"", raw.since);
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw&, DescribeOptions& options) {
    if (options.objects.words.empty()) return "name what to describe, as in 'muster describe node'";
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, EventsOptions& options) {
    options.about = raw.for_;
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw&, TopOptions& options) {
    if (options.objects.words.empty()) return "say 'muster top pods' or 'muster top nodes'";
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw&, MigrateOptions& options) {
    if (options.what == "check") return std::nullopt;
    return options.what.empty()
               ? "say 'muster migrate check'"
               : fmt::format("there is 'muster migrate check', not \"{}\"", options.what);
}

std::optional<std::string> take_apart(const Raw& raw, FaultInjectionOptions& options) {
    const std::string_view verb = name_of(options.verb);
    if (!raw.context.empty() || !raw.kubeconfig.empty())
        return fmt::format(
            "{} is for jobs that 'muster run' has on this machine: a cluster's nodes take no such "
            "orders. There, 'kubectl delete pod --grace-period 0 --force' takes a pod away at "
            "once, and 'kubectl exec POD -- kill' reaches the processes in it",
            verb);
    if (options.job.empty())
        return fmt::format("name a job and one of its replicas, as in 'muster {} digits worker-1'",
                           verb);
    if (options.verb == FaultKind::kKill) {
        const std::optional<int> signal = parse_signal(raw.signal);
        if (!signal)
            return fmt::format("--signal wants a name or a number, as in TERM or 15, not \"{}\"",
                               raw.signal);
        options.signal = *signal;
        if (options.rank && *options.rank < 0)
            return fmt::format("--rank wants a number from 0 on, not {}", *options.rank);
        return std::nullopt;
    }
    if (raw.for_.empty()) return std::nullopt;
    options.duration = parse_duration(raw.for_);
    if (!options.duration)
        return fmt::format("--for wants a duration such as 10s or 1m30s, not \"{}\"", raw.for_);
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw&, CompletionOptions& options) {
    for (const std::string_view shell : {"bash", "zsh", "fish"})
        if (options.shell == shell) return std::nullopt;
    return fmt::format("there is completion for bash, zsh and fish, not for \"{}\"", options.shell);
}

}  // namespace muster::cli
