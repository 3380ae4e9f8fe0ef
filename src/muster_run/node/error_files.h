#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workers/first_cause.h"

namespace muster::run {

/// Where error files are, and where they can stay.
struct ErrorFilePlaces {
    std::filesystem::path job_dir = {};  ///< removed at the end
    std::filesystem::path temporary = {};
    std::string run_id = {};
};

/// Writes the error files of these failures that were in the job's directory into a new directory
/// that stays (muster_<run id>_XXXXXX), and names them there. One that can't be written is named no
/// more, and logged. Blocks; a few small files.
void keep_error_files(std::vector<workers::Failure>& failures, const ErrorFilePlaces& places);

/// The error file of the failure that caused the others, with its exit code, as torch's @record
/// passes it to whoever started torchrun; made up from how the worker ended if it left none. Empty
/// if there is no failure. Pure.
std::string first_cause_content(const std::vector<workers::Failure>& failures);

/// Writes it to the file that TORCHELASTIC_ERROR_FILE of this program names. An error is logged.
void report_first_cause(const std::vector<workers::Failure>& failures,
                        const std::filesystem::path& file);

}  // namespace muster::run
