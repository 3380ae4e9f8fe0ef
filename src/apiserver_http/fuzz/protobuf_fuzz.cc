// Any bytes: they are an object or are refused, and an object is one that could have been sent as
// JSON.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver_http/internal/protobuf/decode.h"
#include "base/check.h"

using muster::apiserver_http::decode_protobuf;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    const muster::Result<boost::json::object> object = decode_protobuf(body);
    if (!object) {
        CHECK(!object.error().message().empty(), "a refusal says why");
        return 0;
    }
    CHECK(object->at("kind").is_string(), "an object says what it is");
    boost::json::parse_options options;
    options.max_depth = 1000;
    boost::system::error_code problem;
    const std::string text = boost::json::serialize(*object);
    const boost::json::value again = boost::json::parse(text, problem, {}, options);
    CHECK(!problem, "what was decoded can be written as JSON");
    CHECK(again.get_object().size() == object->size(), "and read again");
    return 0;
}
