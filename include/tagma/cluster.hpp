// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Several machines: which tasks a cluster has, which of them this process is, and where that is said.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/cluster/address.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/discover.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/ranks.hpp"
#include "tagma/cluster/role.hpp"
#include "tagma/cluster/sources/command_line.hpp"
#include "tagma/cluster/sources/dmlc.hpp"
#include "tagma/cluster/sources/json.hpp"
#include "tagma/cluster/sources/kubernetes.hpp"
#include "tagma/cluster/sources/mpi.hpp"
#include "tagma/cluster/sources/slurm.hpp"
#include "tagma/cluster/sources/tf_config.hpp"
#include "tagma/cluster/sources/torchrun.hpp"

#include "tagma/base/epilogue.hpp"
