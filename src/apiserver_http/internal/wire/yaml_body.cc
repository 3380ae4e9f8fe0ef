#include "apiserver_http/internal/wire/yaml_body.h"

namespace muster::apiserver_http {

apiserver::StatusResult<apiserver::JsonBody> parse_yaml_body(std::string_view text,
                                                             const YamlText& yaml) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool maybe_json = first == text.npos || text[first] == '{' || text[first] == '[';
    if (maybe_json || yaml.read == nullptr) {
        apiserver::StatusResult<apiserver::JsonBody> body = apiserver::parse_json_body(text);
        if (body || yaml.read == nullptr) return body;
    }
    Result<json::value> read = yaml.read(text);
    if (!read)
        return apiserver::bad_request("the body of the request is not YAML: " +
                                      read.error().message());
    return apiserver::JsonBody{std::make_shared<const json::value>(*std::move(read)), {}};
}

}  // namespace muster::apiserver_http
