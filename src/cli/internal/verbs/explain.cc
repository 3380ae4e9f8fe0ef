#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/explain/field_page.h"
#include "cli/internal/explain/job_explanation.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/machine.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

int refuse(const std::string& message) {
    fmt::print(stderr, "muster explain: {}\n", message);
    return 2;
}

int explain_path(const ExplainOptions& options) {
    const auto page =
        field_page(kinds_with_fields(), options.path, options.api_version, options.recursive);
    if (!page) return refuse(page.error().message());
    print(*page);
    return 0;
}

/// The jobs of the files as this machine would run them, or a cluster whose operator has an image
/// to give.
std::vector<jobs::Job> jobs_of(const Prepared& prepared, const std::string& image) {
    std::vector<jobs::Job> found;
    for (const manifest::CheckedObject& object : prepared.objects) {
        if (!object.job) continue;
        found.push_back(*object.job);
        jobs::Site& site = found.back().site;
        site.program_image = image;
        site.node_program = image.empty() ? control_plane::own_program() : std::string();
        site.cluster = !image.empty();
    }
    return found;
}

Result<std::string> text_of(const std::vector<jobs::Job>& jobs, const std::string& rank) {
    std::string out;
    for (const jobs::Job& job : jobs) {
        const auto replica = find_rank(job, rank);
        if (!rank.empty() && !replica) continue;
        if (!out.empty()) out += '\n';
        if (replica) {
            TRY(const ExplainedPod pod, explain_pod(job, *replica));
            out += explanation_text(job, pod);
        } else {
            TRY(const std::string text, explanation_text(job));
            out += text;
        }
    }
    return out;
}

Result<std::string> objects_of(const std::vector<jobs::Job>& jobs, const ExplainOptions& options) {
    std::vector<json::value> all;
    for (const jobs::Job& job : jobs) {
        const auto replica = find_rank(job, options.rank);
        if (!options.rank.empty() && !replica) continue;
        TRY(json::value one, explanation_json(job, replica));
        all.push_back(std::move(one));
    }
    if (options.output == OutputFormat::kYaml) return print_objects(all, OutputFormat::kYaml);
    return all.size() == 1 ? manifest::to_pretty_json(all.front())
                           : manifest::to_pretty_json(json::array(all.begin(), all.end()));
}

std::string no_such_rank(const std::vector<jobs::Job>& jobs, const std::string& rank) {
    std::string known;
    for (const jobs::Job& job : jobs)
        for (const jobs::ReplicaType& type : job.kind->replica_types) {
            const jobs::ReplicaSpec* spec = job.replica(type.name);
            const std::int32_t count = spec == nullptr ? 0 : spec->replicas.value_or(0);
            if (count == 0) continue;
            known += (known.empty() ? "" : ", ") + rank_name(*job.kind, {type.name, 0});
            if (count > 1) known += " to " + rank_name(*job.kind, {type.name, count - 1});
        }
    return fmt::format("there is no rank \"{}\"; there are {}", rank, known);
}

int explain_files(const ExplainOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    ManifestOptions manifest;
    manifest.files = options.files;
    manifest.any_machine = true;
    const Prepared prepared =
        prepare(manifest, caller, *control_plane::make_real_machine(caller.environment));
    for (const manifest::Problem& problem : prepared.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(prepared.problems))
        return refuse(manifest::count_problems(prepared.problems));
    const std::vector<jobs::Job> jobs = jobs_of(prepared, options.in_pods_image);
    if (jobs.empty()) return refuse("the files hold no job");
    const auto text = options.output == OutputFormat::kNone ? text_of(jobs, options.rank)
                                                            : objects_of(jobs, options);
    if (!text) return refuse(text.error().message());
    const bool found = options.rank.empty() || std::ranges::any_of(jobs, [&](const jobs::Job& job) {
                           return find_rank(job, options.rank).has_value();
                       });
    if (!found) return refuse(no_such_rank(jobs, options.rank));
    print(*text);
    return 0;
}

}  // namespace

int explain(const ExplainOptions& options) {
    return options.path.empty() ? explain_files(options) : explain_path(options);
}

}  // namespace muster::cli
