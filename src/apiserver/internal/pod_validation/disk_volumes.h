#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

// Volumes on disks, over the network or by a driver: what is wrong with such a source, whose path
// `field` is, besides that it lacks a field.

void check_iscsi_volume(const json::object& source, const std::string& field,
                        FieldErrors& field_errors);
void check_fc_volume(const json::object& source, const std::string& field,
                     FieldErrors& field_errors);
void check_quobyte_volume(const json::object& source, const std::string& field,
                          FieldErrors& field_errors);
void check_azure_disk_volume(const json::object& source, const std::string& field,
                             FieldErrors& field_errors);
void check_flex_volume(const json::object& source, const std::string& field,
                       FieldErrors& field_errors);
void check_storageos_volume(const json::object& source, const std::string& field,
                            FieldErrors& field_errors);
void check_csi_volume(const json::object& source, const std::string& field,
                      FieldErrors& field_errors);
void check_flocker_volume(const json::object& source, const std::string& field,
                          FieldErrors& field_errors);

}  // namespace muster::apiserver
