// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets of the records of files: text lines, records of one length, TFRecord, CSV.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/make_dataset.hpp"

#include "tagma/data/file_datasets.hpp"
#include "tagma/datasets.hpp"

#include "tagma/base/epilogue.hpp"
