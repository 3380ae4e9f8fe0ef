#include "kube/internal/client_config/exec_plugin.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>

#include "base/async/run_to_end.h"
#include "kube/client_config/environment.h"

namespace muster::kube {

namespace {

// More than any token or chain of certificates.
constexpr std::size_t kMostPrinted = std::size_t{1} << 20;

ChildProcess::Options options_of(const PluginCall& call) {
    ChildProcess::Options options;
    options.arguments = {call.plugin.command};
    options.arguments.insert(options.arguments.end(), call.plugin.arguments.begin(),
                             call.plugin.arguments.end());
    options.environment = call.environment;
    for (const auto& [name, value] : call.plugin.environment)
        set_variable(options.environment, name, value);
    set_variable(options.environment, "KUBERNETES_EXEC_INFO", call.info);
    options.ties = call.ties;
    return options;
}

Error failed_to_start(const PluginCall& call, const Error& why) {
    return Error(why.code(), fmt::format("the exec plugin {} of user \"{}\" can't be run: {}{}{}",
                                         call.plugin.command, call.user, why.message(),
                                         call.plugin.install_hint.empty() ? "" : ". ",
                                         call.plugin.install_hint));
}

}  // namespace

Task<Result<ExecCredential>> run_exec_plugin(PluginCall call) {
    Result<std::unique_ptr<ChildProcess>> child =
        ChildProcess::start(co_await asio::this_coro::executor, options_of(call));
    if (!child) co_return failed_to_start(call, child.error());
    const std::string printed = co_await (*child)->output(kMostPrinted);
    if (printed.size() >= kMostPrinted)
        co_return Error(Code::kUnauthorized,
                        fmt::format("the exec plugin {} of user \"{}\" prints without an end",
                                    call.plugin.command, call.user));
    const ChildProcess::End end = co_await (*child)->ended();
    if (end.killed || end.number != 0)
        co_return Error(
            Code::kUnauthorized,
            fmt::format("the exec plugin {} of user \"{}\" failed with {} {}", call.plugin.command,
                        call.user, end.killed ? "signal" : "status", end.number));
    co_return parse_exec_credential(call.plugin, printed);
}

Result<ExecCredential> run_exec_plugin_now(PluginCall call) {
    asio::io_context loop(1);
    return run_to_end(loop, run_exec_plugin(std::move(call)));
}

}  // namespace muster::kube
