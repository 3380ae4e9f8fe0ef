#include "cli/internal/record/run_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"
#include "base/text_files.h"
#include "control_plane/daemon/numbered_files.h"

namespace muster::cli {

bool RunOutput::open() {
    if (file_ && written_ < file_bytes_) return true;
    if (file_) {
        const Result<void> renumbered = control_plane::renumber_files(path_, 1);
        if (!renumbered) failure_ = renumbered.error();
    }
    constexpr int kWrites = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    file_.reset(::open(path_.c_str(), kWrites, 0600));
    if (!file_ && !failure_) failure_ = system_error("making " + path_.string(), errno);
    written_ = 0;
    failed_ = failure_.has_value();
    return !failed_;
}

void RunOutput::write(std::string_view lines) {
    if (failed_ || !open()) return;
    written_ += lines.size();
    if (const int failed = write_all(file_.get(), lines); failed != 0) {
        failure_ = system_error("writing to " + path_.string(), failed);
        failed_ = true;
    }
}

std::optional<Error> RunOutput::take_failure() { return std::exchange(failure_, std::nullopt); }

}  // namespace muster::cli
