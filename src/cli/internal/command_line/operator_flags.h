#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/internal/operator/operator_options.h"

namespace CLI {
class App;
}

namespace muster::cli {

/// Flags of `muster operator` as written.
struct RawOperatorFlags {
    std::string config;
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

/// Its own flags, and those of training-operator v1 and mpi-operator under their names.
void add_operator_flags(CLI::App& app, OperatorOptions& options, RawOperatorFlags& raw);
/// Puts what was written into the options, and says what is wrong with it.
std::optional<std::string> take_apart(const RawOperatorFlags& raw, OperatorOptions& options);

/// Go's flags may have one dash ("-namespace ml"); ours have two.
std::vector<std::string> with_two_dashes(std::vector<std::string> words);

std::string_view operator_help();

}  // namespace muster::cli
