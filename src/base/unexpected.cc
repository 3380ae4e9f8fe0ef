#include "base/unexpected.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

#include "base/check.h"
#include "base/log.h"
#include "base/rng.h"

namespace muster {

namespace {

std::atomic<bool> g_ends_process{false};

/// The first is random, so that ids of two runs of a program differ.
std::string next_id() {
    static std::atomic<std::uint64_t> next{Rng::from_system().next()};
    return fmt::format("{:08x}", next.fetch_add(1) & 0xffff'ffff);
}

std::string text_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an object that is not a standard exception";
    }
}

}  // namespace

std::string report_unexpected(std::string_view where, const std::exception_ptr& thrown) {
    if (g_ends_process) end_process_for(where, thrown);
    const std::string id = next_id();
    log::error("an internal error", {{"id", id}, {"where", where}, {"error", text_of(thrown)}});
    return fmt::format("an internal error; the log has it under the id {}", id);
}

void end_process_for(std::string_view where, const std::exception_ptr& thrown) {
    check_failed(std::string(where).c_str(), 0, "it threw", text_of(thrown).c_str());
}

UnexpectedEndsProcess::UnexpectedEndsProcess() : before_(g_ends_process.exchange(true)) {}

UnexpectedEndsProcess::~UnexpectedEndsProcess() { g_ends_process = before_; }

}  // namespace muster
