#include "apiserver_http/internal/wire/yaml_body.h"

namespace muster::apiserver {

StatusResult<JsonBody> parse_yaml_body(std::string_view text, const YamlText& yaml) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool maybe_json = first == text.npos || text[first] == '{' || text[first] == '[';
    if (maybe_json || yaml.read == nullptr) {
        StatusResult<JsonBody> body = parse_json_body(text);
        if (body || yaml.read == nullptr) return body;
    }
    Result<json::value> read = yaml.read(text);
    if (!read) return bad_request("the body of the request is not YAML: " + read.error().message());
    return JsonBody{std::make_shared<const json::value>(*std::move(read)), {}};
}

}  // namespace muster::apiserver
