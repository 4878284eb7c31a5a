// SPDX-License-Identifier: BSL-1.0

/// @file
/// The end of every umbrella: undefines the macros that headers share, so that programs see none of them. Those for
/// operations of one's own stay where tagma/with_macros.hpp was included. Included again and again, so without a
/// pragma.

#undef TAGMA_ONEDNN_PRIMITIVES
#undef TAGMA_ELEMENTWISE_KERNELS
#undef TAGMA_SCALAR_KERNEL_OF_ONE
#undef TAGMA_SCALAR_KERNEL_OF_TWO

#ifndef TAGMA_WITH_MACROS
// base/config.hpp
#undef TAGMA_BASE_CONFIG
#undef TAGMA_TEXT_OF
#undef TAGMA_TEXT
#undef TAGMA_COMPILER
#undef TAGMA_FRESH_TYPE
#undef TAGMA_SPELLS_TEXT
#undef TAGMA_NAMES_PLACES
#undef TAGMA_FRIEND_INJECTION_BEGIN
#undef TAGMA_FRIEND_INJECTION_END
#undef TAGMA_FLOATS_OF_HALVES
#undef TAGMA_HALVES_OF_FLOATS
#undef TAGMA_HAS_F16C
#undef TAGMA_LONG_OF_SHORT
#undef TAGMA_ROUND
#undef TAGMA_INLINE
#undef TAGMA_DEVICE
#undef TAGMA_UNROLL
#undef TAGMA_FORMULAS_BEGIN
#undef TAGMA_FORMULAS_END
#undef TAGMA_EMPTY_LOOPS_BEGIN
#undef TAGMA_EMPTY_LOOPS_END
#undef TAGMA_ENDS_TRIVIALLY
#undef TAGMA_DECL
#undef TAGMA_NEEDS_LIBRARY_NAMED
#undef TAGMA_NEEDS_LIBRARY
#undef TAGMA_COLD
#undef TAGMA_IS_KNOWN_NULL

// transport/broken.hpp
#undef TAGMA_TRANSPORT_BROKEN
#undef TAGMA_BROKEN

// place/rules.hpp
#undef TAGMA_PLACE_RULES
#undef TAGMA_NEEDS_DEVICE

// expr/rules.hpp
#undef TAGMA_EXPR_RULES
#undef TAGMA_NEEDS_NAME
#undef TAGMA_NEEDS_SIZES
#undef TAGMA_NEEDS_PHASE
#undef TAGMA_NEEDS_TENSOR
#undef TAGMA_NEEDS_FLOATS
#undef TAGMA_NEEDS_NUMBERS
#undef TAGMA_NEEDS_BOOLEANS
#undef TAGMA_NEEDS_HANDLES
#undef TAGMA_NEEDS_OPERANDS
#undef TAGMA_REFUSES_OPERAND
#undef TAGMA_NEEDS_COMPARABLE
#undef TAGMA_NEEDS_FILTER
#undef TAGMA_NEEDS_CONVOLUTION
#endif
