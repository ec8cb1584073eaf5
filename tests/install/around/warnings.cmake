# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR "a module of the project around, which has the name of one of ours")
