// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/decode_csv.hpp"
#include "tagma/device/cpu/kernel/decode_image.hpp"
#include "tagma/device/cpu/kernel/decode_raw.hpp"
#include "tagma/device/cpu/kernel/exchange.hpp"
#include "tagma/device/cpu/kernel/iterator.hpp"
#include "tagma/device/cpu/kernel/parse_example.hpp"
#include "tagma/device/cpu/kernel/parse_sequence_example.hpp"
#include "tagma/device/cpu/kernel/queue_list.hpp"
#include "tagma/device/cpu/kernel/reader.hpp"
#include "tagma/device/cpu/kernel/text_constant.hpp"
#include "tagma/device/cpu/registry.hpp"
#include "tagma/device/input_operations.hpp"

namespace tagma::device::cpu {

template struct registered<operations::queues>;
template struct registered<operations::readers>;
template struct registered<operations::records>;
template struct registered<operations::exchange>;

}  // namespace tagma::device::cpu
