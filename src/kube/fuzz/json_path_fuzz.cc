// Any text: it is a path or a refusal that says where, and a path can be followed in any document.

#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kube/values/json_path.h"

using muster::kube::JsonPath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const boost::json::value document = boost::json::parse(
        R"({"a":[{"b":1,"c":[1,2,3]},{"b":"x"},{"b":true},null,2.5],"a.b":{"c":{"d":"e"}}})");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const muster::Result<JsonPath> path = JsonPath::parse(text);
    if (!path) {
        CHECK(!path.error().message().empty(), "a refusal says why");
        CHECK(path.error().message().size() < 300, "a message stays short");
        return 0;
    }
    CHECK(path->find(document).size() <= 20, "a path finds each value once");
    return 0;
}
