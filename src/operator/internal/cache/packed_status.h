#pragma once

#include <string>

#include "jobs/job.h"

namespace muster::operators {

/// A job's status as its JSON text, which takes a third of the wire struct's bytes. One is kept for
/// each existing job, while only the few that are being reconciled are unpacked.
class PackedStatus {
  public:
    PackedStatus() = default;
    explicit PackedStatus(const jobs::JobStatus& status);

    jobs::JobStatus unpack() const;
    bool empty() const { return text_.empty(); }

  private:
    std::string text_;  ///< empty: an empty status
};

}  // namespace muster::operators
