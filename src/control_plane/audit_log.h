#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apiserver_http/audit.h"
#include "base/result.h"
#include "control_plane/audit_log_limits.h"

namespace muster::control_plane {

/// The audit log in a file that only its user may read (0600). Each line is either completely in it
/// or not at all. Lines that can't be written are counted, and muster's own log reports when that
/// begins and when it is over. If someone deletes or moves the file, the next line begins another in
/// its place, and muster's own log says so. Owns its descriptor. Thread: one.
class AuditLog final : public apiserver_http::AuditSink {
  public:
    /// Appends to an existing file. Fails if it is not a file of this user.
    static Result<std::unique_ptr<AuditLog>> open(std::filesystem::path path,
                                                  AuditLogLimits limits);
    ~AuditLog() override;
    AuditLog(const AuditLog&) = delete;
    AuditLog& operator=(const AuditLog&) = delete;

    void write(std::string line) override;

    /// How many lines were logged, and how many of them could not be written.
    std::vector<prometheus::MetricFamily> metrics() const;

  private:
    AuditLog(std::filesystem::path path, AuditLogLimits limits)
        : path_(std::move(path)), limits_(limits) {}

    Result<void> open_file();
    /// Lets go of a file that is no longer at its path.
    void leave_lost_file();
    Result<void> append(std::string_view text);
    Result<void> rotate();
    void tell(const Result<void>& written);

    std::filesystem::path path_;
    AuditLogLimits limits_;
    int file_ = -1;
    std::uint64_t size_ = 0;  ///< of the file, up to the end of its last whole line
    bool oversized_ = false;  ///< and that was logged
    bool left_ = false;       ///< a lost file, and none is in its place yet
    std::uint64_t events_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t lost_before_ = 0;  ///< lost_ when it began to fail; equal: no failure
};

}  // namespace muster::control_plane
