// SPDX-License-Identifier: Apache-2.0
// The user's own browser.
#pragma once

#include <string>

namespace tilewise::cli {

/// Opens a page by xdg-open, without waiting for it; where there is no display or no xdg-open, says where the page is.
void open_in_browser(const std::string& page);

}  // namespace tilewise::cli
