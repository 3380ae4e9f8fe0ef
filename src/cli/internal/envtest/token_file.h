#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authentication/access_options.h"
#include "base/result.h"

namespace muster::cli {

/// The tokens in a file of --token-auth-file: token,user,uid and perhaps "group1,group2", one a line,
/// as CSV. kInvalid, with the line, for what kube-apiserver can't read either. Of a token that is
/// there twice the last one counts; lines with an empty one are left out.
Result<std::vector<apiserver::KnownToken>> read_token_file(std::string_view text);

}  // namespace muster::cli
