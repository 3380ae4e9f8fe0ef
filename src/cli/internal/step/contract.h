#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/step/step_request.h"

namespace muster::cli {

/// What a step is told by its arguments, as written; empty: not said. The first ones are those of
/// cube-studio's templates.
struct StepWords {
    std::string kind;
    std::string working_dir;
    std::string command;
    std::string image;
    std::string num_worker;
    std::string num_ps;
    std::string namespace_;
    std::string name;
    std::vector<std::string> env;          ///< NAME=VALUE
    std::vector<std::string> tolerations;  ///< KEY[=VALUE][:EFFECT]
    /// Options that may also be variables, by the name of the option: "rdma" stands for --rdma and
    /// MUSTER_STEP_RDMA.
    std::map<std::string, std::string, std::less<>> options;
};

/// An option of `muster step` that may be given as a variable, too.
struct StepOption {
    std::string_view name;      ///< "priority-class"
    std::string_view variable;  ///< of the platform, if it has one; may be empty
};
const std::vector<StepOption>& step_options();

/// Something that is wrong with what the step was told.
struct StepProblem {
    std::string where;  ///< the variable or the flag
    std::string what;

    friend bool operator==(const StepProblem&, const StepProblem&) = default;
};

struct Contract {
    StepRequest request;                ///< complete only without problems
    std::vector<StepProblem> problems;  ///< all of them
    std::vector<std::string> notices;   ///< what was changed to fit
};

/// From the arguments, and all variables as "NAME=VALUE", of which those for NCCL and UCX are passed
/// on. `random` is the end of the job's name where the run or the task is not known. Pure.
Contract read_contract(const StepWords& words, const std::vector<std::string>& environment,
                       std::uint64_t random);

/// A name of at most `longest` characters that ends with `hash`, whatever is cut. Pure.
std::string step_job_name(std::string_view prefix, std::string_view pipeline, std::uint32_t hash,
                          std::size_t longest);

}  // namespace muster::cli
