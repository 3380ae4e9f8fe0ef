#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/lower_case.h"
#include "base/time/duration.h"
#include "cli/internal/command_line/command_line.h"
#include "cli/internal/operator/operator_config.h"
#include "cli/internal/operator/operator_options.h"
#include "cli/internal/operator/run_operator.h"
#include "cli/internal/verbs/verbs.h"
#include "jobs/kind.h"
#include "manifest/read_files.h"

namespace muster::cli {

namespace {

constexpr const char* kOperatorVerb = "operator";

constexpr std::string_view kOperatorHelp =
    R"(Runs the operator of all job kinds on a cluster, in place of Kubeflow's training-operator and
mpi-operator. 'muster manifests | kubectl apply -f -' installs it there; started by hand it works with the
cluster of a kubeconfig.

Usage: muster operator [FLAGS]

Which cluster, and what of it:
      --kubeconfig FILE      default: the pod's service account, else as in 'muster get'
      --context NAME         of the kubeconfig; default: its current one
  -n, --namespace NS         work in this namespace only (default: $KUBEFLOW_NAMESPACE, else all)
      --enable-scheme KIND   work on these kinds only, such as PyTorchJob; may be repeated
      --gang-scheduler-name NAME
                             volcano, yunikorn, or a scheduler with the PodGroups of scheduler-plugins
      --cluster-domain NAME  what full names of pods end with (default: $CUSTOM_CLUSTER_DOMAIN, else names that
                             end with svc)

What pods get that need our program, as those of MPIJobs do:
      --in-pods-image IMAGE  which has it; an init container 'muster' copies it (default: $MUSTER_IMAGE, else pods
                             get nothing, and MPIJobs need ssh or kubectl in their images)
      --image-volumes        that image as a volume instead, where nodes run programs from such volumes

What agents of elastic jobs (muster-run) get:
      --agent-tokens         a token of their PyTorchJob, which is in a Secret of it; needs rights on Secrets

How much at a time:
      --controller-threads N jobs reconciled at a time (default: 64)
      --kube-api-qps N       requests a second, at most (default: as many as the server takes; 429 and slower
                             answers say when it has enough)
      --kube-api-burst N     up to this many at once after a pause

Several replicas:
      --leader-elect         one works, the others wait
      --leader-election-id NAME
                             of the Lease (default: muster-operator.kubeflow.org)
      --leader-election-namespace NS
                             of the Lease (default: the pod's own)
      --leader-elect-lease-duration T, --leader-elect-renew-deadline T, --leader-elect-retry-period T
                             default: 15s, 10s and 2s; after a crash another one leads within the first

Metrics, health and logs:
      --metrics-bind-address ADDRESS
                             /metrics (default: :8080; 0: nowhere)
      --health-probe-bind-address ADDRESS
                             /healthz, /livez and /readyz (default: :8081; 0: nowhere)
      --log-format FORMAT    json (default) or text
      --log-level LEVEL      debug, info (default), warning or error

      --config FILE          YAML with flags by their names, as in 'leader-elect: true'; flags of the command
                             line take precedence

The other flags of training-operator v1 and mpi-operator are accepted, with one dash or two; those that have
no effect here say so.

Exit status: 0 after SIGTERM or Ctrl-C; 1 when it could not start; 2 for bad flags.
)";

/// Flags as written.
struct WrittenFlags {
    std::vector<std::string> kinds;
    std::string lease = "15s";
    std::string renew_deadline = "10s";
    std::string retry = "2s";
    std::string metrics = ":8080";
    std::string health = ":8081";
    std::optional<int> monitoring_port;
    std::string log_format = "json";
    std::string log_level = "info";
    /// Flags that were given and have no effect here, each with the reason.
    std::vector<std::pair<std::string, std::string>> ineffective;
};

struct Ineffective {
    const char* flag;
    const char* why;
};

constexpr const char* kNoInitContainer = "pods have no hidden init container";
constexpr const char* kNoWebhook = "there is no webhook: jobs are checked by the operator itself";
constexpr const char* kNoSharedQueue = "each job backs off by itself";

/// Those of training-operator v1.9 and mpi-operator v0.7.
constexpr std::array kIneffective{
    Ineffective{"--pytorch-init-container-image", kNoInitContainer},
    Ineffective{"--pytorch-init-container-template-file", kNoInitContainer},
    Ineffective{"--pytorch-init-container-max-tries", kNoInitContainer},
    Ineffective{"--mpi-kubectl-delivery-image", kNoInitContainer},
    Ineffective{"--kubectl-delivery-image", kNoInitContainer},
    Ineffective{"--webhook-server-port", kNoWebhook},
    Ineffective{"--webhook-service-name", kNoWebhook},
    Ineffective{"--webhook-secret-name", kNoWebhook},
    Ineffective{"--controller-queue-rate-limit", kNoSharedQueue},
    Ineffective{"--controller-queue-burst", kNoSharedQueue},
};
/// Flags of logs: they only change how they look.
constexpr std::array kIneffectiveSwitches{
    Ineffective{"--zap-devel", "--log-format says how logs look"},
    Ineffective{"--alsologtostderr", "logs always go to standard error"},
    Ineffective{"--logtostderr", "logs always go to standard error"},
};

std::string not_positive(const std::string& text) {
    if (!text.empty() && text.find_first_not_of("0123456789") == text.npos && text != "0")
        return {};
    return fmt::format("wants a number above 0, not \"{}\"", text);
}

std::optional<std::string> take_kind(const std::string& wanted, std::vector<std::string>& kinds) {
    std::vector<std::string> known;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (!(std::ranges::find(known, kind->resource.kind) != known.end()))
            known.push_back(kind->resource.kind);
    for (const std::string& name : known) {
        if (lower_case(name) != lower_case(wanted)) continue;
        if (!(std::ranges::find(kinds, name) != kinds.end())) kinds.push_back(name);
        return std::nullopt;
    }
    return fmt::format("--enable-scheme wants a kind of {}, not \"{}\"", fmt::join(known, ", "),
                       wanted);
}

std::optional<std::string> take_time(const char* flag, const std::string& text, Duration& time) {
    const auto parsed = parse_duration(text);
    if (!parsed) return fmt::format("{} wants a duration such as 15s, not \"{}\"", flag, text);
    time = *parsed;
    return std::nullopt;
}

std::optional<std::string> take_address(const char* flag, const std::string& text,
                                        BindAddress& address) {
    const auto parsed = parse_bind_address(text);
    if (!parsed)
        return fmt::format("{} wants :PORT, ADDRESS:PORT or 0 for none, not \"{}\"", flag, text);
    address = *parsed;
    return std::nullopt;
}

std::optional<std::string> take_election(const WrittenFlags& raw, kube::ElectionTiming& timing) {
    Duration lease{};
    if (auto wrong = take_time("--leader-elect-lease-duration", raw.lease, lease)) return wrong;
    timing.lease = std::chrono::duration_cast<std::chrono::seconds>(lease);
    if (timing.lease != lease)
        return fmt::format("--leader-elect-lease-duration wants whole seconds, not \"{}\"",
                           raw.lease);
    if (auto wrong =
            take_time("--leader-elect-renew-deadline", raw.renew_deadline, timing.renew_deadline))
        return wrong;
    if (auto wrong = take_time("--leader-elect-retry-period", raw.retry, timing.retry))
        return wrong;
    if (const std::string problem = kube::problem_of(timing); !problem.empty())
        return "the leader election's times do not fit together: " + problem;
    return std::nullopt;
}

std::optional<std::string> take_log(const WrittenFlags& raw, OperatorOptions& options) {
    const std::string format = lower_case(raw.log_format);
    if (format == "json")
        options.log_format = log::Format::kJson;
    else if (format == "text" || format == "console")
        options.log_format = log::Format::kText;
    else
        return fmt::format("--log-format wants json or text, not \"{}\"", raw.log_format);
    constexpr std::array<std::pair<std::string_view, log::Level>, 5> kLevels{{
        {"debug", log::Level::kDebug},
        {"info", log::Level::kInfo},
        {"warning", log::Level::kWarning},
        {"warn", log::Level::kWarning},
        {"error", log::Level::kError},
    }};
    const auto level = std::ranges::find(kLevels, lower_case(raw.log_level),
                                         &std::pair<std::string_view, log::Level>::first);
    if (level == kLevels.end())
        return fmt::format("--log-level wants debug, info, warning or error, not \"{}\"",
                           raw.log_level);
    options.log_level = level->second;
    return std::nullopt;
}

std::optional<std::string> take_addresses(const WrittenFlags& raw, OperatorOptions& options) {
    if (auto wrong = take_address("--metrics-bind-address", raw.metrics, options.metrics))
        return wrong;
    if (raw.monitoring_port)
        if (auto wrong = take_address(
                "--monitoring-port",
                *raw.monitoring_port == 0 ? "0" : fmt::format(":{}", *raw.monitoring_port),
                options.metrics))
            return wrong;
    if (auto wrong = take_address("--health-probe-bind-address", raw.health, options.health))
        return wrong;
    if (options.health.port != 0 && options.health.port == options.metrics.port)
        return fmt::format(
            "--metrics-bind-address and --health-probe-bind-address both want port "
            "{}: give one of them another, or 0 for none",
            options.health.port);
    return std::nullopt;
}

std::optional<std::string> read_flags(const WrittenFlags& raw, OperatorOptions& options) {
    for (const std::string& kind : raw.kinds)
        if (auto wrong = take_kind(kind, options.kinds)) return wrong;
    if (options.limits.per_second < 0 || options.limits.burst < 0)
        return "--kube-api-qps and --kube-api-burst want numbers above 0, or 0 for no limit";
    if (options.limits.burst > 0 && options.limits.per_second == 0)
        return "--kube-api-burst needs --kube-api-qps: a burst is what goes beyond a rate";
    if (auto wrong = take_election(raw, options.election)) return wrong;
    if (auto wrong = take_addresses(raw, options)) return wrong;
    for (const auto& [flag, why] : raw.ineffective)
        options.ineffective.push_back(fmt::format("{} has no effect: {}", flag, why));
    return take_log(raw, options);
}

/// Go's flags may have one dash ("-namespace ml"); ours have two.
std::vector<std::string> with_two_dashes(std::vector<std::string> words) {
    for (std::string& word : words)
        if (word.size() > 2 && word[0] == '-' && word[1] != '-' && word[2] != '=')
            word.insert(word.begin(), '-');
    return words;
}

/// The command with the flags of the file, which the command line overrides.
Command with_config(const OperatorOptions& options) {
    Result<std::string> text = manifest::read_file(options.config);
    if (!text)
        return Print{.exit_code = 1,
                     .out = {},
                     .err = fmt::format("muster {}: {}: {}\n", kOperatorVerb, options.config,
                                        text.error().message())};
    const std::vector<KnownVerb> verbs = known_verbs();
    Result<std::vector<std::string>> flags = flags_of_config(
        options.config, *text, *std::ranges::find(verbs, kOperatorVerb, &KnownVerb::name));
    if (!flags)
        return Print{.exit_code = 2,
                     .out = {},
                     .err = fmt::format("muster {}: {}\n", kOperatorVerb, flags.error().message())};
    std::vector<std::string> words{kOperatorVerb};
    words.insert(words.end(), flags->begin(), flags->end());
    words.insert(words.end(), options.words.begin(), options.words.end());
    return parse_command_line(words);
}

int operate(const OperatorOptions& options) {
    if (options.config.empty()) return run_operator(options);
    const Command whole = with_config(options);
    if (const auto* merged = options_of<OperatorOptions>(whole)) return run_operator(*merged);
    const Print& problem = std::get<Print>(whole);
    std::fputs(problem.err.c_str(), stderr);
    return problem.exit_code;
}

class OperatorVerb final : public VerbOf<OperatorOptions> {
  public:
    OperatorVerb() : VerbOf(kOperatorVerb, kOperatorHelp) {}

    /// Its own flags, and those of training-operator v1 and mpi-operator under their names.
    void declare(Flags& flags) override {
        // The command line follows the file, and takes precedence.
        flags.let_the_last_count();
        flags.value("--kubeconfig,--kubeConfig", options_.kubeconfig);
        flags.value("--context", options_.context);
        flags.value("--config", options_.config);
        flags.value("--namespace,-n", options_.namespace_);
        flags.list("--enable-scheme", written_.kinds, ',');
        flags.value("--gang-scheduler-name,--gang-scheduling", options_.gang_scheduler_name);
        flags.value("--controller-threads,--threadiness", options_.controller_threads,
                    not_positive);
        flags.value("--kube-api-qps", options_.limits.per_second);
        flags.value("--kube-api-burst", options_.limits.burst);
        flags.flag("--leader-elect", options_.leader_elect);
        flags.value("--leader-election-id", options_.lease_name);
        flags.value("--leader-election-namespace,--lock-namespace", options_.lease_namespace);
        flags.value("--leader-elect-lease-duration", written_.lease);
        flags.value("--leader-elect-renew-deadline", written_.renew_deadline);
        flags.value("--leader-elect-retry-period", written_.retry);
        flags.value("--metrics-bind-address", written_.metrics);
        flags.value("--health-probe-bind-address", written_.health);
        flags.value("--monitoring-port", written_.monitoring_port);
        flags.value("--cluster-domain", options_.cluster_domain);
        flags.value("--in-pods-image", options_.in_pods_image);
        flags.flag("--image-volumes", options_.image_volumes);
        flags.flag("--agent-tokens", options_.agent_tokens);
        flags.value("--log-format,--zap-encoder", written_.log_format);
        flags.value("--log-level,--zap-log-level", written_.log_level);
        const auto ignore = [&](const Ineffective& one, bool takes_value) {
            flags.ignored(one.flag, takes_value,
                          [this, &one] { written_.ineffective.emplace_back(one.flag, one.why); });
        };
        for (const Ineffective& one : kIneffective) ignore(one, true);
        for (const Ineffective& one : kIneffectiveSwitches) ignore(one, false);
    }
    std::vector<std::string> to_flags(std::vector<std::string> words) override {
        options_.words = words;
        return with_two_dashes(std::move(words));
    }
    std::optional<std::string> finish(const Flags&) override {
        return read_flags(written_, options_);
    }
    int run() override { return operate(options_); }

  private:
    WrittenFlags written_;
};

}  // namespace

std::unique_ptr<Verb> operator_verb() { return std::make_unique<OperatorVerb>(); }

}  // namespace muster::cli
