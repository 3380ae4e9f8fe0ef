#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cel/value.h"

namespace muster::cel {

/// A URL as Go's url.ParseRequestURI takes it: with a scheme, or a path that begins with '/'.
class Url final : public Opaque {
  public:
    static std::expected<Url, std::string> parse(std::string_view text);

    std::string_view type_name() const override { return "kubernetes.URL"; }
    std::string content() const override { return text_; }
    const std::string& scheme() const { return scheme_; }
    /// With its port.
    const std::string& host() const { return host_; }
    std::string host_name() const;
    std::string port() const;
    std::string escaped_path() const;
    std::map<std::string, std::vector<std::string>> query() const;

  private:
    std::string text_;
    std::string scheme_;
    std::string host_;
    std::string path_;  ///< as it was written
    std::string query_;
};

}  // namespace muster::cel
