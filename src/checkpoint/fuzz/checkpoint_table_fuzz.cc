// The first bytes of an image, and how long it says to be: whatever they are, what is read as a table has each
// byte in one tensor, and is read again as it is written.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "checkpoint/image/table.h"

using namespace muster::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    if (size < 2) return 0;
    std::uint16_t payload = 0;
    std::memcpy(&payload, data, sizeof payload);
    const std::string_view text = all.substr(2);
    const std::uint64_t image = text.size() + payload;
    const auto length = table_bytes(text.substr(0, 8), image);
    if (!length || *length > text.size()) return 0;
    const auto table = decode(text.substr(0, *length), image);
    if (!table) return 0;
    std::uint64_t end = 0;
    for (const Tensor& tensor : table->tensors) {
        CHECK(tensor.begin == end, "tensors follow each other");
        end = tensor.end;
    }
    CHECK(end == image - *length, "they fill the image");
    const auto again = encode(*table);
    CHECK(again.has_value(), "it can be written");
    const auto read = decode(*again, again->size() + table->payload());
    CHECK(read && *read == *table, "it is read as it was written");
    return 0;
}
