#pragma once

#include <string>
#include <utility>

#include "process/program_file.h"
#include "runtime/internal/inside/init_protocol.h"

namespace muster::runtime {

/// Why a container's program did not start.
struct StartFailure {
    StartStage stage = StartStage::kOther;
    int error = 0;
    std::string detail;  ///< the path or the interpreter that it is about

    friend bool operator==(const StartFailure&, const StartFailure&) = default;
};

/// Of a program that could not be executed.
inline StartFailure to_start_failure(process::ProgramFailure failure) {
    const StartStage stage = [&] {
        switch (failure.fault) {
            case process::ProgramFault::kMissing:
                return StartStage::kProgramMissing;
            case process::ProgramFault::kNotExecutable:
                return StartStage::kNotExecutable;
            case process::ProgramFault::kInterpreterMissing:
                return StartStage::kInterpreterMissing;
            case process::ProgramFault::kFormat:
                return StartStage::kFormat;
            case process::ProgramFault::kOther:
                break;
        }
        return StartStage::kOther;
    }();
    return {stage, failure.error, std::move(failure.detail)};
}

}  // namespace muster::runtime
