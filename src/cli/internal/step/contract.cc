#include "cli/internal/step/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/time/duration.h"
#include "cli/internal/step/entry_text.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace {

constexpr std::size_t kLongestName = 54;  ///< upstream's
constexpr int kMostWorkers = 10'000;
constexpr int kMostProcesses = 1024;
constexpr std::size_t kLongestVariables = std::size_t{1} << 20;

const std::vector<StepOption> kStepOptions = {
    {"cpu", "KFJ_TASK_RESOURCE_CPU"},
    {"memory", "KFJ_TASK_RESOURCE_MEMORY"},
    {"gpu", "KFJ_TASK_RESOURCE_GPU"},
    {"gpu-resource", "GPU_RESOURCE_NAME"},
    {"gpu-driver", "VGPU_DRIVE_TYPE"},
    {"rdma", "KFJ_TASK_RESOURCE_RDMA"},
    {"rdma-resource", "RDMA_RESOURCE_NAME"},
    {"node-selector", "KFJ_TASK_NODE_SELECTOR"},
    {"volumes", "KFJ_TASK_VOLUME_MOUNT"},
    {"timezone", ""},
    {"pull-secrets", "HUBSECRET"},
    {"pull-policy", "IMAGE_PULL_POLICY"},
    {"scheduler", "SCHEDULER"},
    {"priority-class", ""},
    {"gang", ""},
    {"queue", ""},
    {"topology", ""},
    {"host-network", ""},
    {"networks", ""},
    {"processes", ""},
    {"restart-policy", ""},
    {"clean-pod-policy", ""},
    {"backoff-limit", ""},
    {"deadline", "KFJ_TASK_TIMEOUT"},
    {"ttl", ""},
    {"at-end", ""},
    {"timeout", ""},
    {"stuck-after", ""},
    {"silent-after", ""},
    {"away-after", ""},
    {"stop-timeout", ""},
    {"replace-timeout", ""},
    {"push-metrics", ""},
};

std::string own_variable(std::string_view option) {
    std::string made = "MUSTER_STEP_";
    for (const char c : option)
        made += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return made;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// 32 bits of FNV-1a.
std::uint32_t hash_of(std::initializer_list<std::string_view> parts) {
    std::uint32_t hash = 2166136261u;
    for (const std::string_view part : parts) {
        for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
        hash = (hash ^ 0xffu) * 16777619u;  // no text has this byte: where a part ends counts
    }
    return hash;
}

/// Where a value came from, and the value.
struct Said {
    std::string where;
    std::string value;
};

class ContractReader {
  public:
    ContractReader(const StepWords& words, const std::vector<std::string>& environment)
        : words_(words) {
        for (const std::string& variable : environment) {
            const std::size_t equals = variable.find('=');
            if (equals != variable.npos)
                variables_.try_emplace(variable.substr(0, equals), variable.substr(equals + 1));
        }
    }

    Contract read(std::uint64_t random) {
        request().kind = step_kind(words_.kind);
        if (request().kind == nullptr) {
            problem("KIND",
                    fmt::format("\"{}\" is no kind of job: it is {}", words_.kind, kinds()));
            return std::move(contract_);
        }
        read_identity();
        read_program();
        read_size();
        read_devices();
        read_env();
        read_volumes();
        read_placement();
        read_policy();
        read_limits();
        read_push();
        read_name(random);
        return std::move(contract_);
    }

  private:
    StepRequest& request() { return contract_.request; }
    void problem(std::string where, std::string what) {
        contract_.problems.push_back({std::move(where), std::move(what)});
    }

    static std::string kinds() {
        std::string all;
        for (const StepKind& kind : step_kinds())
            all += (all.empty() ? "" : ", ") + std::string(kind.word);
        return all;
    }

    std::string variable(const std::string& name) const {
        const auto found = variables_.find(name);
        return found == variables_.end() ? "" : found->second;
    }
    /// The flag, else our variable, else the platform's.
    Said told(std::string_view option) const {
        if (const auto flag = words_.options.find(option);
            flag != words_.options.end() && !flag->second.empty())
            return {fmt::format("--{}", option), flag->second};
        const std::string own = own_variable(option);
        if (std::string value = variable(own); !value.empty()) return {own, std::move(value)};
        const auto row = std::ranges::find(kStepOptions, option, &StepOption::name);
        std::string platform(row == kStepOptions.end() ? "" : row->variable);
        if (platform.empty()) return {own, ""};
        std::string value = variable(platform);
        return {std::move(platform), std::move(value)};
    }

    std::int64_t number(const Said& told, std::int64_t fallback, std::int64_t least,
                        std::int64_t most) {
        if (told.value.empty()) return fallback;
        const std::optional<std::int64_t> value = whole_number(trimmed(told.value));
        if (value && *value >= least && *value <= most) return *value;
        problem(told.where,
                fmt::format("\"{}\" is no whole number from {} to {}", told.value, least, most));
        return fallback;
    }
    bool is_set(std::string_view option) {
        const Said said = told(option);
        const std::string_view value = said.value;
        if (value == "true" || value == "1" || value == "yes") return true;
        if (!value.empty() && value != "false" && value != "0" && value != "no")
            problem(said.where, fmt::format("\"{}\" is neither true nor false", value));
        return false;
    }
    std::string one_of(std::string_view option, std::vector<std::string_view> allowed) {
        const Said said = told(option);
        if (said.value.empty()) return std::string(allowed.front());
        if (std::ranges::find(allowed, said.value) != allowed.end()) return said.value;
        std::string all;
        for (const std::string_view one : allowed)
            all += (all.empty() ? "" : ", ") + std::string(one);
        problem(said.where, fmt::format("\"{}\" must be one of {}", said.value, all));
        return std::string(allowed.front());
    }
    std::optional<std::chrono::nanoseconds> time(std::string_view option) {
        const Said said = told(option);
        if (said.value.empty() || said.value == "0") return std::nullopt;
        const auto value = parse_duration(said.value);
        if (!value)
            problem(said.where, fmt::format("\"{}\" is no time such as 90s or 1h30m", said.value));
        return value;
    }

    /// A label whose value may be changed to fit: a name for people.
    void label(std::string_view key, const std::string& name, bool job, bool pods,
               std::string_view pod_key = {}) {
        std::string value = variable(name);
        if (value.empty()) return;
        if (!kube::label_value_problem(value).empty()) {
            std::string fits;
            for (const char c : value)
                fits += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'
                            ? c
                            : '-';
            fits.resize(std::min(fits.size(), kube::kMaxLabelName));
            while (!fits.empty() && std::isalnum(static_cast<unsigned char>(fits.back())) == 0)
                fits.pop_back();
            while (!fits.empty() && std::isalnum(static_cast<unsigned char>(fits.front())) == 0)
                fits.erase(0, 1);
            contract_.notices.push_back(fmt::format(
                "{}: \"{}\" can't be the value of a label; it is \"{}\" there", name, value, fits));
            value = std::move(fits);
        }
        if (job) request().job_labels[std::string(key)] = value;
        if (pods) request().pod_labels[std::string(pod_key.empty() ? key : pod_key)] = value;
    }
    /// One that jobs are found by.
    std::string identity(std::string_view key, const std::string& name) {
        std::string value = variable(name);
        if (value.empty()) return value;
        if (const std::string wrong = kube::label_value_problem(value); !wrong.empty()) {
            problem(name, fmt::format("\"{}\" can't be the value of a label, by which the job is "
                                      "found: {}",
                                      value, wrong));
            return {};
        }
        request().job_labels[std::string(key)] = value;
        request().pod_labels[std::string(key)] = value;
        return value;
    }
    void read_identity() {
        request().namespace_ =
            words_.namespace_.empty() ? variable("KFJ_NAMESPACE") : words_.namespace_;
        if (!request().namespace_.empty() && !kube::is_dns1123_label(request().namespace_))
            problem(words_.namespace_.empty() ? "KFJ_NAMESPACE" : "--namespace",
                    fmt::format("\"{}\" can't be the name of a namespace", request().namespace_));
        request().run_id = identity("run-id", "KFJ_RUN_ID");
        request().task_id = identity("task-id", "KFJ_TASK_ID");
        label("pipeline-id", "KFJ_PIPELINE_ID", true, true);
        label("pipeline-name", "KFJ_PIPELINE_NAME", true, true);
        label("task-name", "KFJ_TASK_NAME", true, true);
        label("run-username", "KFJ_RUNNER", true, true, "username");
        label("pipeline-username", "KFJ_CREATOR", true, false);
        if (const std::string project = variable("KFJ_TASK_PROJECT_NAME"); !project.empty())
            request().annotations["project"] = project;
        request().pod_labels["type"] = request().kind->type;
    }

    void read_program() {
        const StepKind& kind = *request().kind;
        request().command = words_.command;
        if (trimmed(words_.command).empty())
            problem("--command", "say what the pods run, as in --command 'python3 train.py'");
        request().image = words_.image.empty() ? variable("KFJ_TASK_IMAGES") : words_.image;
        if (trimmed(request().image).empty())
            problem("--image", "name the image of the pods, here or in KFJ_TASK_IMAGES");
        request().working_dir = words_.working_dir;
        if (words_.working_dir.empty() && !variable("KFJ_TASK_VOLUME_MOUNT").empty())
            request().working_dir = "/mnt/";  // upstream's default, where volumes are there
        request().workers = static_cast<int>(
            number({"--num_worker", words_.num_worker}, kind.workers, 1, kMostWorkers));
        request().servers =
            static_cast<int>(number({"--num_ps", words_.num_ps}, 0, 0, kMostWorkers));
        if (request().servers > 0 && kind.server_type.empty()) {
            problem("--num_ps", fmt::format("a job of {} has no parameter servers", kind.kind));
            request().servers = 0;
        }
        request().pull_policy = one_of("pull-policy", {"IfNotPresent", "Always", "Never"});
        std::string secrets = told("pull-secrets").value;
        if (secrets.empty() && !request().task_id.empty()) secrets = "hubsecret";
        for (const std::string_view secret : entries_of(secrets, ",")) {
            if (!kube::is_dns1123_subdomain(secret))
                problem(told("pull-secrets").where,
                        fmt::format("\"{}\" can't be the name of a Secret", secret));
            request().pull_secrets.emplace_back(secret);
        }
    }

    Size size(std::string_view option) {
        const Said said = told(option);
        Size made;
        if (trimmed(said.value).empty() || trimmed(said.value) == "0") return made;
        const std::string_view text = said.value;
        const std::size_t tilde = text.find('~');
        made.request = trimmed(text.substr(0, tilde));
        made.limit = tilde == text.npos ? made.request : trimmed(text.substr(tilde + 1));
        const Result<kube::Quantity> least = kube::Quantity::parse(std::string_view(made.request));
        const Result<kube::Quantity> most = kube::Quantity::parse(std::string_view(made.limit));
        if (!least || !most || least->is_negative() || *most < *least)
            problem(said.where, fmt::format("\"{}\" is no quantity such as 4, 500m or 8G, and no "
                                            "range such as 2~4",
                                            said.value));
        return made;
    }
    void read_size() {
        request().cpu = size("cpu");
        request().memory = size("memory");
        const std::string text = variable("DEFAULT_POD_RESOURCES");
        if (text.empty()) return;
        const std::optional<json::value> parsed = kube::read_json(text);
        const json::object* const resources = parsed ? parsed->if_object() : nullptr;
        if (resources == nullptr)
            return problem("DEFAULT_POD_RESOURCES",
                           "it must be a JSON object of resources and quantities");
        for (const auto& [name, value] : *resources) {
            const Result<kube::Quantity> quantity = kube::Quantity::parse(value);
            if (!quantity || quantity->is_negative() || !kube::label_key_problem(name).empty())
                problem("DEFAULT_POD_RESOURCES",
                        fmt::format("\"{}\" is no resource with a quantity", std::string(name)));
            else
                request().other_resources[std::string(name)] = quantity->to_string();
        }
    }

    void read_devices() {
        const GpuPlatform platform{.resource = told("gpu-resource").value,
                                   .driver = told("gpu-driver").value};
        if (Result<GpuRequest> gpu = read_gpu_text(told("gpu").value, platform))
            request().gpu = *std::move(gpu);
        else
            problem(told("gpu").where, gpu.error().message());
        request().rdma_devices = static_cast<int>(number(told("rdma"), 0, 0, 100'000));
        request().rdma_resource = told("rdma-resource").value;
        if (request().rdma_devices > 0 && request().rdma_resource.empty())
            problem(told("rdma-resource").where,
                    fmt::format("{} asks for RDMA devices: name their resource, as in rdma/hca",
                                told("rdma").where));
        for (const std::string& resource : {platform.resource, request().rdma_resource})
            if (!resource.empty() && !kube::label_key_problem(resource).empty())
                problem(
                    told(resource == platform.resource ? "gpu-resource" : "rdma-resource").where,
                    fmt::format("\"{}\" can't be the name of a resource", resource));
        const bool whole = request().gpu.mode == GpuRequest::Mode::kWhole;
        request().processes_per_worker = static_cast<int>(
            number(told("processes"), whole ? request().gpu.devices : 1, 1, kMostProcesses));
    }

    /// Those that tune communication are meant for the pods, whoever has set them.
    void read_env() {
        std::map<std::string, std::string> env = {
            {"NCCL_DEBUG", "INFO"}, {"GPU_NUM", fmt::format("{}", request().gpu.devices)}};
        if (request().gpu.mode == GpuRequest::Mode::kNone) env["NVIDIA_VISIBLE_DEVICES"] = "none";
        for (const auto& [name, value] : variables_)
            if (name.starts_with("NCCL_") || name.starts_with("UCX_")) env[name] = value;
        for (const std::string& given : words_.env) {
            const std::size_t equals = given.find('=');
            if (equals == given.npos || !kube::is_env_name(given.substr(0, equals)))
                problem("--env", fmt::format("\"{}\" is no NAME=VALUE", given));
            else
                env[given.substr(0, equals)] = given.substr(equals + 1);
        }
        std::size_t bytes = 0;
        for (auto& [name, value] : env) {
            bytes += name.size() + value.size();
            request().env.emplace_back(name, value);
        }
        if (bytes > kLongestVariables)
            problem("--env", "all variables together are longer than 1 MiB");
    }

    void read_volumes() {
        VolumeSettings settings{.user = variable("KFJ_CREATOR"),
                                .time_zone = told("timezone").value};
        if (settings.time_zone.empty()) settings.time_zone = "Asia/Shanghai";
        if (settings.time_zone == "none") settings.time_zone.clear();
        if (settings.time_zone.contains("..") || settings.time_zone.starts_with('/'))
            problem(told("timezone").where,
                    fmt::format("\"{}\" is no time zone such as Europe/Berlin, and not none",
                                settings.time_zone));
        if (Result<VolumePlan> plan = read_volume_text(told("volumes").value, settings))
            request().volumes = *std::move(plan);
        else
            problem(told("volumes").where, plan.error().message());
    }

    /// "gpu=train:NoSchedule", "gpu:NoSchedule", "gpu"; "*" tolerates everything.
    void read_toleration(const std::string& where, std::string_view text) {
        constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
        const std::size_t colon = text.rfind(':');
        const std::string_view effect = colon == text.npos ? "" : trimmed(text.substr(colon + 1));
        std::string_view taint = trimmed(text.substr(0, colon));
        json::object made;
        if (!effect.empty()) made["effect"] = effect;
        const bool known =
            effect.empty() || std::ranges::find(kEffects, effect) != std::end(kEffects);
        const std::size_t equals = taint.find('=');
        made["operator"] = equals == taint.npos ? "Exists" : "Equal";
        if (equals != taint.npos) made["value"] = trimmed(taint.substr(equals + 1));
        taint = trimmed(taint.substr(0, equals));
        if (taint != "*") made["key"] = taint;
        if (!known || (taint != "*" && !kube::label_key_problem(taint).empty()))
            return problem(where, fmt::format("\"{}\" is no KEY[=VALUE][:EFFECT], with the effect "
                                              "NoSchedule, PreferNoSchedule or NoExecute",
                                              text));
        request().tolerations.emplace_back(std::move(made));
    }
    void read_placement() {
        if (Result<NodeChoice> nodes = read_selector_text(told("node-selector").value))
            request().nodes = *std::move(nodes);
        else
            problem(told("node-selector").where, nodes.error().message());
        if (!request().gpu.type.empty()) request().nodes.labels["gpu-type"] = request().gpu.type;
        for (const std::string& text : words_.tolerations) read_toleration("--toleration", text);
        const std::string own = own_variable("tolerations");
        const std::string tolerations = variable(own);
        if (words_.tolerations.empty())
            for (const std::string_view text : entries_of(tolerations, ",;\n"))
                read_toleration(own, text);
        request().gang = is_set("gang");
        request().queue = told("queue").value;
        request().scheduler = told("scheduler").value;
        request().priority_class = told("priority-class").value;
        request().host_network = is_set("host-network");
        request().networks = told("networks").value;
        const std::string topology = one_of("topology", {"spread", "pack", "any"});
        request().topology = topology == "pack"  ? Topology::kPack
                             : topology == "any" ? Topology::kAnywhere
                                                 : Topology::kSpread;
        for (const char* option : {"scheduler", "priority-class"})
            if (const Said said = told(option);
                !said.value.empty() && !kube::is_dns1123_subdomain(said.value))
                problem(said.where, fmt::format("\"{}\" can't be a name", said.value));
    }

    void read_policy() {
        request().restart_policy =
            one_of("restart-policy", {"Never", "OnFailure", "ExitCode", "Always"});
        request().clean_pod_policy = one_of("clean-pod-policy", {"Running", "All", "None"});
        request().backoff_limit = static_cast<int>(number(
            told("backoff-limit"), request().workers, 0, std::numeric_limits<std::int32_t>::max()));
        const auto seconds = [this](std::string_view option) -> std::optional<std::int64_t> {
            const auto value = time(option);
            if (!value) return std::nullopt;
            return std::max<std::int64_t>(1,
                                          std::chrono::ceil<std::chrono::seconds>(*value).count());
        };
        request().deadline_seconds = seconds("deadline");
        request().ttl_seconds = seconds("ttl");
        const std::string at_end = one_of("at-end", {"keep", "delete", "delete-succeeded"});
        request().at_end = at_end == "delete"             ? AtEnd::kDelete
                           : at_end == "delete-succeeded" ? AtEnd::kDeleteIfSucceeded
                                                          : AtEnd::kKeep;
    }

    void read_limits() {
        StepLimits& limits = request().limits;
        limits.timeout = time("timeout");
        limits.stuck_after = time("stuck-after");
        limits.silent_after = time("silent-after");
        limits.away_after = time("away-after").value_or(limits.away_after);
        limits.stop_timeout = time("stop-timeout").value_or(limits.stop_timeout);
        limits.replace_timeout = time("replace-timeout").value_or(limits.replace_timeout);
    }

    void read_push() {
        const Said said = told("push-metrics");
        if (said.value.empty()) return;
        if (said.value.contains('@'))  // not told: it may have a password
            return problem(said.where,
                           "the address has a user in it, which this step can't show to a "
                           "Pushgateway; name one that asks for none");
        Result<kube::ServerUrl> url = kube::parse_server_url(said.value, false);
        if (url)
            request().push_metrics = *std::move(url);
        else
            problem(said.where, fmt::format("\"{}\" is no address of a Pushgateway, such as "
                                            "http://pushgateway:9091: {}",
                                            said.value, url.error().message()));
    }

    /// Of what follows the job's name in those of its pods.
    std::size_t longest_suffix() {
        const StepRequest& job = request();
        std::vector<std::pair<std::string_view, int>> types = {{"worker", job.workers}};
        if (job.servers > 0) types.emplace_back(job.kind->server_type, job.servers);
        if (job.kind->shape == Shape::kMaster) types.emplace_back("master", 1);
        if (job.kind->shape == Shape::kScheduler) types.emplace_back("scheduler", 1);
        if (job.kind->shape == Shape::kLauncher) types.emplace_back("launcher", 1);
        std::size_t longest = 0;
        for (const auto& [type, count] : types)
            longest = std::max(longest, fmt::format("-{}-{}", type, count - 1).size());
        return longest;
    }
    void read_name(std::uint64_t random) {
        const std::size_t longest = std::min(kLongestName, kube::kMaxLabelName - longest_suffix());
        StepRequest& job = request();
        const bool known = !job.run_id.empty() && !job.task_id.empty();
        const std::uint32_t hash = known ? hash_of({job.kind->word, job.run_id, job.task_id})
                                         : static_cast<std::uint32_t>(random);
        job.name = words_.name;
        if (job.name.empty())
            job.name =
                step_job_name(job.kind->prefix, variable("KFJ_PIPELINE_NAME"), hash, longest);
        else if (!kube::is_dns1035_label(job.name) || job.name.size() > longest)
            problem("--name", fmt::format("\"{}\" can't be the name of a job: it has lower-case "
                                          "letters, digits and '-', begins with a letter, and has "
                                          "at most {} characters here, so that its pods have names",
                                          job.name, longest));
        job.pod_labels["component"] = job.name;
    }

    const StepWords& words_;
    std::map<std::string, std::string> variables_;
    Contract contract_;
};

}  // namespace

const std::vector<StepOption>& step_options() { return kStepOptions; }

std::string step_job_name(std::string_view prefix, std::string_view pipeline, std::uint32_t hash,
                          std::size_t longest) {
    std::string name(prefix);
    for (const char c : pipeline) {
        const auto letter = static_cast<unsigned char>(c);
        if (name.size() == prefix.size()) name += '-';
        const bool fits = letter < 0x80 && std::isalnum(letter) != 0;
        const char made = fits ? static_cast<char>(std::tolower(letter)) : '-';
        if (made != '-' || name.back() != '-') name += made;
    }
    const std::string end = fmt::format("-{:08x}", hash);
    name.resize(std::min(name.size(), longest - end.size()));
    while (name.ends_with('-')) name.pop_back();
    return name + end;
}

Contract read_contract(const StepWords& words, const std::vector<std::string>& environment,
                       std::uint64_t random) {
    return ContractReader(words, environment).read(random);
}

}  // namespace muster::cli
