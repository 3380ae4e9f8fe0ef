#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/internal/record/run_record.h"

namespace muster::cli {

/// Where to tell of a run's end: an http or https URL.
struct NotificationUrl {
    bool tls = true;
    std::string host;  ///< an IPv6 address without its brackets
    std::uint16_t port = 443;
    std::string authority;  ///< as in the Host field
    std::string target;     ///< path and query

    friend bool operator==(const NotificationUrl&, const NotificationUrl&) = default;
};

// Pure.

/// Whether --notify names a URL; anything else is a command.
bool is_notification_url(std::string_view text);
/// kInvalid: it is not well-formed, or has a user or a fragment.
Result<NotificationUrl> notification_url(std::string_view text);

/// A JSON object: `text`, which chat services show, and the same for programs. `machine`: its name.
/// The run has ended.
std::string notification_body(const RunRecord& record, std::string_view machine);

}  // namespace muster::cli
