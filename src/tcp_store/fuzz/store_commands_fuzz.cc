// The first byte selects the size of the pieces into which the rest is cut. However it is cut, the
// reader must find the same commands and the same end; a command is written as it was read;
// executing commands breaks nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "tcp_store/commands.h"
#include "tcp_store/session.h"

using namespace muster::tcp_store;

namespace {

std::string read_all(std::string_view bytes, std::size_t piece) {
    StoreReader reader;
    StoreKeys keys;
    std::string said;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.put(bytes.substr(at, piece), at + piece < bytes.size());
        for (;;) {
            auto command = reader.next();
            if (!command) return said + "! " + command.error().message();
            if (!*command) break;
            said += encode(**command);
            if (auto done = answer(keys, 1, **std::move(command), said); !done)
                said += done.error().message();
            said += std::to_string(keys.take_released().size());
        }
    }
    return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    CHECK(read_all(bytes, (data[0] & 0x3fu) + 1) == read_all(bytes, std::max<std::size_t>(size, 1)),
          "how bytes are cut does not matter");
    return 0;
}
