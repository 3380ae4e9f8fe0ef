#include "apiserver_http/internal/streams/command_options.h"

#include "apiserver/requests/pod_containers.h"
#include "apiserver/requests/request_options.h"

namespace muster::apiserver_http {

namespace {

/// The outputs are connected unless they are refused.
bool output_flag(const kube::Request& request, std::string_view key) {
    const bool named = std::ranges::any_of(
        request.query, [key](const auto& parameter) { return parameter.first == key; });
    return !named || apiserver::query_flag(request, key);
}

}  // namespace

apiserver::StatusResult<kube::CommandOptions> command_options(const kube::Request& request,
                                                              const json::object& pod,
                                                              bool with_command) {
    kube::CommandOptions options;
    TRY(options.container,
        apiserver::choose_container(std::string(request.query_value("container")), pod));
    options.input = apiserver::query_flag(request, "stdin");
    options.output = output_flag(request, "stdout");
    options.terminal = apiserver::query_flag(request, "tty");
    // A terminal has one output.
    options.error = !options.terminal && output_flag(request, "stderr");
    if (!options.input && !options.output && !options.error)
        return apiserver::bad_request("you must specify at least 1 of stdin, stdout, stderr");
    if (!with_command) return options;
    for (const auto& [key, value] : request.query)
        if (key == "command") options.command.push_back(value);
    if (options.command.empty() || options.command[0].empty())
        return apiserver::bad_request("you must specify at least one command for the container");
    return options;
}

}  // namespace muster::apiserver_http
