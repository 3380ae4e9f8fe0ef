#include "cli/internal/simulate/simulation_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/internal/prepare/prepare.h"
#include "control_plane/daemon/caller.h"
#include "kube/schema/schema.h"
#include "manifest/known_kinds.h"
#include "manifest/read_files.h"
#include "sim/builtin_scenarios.h"

namespace muster::cli {

namespace {

/// For a job whose manifest does not say what its containers do.
constexpr sim::DurationRange kStartDelay{std::chrono::seconds(1), std::chrono::seconds(3)};
constexpr sim::DurationRange kRunTime{std::chrono::seconds(30), std::chrono::seconds(60)};
constexpr std::chrono::hours kDuration{3};

manifest::Problem problem_of(std::string source, std::string message) {
    manifest::Problem problem;
    problem.source = std::move(source);
    problem.message = std::move(message);
    return problem;
}

const sim::BuiltinScenario* find_builtin(std::string_view name) {
    for (const sim::BuiltinScenario& scenario : sim::builtin_scenarios())
        if (scenario.name == name) return &scenario;
    return nullptr;
}

/// The text of a file, or of the scenario that comes with the program.
Result<std::string> text_of(const std::string& name) {
    const sim::BuiltinScenario* builtin = find_builtin(name);
    std::error_code ignored;
    if (builtin != nullptr && !std::filesystem::exists(name, ignored))
        return std::string(builtin->text);
    return manifest::read_file(name);
}

std::string unknown(const std::string& name, const Error& error) {
    std::vector<std::string> names;
    for (const sim::BuiltinScenario& scenario : sim::builtin_scenarios())
        names.emplace_back(scenario.name);
    const std::string near = kube::nearest_name(name, names);
    return fmt::format("{}, and no scenario has that name; {}", error.message(),
                       near.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean {}?", near));
}

/// A path says that it is no name.
bool may_be_a_name(std::string_view word) { return word.find_first_of("/.") == word.npos; }

/// A world has the namespace `default`; those of the manifests, or that they name, are made before
/// anything in them.
void add_namespaces(const std::vector<manifest::CheckedObject>& objects, sim::Scenario& scenario) {
    std::set<std::string> there{"", "default"};
    for (const manifest::CheckedObject& checked : objects)
        if (checked.type == kube::types::kNamespaces && there.insert(checked.name).second)
            scenario.manifests.push_back(checked.document.object.as_object());
    for (const manifest::CheckedObject& checked : objects)
        if (checked.type.namespaced && there.insert(checked.namespace_).second)
            scenario.manifests.push_back(
                json::object{{"apiVersion", "v1"},
                             {"kind", "Namespace"},
                             {"metadata", json::object{{"name", checked.namespace_}}}});
}

/// Whether a document says that it is an object of the API.
bool is_object(const manifest::Document& document) {
    const json::object* object = document.object.if_object();
    return object != nullptr && (object->contains("kind") || object->contains("apiVersion"));
}

void add_causes(const manifest::Document& document, const Error& error,
                std::vector<manifest::Problem>& problems) {
    for (const Cause& cause : error.causes())
        problems.push_back(
            cause.reason == sim::kUnknownField
                ? document.key_problem(manifest::Severity::kError, cause.field, cause.message)
                : document.problem(manifest::Severity::kError, cause.field, cause.message));
}

void add_faults(const std::string& name, SimulationInput& input) {
    Result<std::string> text = text_of(name);
    if (!text) {
        input.problems.push_back(problem_of("--faults " + name, may_be_a_name(name)
                                                                    ? unknown(name, text.error())
                                                                    : text.error().message()));
        return;
    }
    manifest::Manifest manifest = manifest::read_manifest(*text, name);
    std::ranges::move(manifest.problems, std::back_inserter(input.problems));
    for (const manifest::Document& document : manifest.documents)
        if (Result<void> added = sim::add_faults(input.scenario, document.object); !added)
            add_causes(document, added.error(), input.problems);
}

SimulationInput read_manifests(const SimulateOptions& options) {
    SimulationInput input;
    ManifestOptions manifests;
    manifests.files = options.files;
    manifests.adjustments = options.adjustments;
    manifests.strict = options.strict;
    manifests.any_machine = true;
    const control_plane::Caller caller = control_plane::current_caller();
    Prepared prepared =
        prepare(manifests, caller, *control_plane::make_real_machine(caller.environment));
    input.problems = std::move(prepared.problems);
    bool jobs = false;
    add_namespaces(prepared.objects, input.scenario);
    for (manifest::CheckedObject& checked : prepared.objects) {
        jobs |= checked.job.has_value();
        if (checked.type == kube::types::kNamespaces) continue;
        // What is simulated are jobs and what their pods use.
        const manifest::Lookup kind =
            manifest::look_up(checked.type.api_version(), checked.type.kind);
        if (kind.known == nullptr || !kind.known->listed) continue;
        input.scenario.manifests.push_back(checked.document.object.as_object());
    }
    if (!jobs && !manifest::has_errors(input.problems))
        input.problems.push_back(problem_of(options.files.front(), "there is no job in it"));
    input.scenario.duration = kDuration;
    input.scenario.faults_until = {};
    input.scenario.pods = {.start_delay = kStartDelay,
                           .run_time = kRunTime,
                           .stop_time = {},
                           .exits = {},
                           .never_starts = 0,
                           .runs_forever = 0};
    return input;
}

}  // namespace

std::string fault_list() {
    std::string text;
    for (const sim::BuiltinScenario& builtin : sim::builtin_scenarios()) {
        const SimulationInput input = read_scenario_text(builtin.text, std::string(builtin.name));
        // Agents alone have faults of their own, and no pods for those of others.
        if (!input.scenario.agents_alone)
            text += fmt::format("{:<14} {}\n", builtin.name, input.scenario.description);
    }
    return text;
}

SimulationInput read_scenario_text(std::string_view text, const std::string& source) {
    SimulationInput input;
    input.is_scenario = true;
    manifest::Manifest manifest = manifest::read_manifest(text, source);
    input.problems = std::move(manifest.problems);
    if (manifest.documents.size() != 1) {
        if (input.problems.empty())
            input.problems.push_back(problem_of(source, "a scenario is one document"));
        return input;
    }
    const manifest::Document& document = manifest.documents.front();
    Result<sim::Scenario> scenario = sim::read_scenario(document.object);
    if (scenario)
        input.scenario = *std::move(scenario);
    else
        add_causes(document, scenario.error(), input.problems);
    return input;
}

SimulationInput read_simulation_input(const SimulateOptions& options) {
    SimulationInput input;
    const std::string& first = options.files.front();
    Result<std::string> text = first == "-" ? Result<std::string>(std::string()) : text_of(first);
    if (!text) {
        input.problems.push_back(problem_of(
            first, may_be_a_name(first) ? unknown(first, text.error()) : text.error().message()));
        return input;
    }
    const manifest::Manifest manifest = manifest::read_manifest(*text, first);
    const bool scenario = first != "-" && options.files.size() == 1 &&
                          !manifest.documents.empty() &&
                          std::ranges::none_of(manifest.documents, is_object);
    input = scenario ? read_scenario_text(*text, first) : read_manifests(options);
    if (scenario && !options.manifest_flags.empty())
        input.problems.push_back(
            problem_of(first, fmt::format("{} is for manifests, and a scenario says itself what is "
                                          "played: leave it out",
                                          options.manifest_flags.front())));
    const bool alone = input.scenario.agents_alone.has_value();
    if (alone && (!options.faults.empty() || options.duration))
        input.problems.push_back(
            problem_of(first,
                       "agents alone have times and faults of their own: leave out --faults "
                       "and --duration"));
    if (!options.faults.empty() && !alone) {
        if (!scenario) input.scenario.faults_until = std::chrono::minutes(20);
        add_faults(options.faults, input);
    }
    if (!scenario) {
        input.scenario.duration = input.scenario.faults_until + kDuration;
        // A job that does not end is not a mistake of the operator here: its state shows it.
        input.scenario.except.emplace_back("ends");
    }
    if (options.nodes) {
        input.scenario.nodes = *options.nodes;
        if (alone) input.scenario.agents_alone->nodes = {*options.nodes, *options.nodes};
    }
    if (options.duration) {
        input.scenario.duration = *options.duration;
        input.scenario.faults_until =
            std::min<Duration>(input.scenario.faults_until, input.scenario.duration);
    }
    manifest::sort_problems(input.problems);
    return input;
}

}  // namespace muster::cli
