#include "cli/internal/prepare/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/internal/prepare/claim_check.h"
#include "cli/internal/prepare/entrypoint_file.h"
#include "cli/internal/prepare/machine_check.h"
#include "cli/internal/prepare/wait_check.h"
#include "control_plane/cluster_domain.h"
#include "kube/objects/pod.h"
#include "kube/values/json_access.h"
#include "manifest/fit.h"
#include "manifest/pod_specs.h"
#include "manifest/read_files.h"
#include "runtime/kept_below_tmp.h"
#include "runtime/node.h"

namespace muster::cli {

namespace {

manifest::Problem flag_problem(std::string flag, std::string message) {
    manifest::Problem problem;
    problem.source = std::move(flag);
    problem.message = std::move(message);
    return problem;
}

std::string absolute(const std::string& path, const std::string& base) {
    std::string text = (std::filesystem::path(base) / path).lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

/// What containers find here, with the mounts of the flags, which go into `prepared`, too.
Surroundings find_surroundings(const ManifestOptions& options, const control_plane::Caller& caller,
                               const control_plane::Machine& machine, Prepared& prepared) {
    using enum control_plane::Machine::FileKind;
    Surroundings around{prepared.working_dir,
                        caller.variable("PATH"),
                        {},
                        runtime::find_kept_below_tmp(caller.environment, prepared.working_dir)};
    for (const auto& [image, directory] : options.mounts) {
        std::string here = absolute(directory, caller.working_dir);
        const auto kind = machine.kind_of(here);
        if (!options.any_machine && kind != kDirectory && kind != kFile && kind != kProgram)
            prepared.problems.push_back(flag_problem(fmt::format("--mount {}={}", image, directory),
                                                     fmt::format("{} does not exist", here)));
        around.mounts.emplace_back(absolute(image, "/"), here);
        prepared.mounts[absolute(image, "/")] = here;
    }
    for (const auto& [claim, directory] : options.volumes) {
        std::string here = absolute(directory, caller.working_dir);
        if (!options.any_machine && machine.kind_of(here) != kDirectory)
            prepared.problems.push_back(
                flag_problem(fmt::format("--volume {}={}", claim, directory),
                             fmt::format("there is no directory {}", here)));
        prepared.claims[claim] = std::move(here);
    }
    return around;
}

/// A file as containers see it; empty if that is not known.
std::string script_text(const std::string& path, const Surroundings& around,
                        const control_plane::Machine& machine) {
    const std::string here = around.mounted(path).value_or(path);
    using enum control_plane::Machine::FileKind;
    const auto kind = machine.kind_of(here);
    if (kind != kFile && kind != kProgram) return {};
    Result<std::string> text = manifest::read_file(here);
    return text ? *std::move(text) : std::string();
}

template <class Item>
void append(std::vector<Item>& to, std::vector<Item> more) {
    std::ranges::move(more, std::back_inserter(to));
}

bool is_of_use(const kube::Entrypoints& known, std::vector<manifest::Document>& documents) {
    for (manifest::Document& document : documents)
        for (const manifest::PodSpecRef& pod : manifest::pod_specs(document))
            for (const manifest::ContainerRef& ref : manifest::containers(pod))
                if (!kube::has_words(kube::strings_at(*ref.container, "command")) &&
                    known.of(kube::string_at(*ref.container, "image")) != nullptr)
                    return true;
    return false;
}

/// The commands of images, from the file that is there.
void add_entrypoints(const ManifestOptions& options, const control_plane::Caller& caller,
                     std::vector<manifest::Document>& documents, manifest::Adjustments& adjustments,
                     Prepared& prepared) {
    auto entrypoints = find_entrypoints(options.entrypoints_file, caller);
    if (!entrypoints)
        return prepared.problems.push_back(
            flag_problem("--entrypoints", entrypoints.error().message()));
    if (!is_of_use(entrypoints->known, documents)) return;
    adjustments.entrypoints.add_missing(entrypoints->known);
    prepared.notices.push_back(
        fmt::format("containers without a command get those of {}", entrypoints->file));
}

/// Against this machine: what it has, how much of it, and where claims are.
void check_here(const ManifestOptions& options, const control_plane::Machine& machine,
                const Surroundings& around, Prepared& prepared) {
    MachineProblems found = check_machine(prepared.objects, machine, around);
    append(prepared.problems, std::move(found.always));
    prepared.problems_with_own_tmp = std::move(found.with_own_tmp);
    manifest::FitResult fitted = manifest::fit_requests(
        prepared.objects, {.cpus = machine.cpus(), .memory_bytes = machine.memory_bytes()},
        options.fit);
    append(prepared.problems, std::move(fitted.problems));
    append(prepared.notices, std::move(fitted.notices));
    if (options.cluster) return;
    ClaimPlan claims = plan_claims(prepared.objects, prepared.claims);
    append(prepared.problems, std::move(claims.problems));
    append(prepared.objects, std::move(claims.missing));
    append(prepared.notices, std::move(claims.notices));
}

}  // namespace

Prepared prepare(const ManifestOptions& options, const control_plane::Caller& caller,
                 const control_plane::Machine& machine) {
    manifest::Manifest manifest = manifest::read_manifest_files(
        options.files,
        options.recursive ? manifest::Directories::kRecursive : manifest::Directories::kFlat);
    std::vector<manifest::Document> documents = options.made;
    append(documents, std::move(manifest.documents));
    Prepared prepared;
    prepared.notices = options.notices;
    prepared.problems = std::move(manifest.problems);

    manifest::Adjustments adjustments = options.adjustments;
    prepared.working_dir = caller.working_dir;
    if (!adjustments.workdir.empty())
        prepared.working_dir = adjustments.workdir =
            absolute(adjustments.workdir, caller.working_dir);
    const Surroundings around = find_surroundings(options, caller, machine, prepared);
    const auto add = [&](std::vector<manifest::Problem> problems) {
        append(prepared.problems, std::move(problems));
    };
    if (!options.cluster) add_entrypoints(options, caller, documents, adjustments, prepared);
    if (!options.any_machine)
        adjustments.agent.text_of = [&](const std::string& path) {
            return script_text(absolute(path, prepared.working_dir), around, machine);
        };
    add(manifest::adjust(documents, adjustments));
    add(add_file_objects(documents, options.file_objects,
                         read_sources_below(caller.working_dir, [&caller](const std::string& name) {
                             return caller.variable(name);
                         })));
    if (Result<std::string> domain = control_plane::cluster_domain(caller))
        prepared.cluster_domain = *std::move(domain);
    else
        add({flag_problem(std::string(control_plane::kClusterDomainVariable),
                          domain.error().message())});
    manifest::CheckResult checked = manifest::check_documents(
        std::move(documents),
        {.strict = options.strict,
         .runs_here = !options.cluster && !options.any_machine,
         .files_apart = options.only_checks,
         .platform = {.node_program = options.any_machine ? std::string() : machine.own_program(),
                      .cluster_domain = prepared.cluster_domain,
                      .cluster = options.cluster,
                      .agent_tokens = !options.cluster,
                      .pods_reach_api = options.cluster}});
    add(std::move(checked.problems));
    prepared.objects = std::move(checked.objects);
    if (!options.any_machine) check_here(options, machine, around, prepared);
    add(check_waits(prepared.objects,
                    {.node = options.any_machine ? std::string() : runtime::NodeOptions().name,
                     .for_others = options.wait_for_others,
                     .only_checks = options.only_checks}));
    manifest::sort_problems(prepared.problems);
    manifest::sort_problems(prepared.problems_with_own_tmp);
    return prepared;
}

}  // namespace muster::cli
