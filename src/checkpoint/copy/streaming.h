#pragma once

#include <cstddef>

namespace muster::checkpoint {

/// As memcpy, but what is large is written past the caches, where the processor can: the caches keep what
/// training uses, and no line is read only to be overwritten.
void stream(std::byte* to, const std::byte* from, std::size_t bytes);
/// What this thread has streamed is seen by others before what it stores next.
void end_streams();

}  // namespace muster::checkpoint
