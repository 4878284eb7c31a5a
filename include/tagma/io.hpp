// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bytes, records and the formats of files.

#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_sink.hpp"
#include "tagma/io/byte_source.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/io/csv.hpp"
#include "tagma/io/csv_reader.hpp"
#include "tagma/io/elements.hpp"
#include "tagma/io/example.hpp"
#include "tagma/io/fixed_length.hpp"
#include "tagma/io/idx.hpp"
#include "tagma/io/npy.hpp"
#include "tagma/io/npy_texts.hpp"
#include "tagma/io/npz.hpp"
#include "tagma/io/npz_writer.hpp"
#include "tagma/io/number.hpp"
#include "tagma/io/record.hpp"
#include "tagma/io/sequence_example.hpp"
#include "tagma/io/text_lines.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/io/wire.hpp"

#include "tagma/base/epilogue.hpp"
