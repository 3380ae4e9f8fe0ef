#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "process/pipe.h"

namespace muster::pod_init {

/// How much is read of a pipe after its container has ended: more than a pipe holds, unless it was
/// enlarged. The bound is for a writer elsewhere that still writes.
inline constexpr int kLastPieces = 64;

/// Only our end is non-blocking: programs do not expect it of theirs.
Result<process::Pipe> make_output_pipe();

/// One piece of it; "" if nothing can be read now, nullopt at its end.
std::optional<std::string_view> read_piece(const UniqueFd& output, std::span<char> buffer);

}  // namespace muster::pod_init
