#include "runtime/internal/lifecycle/check_runner.h"

#include "base/time/time_limit.h"

namespace muster::runtime {

namespace {

std::string describe(const Handler& handler) {
    if (const auto* exec = std::get_if<ExecCheck>(&handler))
        return fmt::format("command \"{}\"", fmt::join(exec->command, " "));
    if (const auto* http = std::get_if<HttpCheck>(&handler))
        return fmt::format("GET {} at port {}", http->path, http->port);
    if (const auto* tcp = std::get_if<TcpCheck>(&handler))
        return fmt::format("connecting to port {}", tcp->port);
    return "sleep";
}

}  // namespace

Task<CheckResult> CheckRunner::run(Handler handler, std::string pod_ip,
                                   std::optional<Duration> limit, Exec exec) {
    if (!limit) co_return co_await run_handler(std::move(handler), std::move(pod_ip), exec);
    const std::string what = describe(handler);
    auto ended =
        co_await within(clock_, *limit, run_handler(std::move(handler), std::move(pod_ip), exec));
    if (ended) co_return *std::move(ended);
    co_return CheckResult{
        .success = false,
        .output = fmt::format("{} timed out after {}s", what,
                              std::chrono::duration_cast<std::chrono::seconds>(*limit).count())};
}

Task<CheckResult> CheckRunner::run_handler(Handler handler, std::string pod_ip, Exec exec) {
    if (auto* command = std::get_if<ExecCheck>(&handler))
        co_return co_await exec(std::move(command->command));
    if (auto* http = std::get_if<HttpCheck>(&handler)) {
        if (http->host.empty()) http->host = std::move(pod_ip);
        co_return co_await check_http(executor_, open_, std::move(*http));
    }
    if (auto* tcp = std::get_if<TcpCheck>(&handler)) {
        if (tcp->host.empty()) tcp->host = std::move(pod_ip);
        co_return co_await check_tcp(executor_, open_, std::move(*tcp));
    }
    co_await clock_.sleep_for(std::get<SleepCheck>(handler).duration);
    co_return CheckResult{.success = true, .output = {}};
}

}  // namespace muster::runtime
