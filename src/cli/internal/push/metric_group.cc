#include "cli/internal/push/metric_group.h"

#include <fmt/format.h>

#include <iterator>

namespace muster::cli {

namespace {

using Out = std::back_insert_iterator<std::string>;

void describe_metric(std::string& text, std::string_view name, std::string_view help) {
    fmt::format_to(Out(text), "# HELP muster_step_{0} {1}\n# TYPE muster_step_{0} gauge\n", name,
                   help);
}

void put_metric(std::string& text, std::string_view name, std::string_view help, double value) {
    describe_metric(text, name, help);
    fmt::format_to(Out(text), "muster_step_{} {}\n", name, value);
}

std::string label_text(std::string_view value) {
    std::string made;
    for (const char c : value) {
        if (c == '\\' || c == '"') made += '\\';
        if (c == '\n')
            made += "\\n";
        else
            made += c;
    }
    return made;
}

/// A segment of a path.
std::string segment(std::string_view value) {
    std::string made;
    for (const char c : value) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        if (plain)
            made += c;
        else
            fmt::format_to(Out(made), "%{:02X}", static_cast<unsigned char>(c));
    }
    return made;
}

}  // namespace

std::string group_path(const MetricLabels& group) {
    std::string path = "/metrics";
    for (const auto& [name, value] : group)
        if (!value.empty()) path += fmt::format("/{}/{}", name, segment(value));
    return path;
}

std::string metrics_text(const JobMetrics& metrics, const MetricLabels& about) {
    std::string text;
    describe_metric(text, "job_state", "Whether the job of the step is in this state.");
    for (const std::string_view state : kJobStates)
        fmt::format_to(Out(text), "muster_step_job_state{{state=\"{}\"}} {}\n", state,
                       state == metrics.state ? 1 : 0);
    put_metric(text, "wait_seconds", "From the job's creation until it first ran.",
               metrics.wait_seconds);
    put_metric(text, "run_seconds", "From when it first ran to its end.", metrics.run_seconds);
    put_metric(text, "restarts", "Restarts of the job's containers and pods.", metrics.restarts);
    if (metrics.exit_code)
        put_metric(text, "exit_code", "The exit code of the step, which tells the cause.",
                   *metrics.exit_code);
    describe_metric(text, "info", "What the step is. Its pods have the same values as labels.");
    std::string labels;
    for (const auto& [name, value] : about)
        if (!value.empty())
            fmt::format_to(Out(labels), "{}{}=\"{}\"", labels.empty() ? "" : ",", name,
                           label_text(value));
    return fmt::format("{}muster_step_info{{{}}} 1\n", text, labels);
}

}  // namespace muster::cli
