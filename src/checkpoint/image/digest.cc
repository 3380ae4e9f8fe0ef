#include "checkpoint/image/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace muster::checkpoint {

std::uint64_t digest_of(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace muster::checkpoint
