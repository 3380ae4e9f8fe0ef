#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/prepare/prepare.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

int validate(const ValidateOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    Prepared prepared =
        prepare(options.manifest, caller, *control_plane::make_real_machine(caller.environment));
    for (const manifest::Problem& problem : prepared.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(prepared.problems)) {
        fmt::print(stderr, "muster validate: {}\n", manifest::count_problems(prepared.problems));
        return 2;
    }
    if (options.quiet) return 0;
    for (const std::string& notice : prepared.notices) fmt::print("note: {}\n", notice);
    for (const manifest::CheckedObject& object : prepared.objects) {
        std::string name =
            object.namespace_.empty() ? object.name : object.namespace_ + "/" + object.name;
        std::string pods = object.job ? fmt::format(", {} pods", object.job->total_replicas()) : "";
        fmt::print("{}: {} {} is valid{}\n", object.document.source, object.type.kind, name, pods);
    }
    return 0;
}

}  // namespace muster::cli
