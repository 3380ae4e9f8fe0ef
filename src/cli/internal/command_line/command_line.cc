#include "cli/internal/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/internal/command_line/known_verbs.h"
#include "cli/internal/command_line/operator_flags.h"
#include "cli/internal/command_line/raw_flags.h"
#include "kube/schema/schema.h"

namespace muster::cli {

namespace {

/// Of the shells' completion; it is no verb for people.
constexpr std::string_view kCompleteVerb = "__complete";

constexpr std::string_view kRshVerb = "rsh";
constexpr std::string_view kOperatorVerb = "operator";

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

void add_fault_injection_flags(CLI::App& app, FaultInjectionOptions& options, Raw& raw) {
    app.add_option("job", options.job);
    app.add_option("replica", options.replica);
    app.add_option("--namespace,-n", options.namespace_);
    if (options.verb == FaultKind::kKill) {
        app.add_option("--signal", raw.signal);
        app.add_option("--rank", options.rank);
    } else {
        app.add_option("--for", raw.for_);
    }
    app.add_option("--context", raw.context);
    app.add_option("--kubeconfig", raw.kubeconfig);
}

/// For completion alone, which asks what flags there are.
void add_rsh_flags(CLI::App& app, RshOptions& options, Raw& raw) {
    app.add_flag("--serve", options.serve);
    app.add_option("--listen", options.listen);
    app.add_option("--token-file", options.token_file);
    app.add_option("--port", options.port);
    app.add_option("--patience", raw.duration);
}

/// An unset variable of a script must not mean this machine.
std::string not_unnamed(const std::string& text) {
    return text.empty() ? "wants a name, not \"\"" : "";
}

void add_run_flags(CLI::App& app, RunOptions& options, Raw& raw) {
    add_manifest_flags(app, options.manifest, raw);
    app.add_option("--logs", options.logs_dir);
    app.add_option("--output,-o", raw.output);
    app.add_flag("--keep", options.keep);
    app.add_flag("--dry-run", options.dry_run);
    app.add_option("--timeout", raw.timeout);
    app.add_flag("--quiet,-q", options.quiet);
    app.add_flag("--verbose,-v", options.verbose);
    app.add_option("--sandbox", raw.sandbox);
    app.add_option("--files", raw.files);
    app.add_option("--files-limit", raw.files_limit);
    app.add_flag("--elastic", options.elastic);
    app.add_flag("--warm", options.warm);
    app.add_option("--context", raw.context)->check(not_unnamed);
    app.add_option("--kubeconfig", raw.kubeconfig)->check(not_unnamed);
}

void add_validate_flags(CLI::App& app, ValidateOptions& options, Raw& raw) {
    add_manifest_flags(app, options.manifest, raw);
    app.add_flag("--anywhere", options.manifest.any_machine);
    app.add_flag("--quiet,-q", options.quiet);
}

void add_convert_flags(CLI::App& app, ConvertOptions& options, Raw& raw) {
    app.add_option("files", options.files);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_option("--to", raw.to);
    app.add_option("--output,-o", raw.output);
}

void add_explain_flags(CLI::App& app, ExplainOptions& options, Raw& raw) {
    app.add_option("words", raw.words);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_option("--rank", options.rank);
    app.add_option("--in-pods-image", options.in_pods_image);
    app.add_option("--api-version", options.api_version);
    app.add_flag("--recursive", options.recursive);
    app.add_option("--output,-o", raw.output);
}

std::string not_a_count(const std::string& text) {
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
    return fmt::format("wants 0 or a number above it, not \"{}\"", text);
}

/// An unset variable of a script must not stand for ~/.muster.
std::string not_a_directory(const std::string& text) {
    return text.empty() ? "wants a directory, not \"\"" : "";
}

void add_state_flag(CLI::App& app, std::string& directory) {
    app.add_option("--state", directory)->check(not_a_directory);
}

void add_up_flags(CLI::App& app, UpOptions& options, Raw& raw) {
    add_state_flag(app, options.state_dir);
    app.add_option("--listen", raw.listen);
    app.add_flag("--detach,-d", options.detach);
    app.add_flag("--merge-kubeconfig", options.merge_kubeconfig);
    app.add_option("--sandbox", raw.sandbox);
    app.add_option("--audit-log", options.audit_log);
    app.add_option("--audit-level", raw.audit_level);
    app.add_option("--audit-log-maxsize", raw.audit_log_maxsize);
    app.add_option("--audit-log-maxbackup", options.audit_limits.kept)->check(not_a_count);
    app.add_option("--max-requests-inflight", options.limits.read_only)->check(not_a_count);
    app.add_option("--max-mutating-requests-inflight", options.limits.mutating)->check(not_a_count);
    app.add_flag("--verbose,-v", options.verbose);
}

void add_down_flags(CLI::App& app, DownOptions& options) {
    add_state_flag(app, options.state_dir);
    CLI::Option* const kill = app.add_flag("--kill", options.kill);
    app.add_flag("--keep-pods", options.keep_pods)->excludes(kill);
}

void add_server_flags(CLI::App& app, ServerOptions& options) {
    app.add_option("--kubeconfig", options.kubeconfig);
    app.add_option("--context", options.context);
    app.add_option("--namespace,-n", options.namespace_);
}

void add_object_flags(CLI::App& app, ObjectOptions& options) {
    app.add_option("words", options.words);
    app.add_option("--selector,-l", options.label_selector);
    app.add_option("--field-selector", options.field_selector);
    app.add_flag("--all-namespaces,-A", options.all_namespaces);
}

void add_get_flags(CLI::App& app, GetOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    add_object_flags(app, options.objects);
    app.add_option("--output,-o", raw.output);
    app.add_flag("--watch,-w", options.watch);
    app.add_flag("--show-labels", options.show_labels);
    app.add_flag("--show-managed-fields", options.show_managed_fields);
    app.add_flag("--no-headers", raw.no_headers);
    app.add_flag("--ignore-not-found", raw.ignore_not_found);
}

void add_delete_flags(CLI::App& app, DeleteOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    add_object_flags(app, options.objects);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_flag("--all", options.all);
    app.add_flag("--wait,!--no-wait", options.wait);
    app.add_option("--cascade", raw.cascade);
    app.add_option("--grace-period", raw.grace_period);
    app.add_flag("--force", options.force);
    app.add_flag("--ignore-not-found", raw.ignore_not_found);
    app.add_option("--timeout", raw.timeout);
}

void add_apply_flags(CLI::App& app, ApplyOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    app.add_option("files", options.files);
    app.add_option("-f,--filename", raw.more_files)->allow_extra_args(false);
    app.add_flag("--force-conflicts", options.force_conflicts);
    app.add_flag("--dry-run", options.dry_run);
    app.add_flag("--strict", options.strict);
}

void add_wait_flags(CLI::App& app, WaitOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    add_object_flags(app, options.objects);
    app.add_option("--for", raw.for_);
    app.add_option("--timeout", raw.timeout);
}

void add_logs_flags(CLI::App& app, LogsOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    app.add_option("about", options.about);
    app.add_option("--rank", options.rank);
    app.add_option("--replica", options.replica);
    app.add_option("--container,-c", options.container);
    app.add_flag("--follow,-f", options.follow);
    app.add_flag("--previous,-p", options.previous);
    app.add_flag("--timestamps", options.timestamps);
    app.add_option("--tail", options.tail);
    app.add_option("--since", raw.since);
}

void add_describe_flags(CLI::App& app, DescribeOptions& options) {
    add_server_flags(app, options.server);
    add_object_flags(app, options.objects);
}

void add_events_flags(CLI::App& app, EventsOptions& options, Raw& raw) {
    add_server_flags(app, options.server);
    app.add_option("--for", raw.for_);
    app.add_flag("--all-namespaces,-A", options.all_namespaces);
    app.add_flag("--watch,-w", options.watch);
}

void add_top_flags(CLI::App& app, TopOptions& options) {
    add_server_flags(app, options.server);
    add_object_flags(app, options.objects);
}

void add_migrate_flags(CLI::App& app, MigrateOptions& options) {
    add_server_flags(app, options.server);
    app.add_option("what", options.what);
    app.add_flag("--all-namespaces,-A", options.all_namespaces);
}

void add_manifests_flags(CLI::App& app, ManifestsOptions& options, Raw& raw) {
    app.add_option("--namespace,-n", options.installation.watched);
    app.add_option("--install-namespace", options.installation.namespace_);
    app.add_option("--image", raw.image);
    app.add_option("--replicas", raw.installed_replicas);
    app.add_flag("--crds-only", options.crds_only);
    app.add_flag("--without-admission-policy", raw.without_admission_policy);
    app.add_option("--layout", raw.layout);
    app.add_option("--output-dir", options.output_dir);
}

/// All verbs with their flags, and where what is written of them goes.
struct Verbs {
    CLI::App app;
    Raw raw;
    RunOptions run;
    ValidateOptions validate;
    ConvertOptions convert;
    ExplainOptions explain;
    SimulateOptions simulate;
    UpOptions up;
    DownOptions down;
    StatusOptions status;
    KubeconfigOptions kubeconfig;
    GetOptions get;
    DescribeOptions describe;
    LogsOptions logs;
    EventsOptions events;
    TopOptions top;
    ApplyOptions apply;
    WaitOptions wait;
    DeleteOptions remove;
    ManifestsOptions manifests;
    CompletionOptions completion;
    RshOptions rsh;
    OperatorOptions operate;
    RawOperatorFlags raw_operate;
    MigrateOptions migrate;
    FaultInjectionOptions kill{.verb = FaultKind::kKill};
    FaultInjectionOptions pause{.verb = FaultKind::kPause};
    FaultInjectionOptions partition{.verb = FaultKind::kPartition};
    std::string help_about;

    Verbs() {
        app.set_help_flag("-h,--help");
        app.add_flag("--version");
        add_run_flags(*app.add_subcommand("run"), run, raw);
        add_validate_flags(*app.add_subcommand("validate"), validate, raw);
        add_convert_flags(*app.add_subcommand("convert"), convert, raw);
        add_explain_flags(*app.add_subcommand("explain"), explain, raw);
        add_simulate_flags(*app.add_subcommand("simulate"), simulate, raw);
        add_up_flags(*app.add_subcommand("up"), up, raw);
        add_down_flags(*app.add_subcommand("down"), down);
        add_state_flag(*app.add_subcommand("status"), status.state_dir);
        add_state_flag(*app.add_subcommand("kubeconfig"), kubeconfig.state_dir);
        add_get_flags(*app.add_subcommand("get"), get, raw);
        add_describe_flags(*app.add_subcommand("describe"), describe);
        add_logs_flags(*app.add_subcommand("logs"), logs, raw);
        add_events_flags(*app.add_subcommand("events"), events, raw);
        add_top_flags(*app.add_subcommand("top"), top);
        add_apply_flags(*app.add_subcommand("apply"), apply, raw);
        add_wait_flags(*app.add_subcommand("wait"), wait, raw);
        add_delete_flags(*app.add_subcommand("delete"), remove, raw);
        add_manifests_flags(*app.add_subcommand("manifests"), manifests, raw);
        app.add_subcommand("completion")->add_option("shell", completion.shell);
        add_rsh_flags(*app.add_subcommand("rsh"), rsh, raw);
        add_operator_flags(*app.add_subcommand(std::string(kOperatorVerb)), operate, raw_operate);
        add_migrate_flags(*app.add_subcommand("migrate"), migrate);
        for (FaultInjectionOptions* const drill : {&kill, &pause, &partition})
            add_fault_injection_flags(*app.add_subcommand(std::string(name_of(drill->verb))),
                                      *drill, raw);
        app.add_subcommand("clean");
        app.add_subcommand("version");
        app.add_subcommand("help")->add_option("verb", help_about);
    }

    CLI::App* chosen() const {
        const auto verbs = app.get_subcommands();
        return verbs.empty() ? nullptr : verbs.front();
    }
    std::string name() const { return chosen() == nullptr ? std::string() : chosen()->get_name(); }
};

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
    if (!verb.empty() && !word.starts_with('-'))
        return usage_error(verb,
                           fmt::format("{} does not know what to do with \"{}\"", verb, word));
    std::string nearest = nearest_word(app, word);
    std::string what = word.starts_with('-') ? "flag" : "verb";
    return usage_error(
        verb, fmt::format("unknown {} \"{}\"{}", what, word,
                          nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

/// Everything behind the verb is taken apart by hand: see rsh::parse_arguments().
Command rsh_command(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--help"} || words == std::vector<std::string>{"-h"})
        return Print{.exit_code = 0, .out = std::string(help_text(kRshVerb)), .err = {}};
    RshOptions options;
    if (const auto wrong = rsh::parse_arguments(words, options))
        return usage_error(std::string(kRshVerb), *wrong);
    return options;
}

/// The options of a verb, with what was written for it.
template <class Options>
Command finished(const Verbs& verbs, Options options) {
    if (auto wrong = take_apart(verbs.raw, options)) return usage_error(verbs.name(), *wrong);
    return options;
}

/// What says how a job meets this machine has no meaning on a cluster.
std::optional<std::string> refuse_on_cluster(const CLI::App& app, const RunOptions& options) {
    if (!options.cluster) return std::nullopt;
    const char* const cluster = app.count("--context") > 0 ? "--context" : "--kubeconfig";
    for (const char* flag :
         {"--sandbox", "--files", "--files-limit", "--mount", "--fit", "--keep", "--elastic"})
        if (app.count(flag) > 0)
            return fmt::format(
                "{} is about this machine, and {} runs the job on a cluster: leave "
                "one of them out",
                flag, cluster);
    if (options.manifest.own_workdir)
        return fmt::format(
            "--workdir per-pod is about this machine, and {} runs the job on a "
            "cluster: leave one of them out",
            cluster);
    const std::string& workdir = options.manifest.adjustments.workdir;
    if (!workdir.empty() && !workdir.starts_with('/'))
        return fmt::format(
            "--workdir {} is below a directory of this machine, and {} runs the job "
            "on a cluster: write an absolute path",
            workdir, cluster);
    return std::nullopt;
}

Command run_command(const Verbs& verbs) {
    RunOptions options = verbs.run;
    if (auto wrong = take_apart(verbs.raw, options)) return usage_error(verbs.name(), *wrong);
    if (auto wrong = refuse_on_cluster(*verbs.chosen(), options))
        return usage_error(verbs.name(), *wrong);
    return options;
}

Command operate_command(Verbs& verbs, std::vector<std::string> words) {
    if (auto wrong = take_apart(verbs.raw_operate, verbs.operate))
        return usage_error(verbs.name(), *wrong);
    verbs.operate.config = verbs.raw_operate.config;
    verbs.operate.words = std::move(words);
    return std::move(verbs.operate);
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
    // What comes behind is a line for another shell to finish, not one for us to take apart.
    if (!arguments.empty() && arguments.front() == kCompleteVerb)
        return CompleteOptions{{arguments.begin() + 1, arguments.end()}};
    if (!arguments.empty() && arguments.front() == kRshVerb)
        return rsh_command({arguments.begin() + 1, arguments.end()});
    Verbs verbs;
    const bool operates = !arguments.empty() && arguments.front() == kOperatorVerb;
    try {
        std::vector<std::string> reversed = operates ? with_two_dashes(arguments) : arguments;
        std::ranges::reverse(reversed);
        verbs.app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
        return Print{.exit_code = 0, .out = std::string(help_text(verbs.name())), .err = {}};
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> extra = verbs.app.remaining(true);
        CLI::App* verb = verbs.chosen();
        return unknown_word(verb == nullptr ? verbs.app : *verb, verbs.name(),
                            extra.empty() ? std::string() : extra.front());
    } catch (const CLI::ParseError& error) {
        return usage_error(verbs.name(), error.what());
    }

    const std::string verb = verbs.name();
    if (verbs.app.count("--version") > 0 || verb == "version") return VersionOptions{};
    if (verb == "clean") return CleanOptions{};
    if (verb == "help")
        return Print{.exit_code = 0, .out = std::string(help_text(verbs.help_about)), .err = {}};
    if (verb == "run") return run_command(verbs);
    if (verb == "validate") return finished(verbs, verbs.validate);
    if (verb == "convert") return finished(verbs, verbs.convert);
    if (verb == "explain") return finished(verbs, verbs.explain);
    if (verb == "simulate") return finished(verbs, verbs.simulate);
    if (verb == "up") return finished(verbs, verbs.up);
    if (verb == "down") return verbs.down;
    if (verb == "status") return verbs.status;
    if (verb == "kubeconfig") return verbs.kubeconfig;
    if (verb == "get") return finished(verbs, verbs.get);
    if (verb == "describe") return finished(verbs, verbs.describe);
    if (verb == "logs") return finished(verbs, verbs.logs);
    if (verb == "events") return finished(verbs, verbs.events);
    if (verb == "top") return finished(verbs, verbs.top);
    if (verb == "apply") return finished(verbs, verbs.apply);
    if (verb == "wait") return finished(verbs, verbs.wait);
    if (verb == "delete") return finished(verbs, verbs.remove);
    if (verb == "manifests") return finished(verbs, verbs.manifests);
    if (verb == "completion") return finished(verbs, verbs.completion);
    if (verb == "migrate") return finished(verbs, verbs.migrate);
    for (const FaultInjectionOptions& drill : {verbs.kill, verbs.pause, verbs.partition})
        if (verb == name_of(drill.verb)) return finished(verbs, drill);
    if (verb == kOperatorVerb)
        return operate_command(verbs, {arguments.begin() + 1, arguments.end()});
    return Print{.exit_code = 2, .out = {}, .err = std::string(help_text(""))};
}

std::vector<KnownVerb> known_verbs() {
    Verbs verbs;
    std::vector<KnownVerb> known;
    for (const CLI::App* verb : verbs.app.get_subcommands({})) {
        KnownVerb& one = known.emplace_back(verb->get_name());
        for (const CLI::Option* option : verb->get_options()) {
            KnownFlag flag{.names = {}, .takes_value = option->get_items_expected_max() > 0};
            for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
            for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
            if (!flag.names.empty()) one.flags.push_back(std::move(flag));
        }
    }
    return known;
}

}  // namespace muster::cli
