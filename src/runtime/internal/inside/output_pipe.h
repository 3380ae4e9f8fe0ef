#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/internal/pipe.h"

namespace muster::runtime {

/// What is taken of a pipe once its container has ended: more than a pipe holds, unless it was made
/// larger; the bound is for a writer that lives elsewhere and still writes.
inline constexpr int kLastPieces = 64;

/// Only our end does not block: programs do not expect it of theirs.
Result<Pipe> make_output_pipe();

/// One piece of it; "" when there is none now, nullopt at its end.
std::optional<std::string_view> read_piece(const UniqueFd& output, std::span<char> buffer);

}  // namespace muster::runtime
