#pragma once

#include "apiserver/objects/json_access.h"

namespace muster::apiserver_http {

// Reads of JSON of uncertain shape, as the server does them.

using apiserver::array_at;
using apiserver::bool_at;
using apiserver::child;
using apiserver::ensure_object;
using apiserver::int_at;
using apiserver::is_deleting;
using apiserver::metadata_of;
using apiserver::name_of;
using apiserver::object_at;
using apiserver::objects_at;
using apiserver::string_at;
using apiserver::strings_at;

}  // namespace muster::apiserver_http
