// SPDX-License-Identifier: Apache-2.0
#include "backend/identity.hpp"

namespace tilewise::backend {

std::string identity_of(const device_info& info) {
  std::string text;
  for (const std::string& part : {info.description, info.platform, info.driver, info.api_version})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace tilewise::backend
