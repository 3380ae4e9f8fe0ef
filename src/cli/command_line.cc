#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kube/quantity.h"
#include "kube/schema.h"

namespace muster::cli {

namespace {

/// Flags as written, before they are taken apart.
struct Raw {
    std::vector<std::string> more_files;  ///< of -f
    std::vector<std::string> sets;
    std::vector<std::string> replicas;
    std::vector<std::string> env;
    std::vector<std::string> mounts;
    std::string fit = "scale";
    std::string sandbox = "auto";
    std::string files = "shared";
    std::string files_limit;
    std::string output;
    std::string timeout;
    std::string duration;
    std::string listen;
};

struct Assignments {
    const std::vector<std::string>& written;
    std::vector<std::pair<std::string, std::string>>& parsed;
    std::string_view flag;
    std::string_view form;
};

std::string usage_hint(const std::string& verb) {
    return verb.empty() ? "'muster --help' lists the verbs.\n"
                        : fmt::format("'muster {} --help' explains its flags.\n", verb);
}

Print usage_error(const std::string& verb, const std::string& message) {
    return {
        .exit_code = 2, .out = {}, .err = fmt::format("muster: {}\n{}", message, usage_hint(verb))};
}

void add_manifest_flags(CLI::App& app, ManifestOptions& options, Raw& raw) {
    app.add_option("files", options.files);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_option("--namespace,-n", options.adjustments.namespace_);
    app.add_option("--set", raw.sets)->allow_extra_args(false);
    app.add_option("--replicas", raw.replicas)->allow_extra_args(false);
    app.add_option("--env", raw.env)->allow_extra_args(false);
    app.add_option("--workdir", options.adjustments.workdir);
    app.add_option("--mount", raw.mounts)->allow_extra_args(false);
    app.add_option("--ignore-resources", options.adjustments.ignored_resources)
        ->allow_extra_args(false)
        ->delimiter(',');
    app.add_option("--fit", raw.fit);
    app.add_flag("--strict", options.strict);
}

void add_simulate_flags(CLI::App& app, SimulateOptions& options, Raw& raw) {
    app.add_option("files", options.files);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_option("--seed", options.seed);
    app.add_option("--seeds", options.seeds);
    app.add_option("--nodes", options.nodes);
    app.add_option("--faults", options.faults);
    app.add_option("--duration", raw.duration);
    app.add_flag("--trace", options.trace);
    app.add_option("--output,-o", raw.output);
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

Print unknown_word(const CLI::App& app, const std::string& verb, const std::string& word) {
    std::string nearest = nearest_word(app, word);
    std::string what = word.starts_with('-') ? "flag" : "verb";
    return usage_error(
        verb, fmt::format("unknown {} \"{}\"{}", what, word,
                          nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

std::optional<std::string> take_apart(const Raw& raw, ManifestOptions& options) {
    for (const Assignments& list :
         {Assignments{raw.sets, options.adjustments.sets, "--set", "PATH=VALUE"},
          Assignments{raw.replicas, options.adjustments.replicas, "--replicas", "TYPE=N"},
          Assignments{raw.env, options.adjustments.env, "--env", "NAME=VALUE"},
          Assignments{raw.mounts, options.mounts, "--mount", "IMAGE_PATH=DIR"}}) {
        for (const std::string& text : list.written) {
            std::pair<std::string, std::string> parsed;
            if (!split_assignment(text, parsed))
                return fmt::format("{} wants {}, not \"{}\"", list.flag, list.form, text);
            list.parsed.push_back(std::move(parsed));
        }
    }
    if (raw.fit != "scale" && raw.fit != "strict")
        return fmt::format("--fit wants scale or strict, not \"{}\"", raw.fit);
    options.fit = raw.fit == "strict" ? Fit::kStrict : Fit::kScale;
    for (const auto& [image, directory] : options.mounts) {
        if (!image.starts_with('/'))
            return fmt::format("--mount {}={}: the path of the image must be absolute", image,
                               directory);
        if (directory.empty()) return fmt::format("--mount {}=: the directory is missing", image);
    }
    if (options.adjustments.workdir == "per-pod") {
        options.own_workdir = true;
        options.adjustments.workdir.clear();
    }
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest, or - for standard input";
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, Sandbox& sandbox) {
    if (raw.sandbox == "none")
        sandbox = Sandbox::kNone;
    else if (raw.sandbox == "namespaces")
        sandbox = Sandbox::kNamespaces;
    else if (raw.sandbox != "auto")
        return fmt::format("--sandbox wants auto, namespaces or none, not \"{}\"", raw.sandbox);
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, UpOptions& options) {
    if (auto wrong = take_apart(raw, options.sandbox)) return wrong;
    if (raw.listen.empty()) return std::nullopt;
    const std::optional<ListenAddress> listen = parse_listen_address(raw.listen);
    if (!listen)
        return fmt::format(
            "--listen wants an IP address with or without a port, such as 127.0.0.1:6443 or "
            "[::1]:6443, not \"{}\"",
            raw.listen);
    options.listen = *listen;
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, RunOptions& options) {
    if (auto wrong = take_apart(raw, options.manifest)) return wrong;
    if (auto wrong = take_apart(raw, options.sandbox)) return wrong;
    if (raw.files != "shared" && raw.files != "private")
        return fmt::format("--files wants shared or private, not \"{}\"", raw.files);
    options.private_files = raw.files == "private";
    if (!raw.files_limit.empty()) {
        const auto limit = kube::Quantity::parse(raw.files_limit);
        if (!limit || limit->ceil_units() < 1)
            return fmt::format("--files-limit wants a size such as 512Mi or 4Gi, not \"{}\"",
                               raw.files_limit);
        options.files_bytes = static_cast<std::uint64_t>(limit->ceil_units());
    }
    if (raw.output == "json")
        options.output = OutputFormat::kJson;
    else if (raw.output == "yaml")
        options.output = OutputFormat::kYaml;
    else if (!raw.output.empty())
        return fmt::format("--output wants json or yaml, not \"{}\"", raw.output);
    if (!raw.timeout.empty()) {
        options.timeout = parse_duration(raw.timeout);
        if (!options.timeout)
            return fmt::format("--timeout wants a duration such as 90s or 1h30m, not \"{}\"",
                               raw.timeout);
    }
    return std::nullopt;
}

std::optional<std::string> take_apart(const Raw& raw, SimulateOptions& options) {
    options.files.insert(options.files.end(), raw.more_files.begin(), raw.more_files.end());
    if (options.files.empty()) return "name a manifest, a scenario, or - for standard input";
    if (options.nodes && (*options.nodes < 1 || *options.nodes > 100'000))
        return fmt::format("--nodes wants a number from 1 to 100000, not {}", *options.nodes);
    if (options.seeds < 1) return "--seeds wants a number above 0";
    if (raw.output == "json")
        options.output = OutputFormat::kJson;
    else if (!raw.output.empty() && raw.output != "text")
        return fmt::format("--output wants text or json, not \"{}\"", raw.output);
    if (!raw.duration.empty()) {
        options.duration = parse_duration(raw.duration);
        if (!options.duration || *options.duration > std::chrono::hours(24 * 365))
            return fmt::format(
                "--duration wants a duration of a year at most, such as 90s or 1h30m, not \"{}\"",
                raw.duration);
    }
    return std::nullopt;
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
    CLI::App app;
    app.set_help_flag("-h,--help");
    app.add_flag("--version");
    RunOptions run;
    ValidateOptions validate;
    Raw raw;

    CLI::App* run_verb = app.add_subcommand("run");
    add_manifest_flags(*run_verb, run.manifest, raw);
    run_verb->add_option("--logs", run.logs_dir);
    run_verb->add_option("--output,-o", raw.output);
    run_verb->add_flag("--keep", run.keep);
    run_verb->add_flag("--dry-run", run.dry_run);
    run_verb->add_option("--timeout", raw.timeout);
    run_verb->add_flag("--quiet,-q", run.quiet);
    run_verb->add_flag("--verbose,-v", run.verbose);
    run_verb->add_option("--sandbox", raw.sandbox);
    run_verb->add_option("--files", raw.files);
    run_verb->add_option("--files-limit", raw.files_limit);

    CLI::App* validate_verb = app.add_subcommand("validate");
    add_manifest_flags(*validate_verb, validate.manifest, raw);
    validate_verb->add_flag("--anywhere", validate.manifest.any_machine);
    validate_verb->add_flag("--quiet,-q", validate.quiet);

    SimulateOptions simulate;
    CLI::App* simulate_verb = app.add_subcommand("simulate");
    add_simulate_flags(*simulate_verb, simulate, raw);

    UpOptions up;
    CLI::App* up_verb = app.add_subcommand("up");
    up_verb->add_option("--state", up.state_dir);
    up_verb->add_option("--listen", raw.listen);
    up_verb->add_flag("--detach,-d", up.detach);
    up_verb->add_flag("--merge-kubeconfig", up.merge_kubeconfig);
    up_verb->add_option("--sandbox", raw.sandbox);
    up_verb->add_flag("--verbose,-v", up.verbose);

    DownOptions down;
    CLI::App* down_verb = app.add_subcommand("down");
    down_verb->add_option("--state", down.state_dir);
    down_verb->add_flag("--kill", down.kill);

    StatusOptions status;
    CLI::App* status_verb = app.add_subcommand("status");
    status_verb->add_option("--state", status.state_dir);

    KubeconfigOptions kubeconfig;
    CLI::App* kubeconfig_verb = app.add_subcommand("kubeconfig");
    kubeconfig_verb->add_option("--state", kubeconfig.state_dir);

    CLI::App* clean_verb = app.add_subcommand("clean");
    CLI::App* version_verb = app.add_subcommand("version");
    CLI::App* help_verb = app.add_subcommand("help");
    std::string help_about;
    help_verb->add_option("verb", help_about);

    auto chosen = [&]() -> CLI::App* {
        auto verbs = app.get_subcommands();
        return verbs.empty() ? nullptr : verbs.front();
    };
    auto verb_name = [&] { return chosen() == nullptr ? std::string() : chosen()->get_name(); };
    try {
        std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
        app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
        return Print{.exit_code = 0, .out = std::string(help_text(verb_name())), .err = {}};
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> extra = app.remaining(true);
        CLI::App* verb = chosen();
        return unknown_word(verb == nullptr ? app : *verb, verb_name(),
                            extra.empty() ? std::string() : extra.front());
    } catch (const CLI::ParseError& error) {
        return usage_error(verb_name(), error.what());
    }

    if (app.count("--version") > 0 || chosen() == version_verb) return VersionOptions{};
    if (chosen() == clean_verb) return CleanOptions{};
    if (chosen() == help_verb)
        return Print{.exit_code = 0, .out = std::string(help_text(help_about)), .err = {}};
    if (chosen() == run_verb) {
        if (auto wrong = take_apart(raw, run)) return usage_error("run", *wrong);
        return run;
    }
    if (chosen() == validate_verb) {
        if (auto wrong = take_apart(raw, validate.manifest)) return usage_error("validate", *wrong);
        return validate;
    }
    if (chosen() == simulate_verb) {
        if (auto wrong = take_apart(raw, simulate)) return usage_error("simulate", *wrong);
        return simulate;
    }
    if (chosen() == up_verb) {
        if (auto wrong = take_apart(raw, up)) return usage_error("up", *wrong);
        return up;
    }
    if (chosen() == down_verb) return down;
    if (chosen() == status_verb) return status;
    if (chosen() == kubeconfig_verb) return kubeconfig;
    return Print{.exit_code = 2, .out = {}, .err = std::string(help_text(""))};
}

}  // namespace muster::cli
