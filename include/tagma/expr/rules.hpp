// SPDX-License-Identifier: BSL-1.0

/// @file
/// Rules that several functions share. The function that is called states them itself: g++ prints a line for every
/// function between the call and the sentence. Only macros: without a pragma, since umbrellas undefine them at their
/// end (base/epilogue.hpp), and the next header needs them again.

#ifndef TAGMA_EXPR_RULES
#define TAGMA_EXPR_RULES

/// What has a name needs one. `Who` says who asks.
#define TAGMA_NEEDS_NAME(Who, Name)                                                           \
  static_assert(::tagma::diagnose::follows_grammar_of_names<::tagma::detail::bad_name<Name>>, \
                "TAGMA-E160 " Who                                                             \
                ": a name has letters, digits, '_', '.', '-' and '/', and its first is "      \
                "a letter, a digit or '.'")

/// Who has a name and sizes takes them in angle brackets, as in `Example`.
#define TAGMA_NEEDS_SIZES(Who, Example, ...)                        \
  static_assert(::tagma::diagnose::has_name_and_sizes<__VA_ARGS__>, \
                "TAGMA-E181 " Who ": name and sizes are template arguments: tagma::" Who Example)

/// What differs between training and inference is told which it is. `Who` is called as in `Example`.
#define TAGMA_NEEDS_PHASE(Who, Example, ...)              \
  static_assert(::tagma::diagnose::is_phase<__VA_ARGS__>, \
                "TAGMA-E179 " Who ": is for training or for inference, which an argument says: " Who Example)

/// A tensor can have this element type and these extents. `Who` says who asks.
#define TAGMA_NEEDS_TENSOR(Who, T, ...)                                                                               \
  static_assert(::tagma::diagnose::is_element_type<T>, "TAGMA-E001 " Who ": a tensor cannot hold this element type"); \
  static_assert(::tagma::diagnose::extents_are_valid<__VA_ARGS__>,                                                    \
                "TAGMA-E002 a tensor has at most six extents, each a number or tagma::dyn");                          \
  static_assert(::tagma::diagnose::is_addressable<T, __VA_ARGS__>,                                                    \
                "TAGMA-E081 " Who ": a tensor has at most 2^56 bytes")

/// The element type of a spec is floating; a number; bool.
#define TAGMA_NEEDS_FLOATS(...)                                    \
  static_assert(::tagma::diagnose::is_floating_point<__VA_ARGS__>, \
                "TAGMA-E014 this operation needs a floating element type; use tagma::cast<float>")
#define TAGMA_NEEDS_NUMBERS(...)                           \
  static_assert(::tagma::diagnose::is_number<__VA_ARGS__>, \
                "TAGMA-E016 this operation needs numbers, not bool or string")
#define TAGMA_NEEDS_BOOLEANS(...) \
  static_assert(::tagma::diagnose::is_boolean<__VA_ARGS__>, "TAGMA-E017 this operation needs bool")

/// Operands of arithmetic are handles or numbers.
#define TAGMA_NEEDS_HANDLES(A, B)                                                                                   \
  static_assert(::tagma::diagnose::are_operands<A, B>,                                                              \
                "TAGMA-E176 element-wise operation: takes expressions and numbers: of what batch_norm returns for " \
                "training that is .output, and a tensor is fed to a placeholder")

/// Two operands, handles or numbers, can be joined element by element.
#define TAGMA_NEEDS_OPERANDS(A, B)                                                                               \
  TAGMA_NEEDS_HANDLES(A, B);                                                                                     \
  static_assert(::tagma::diagnose::same_element_type<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>,  \
                "TAGMA-E010 element-wise operation: both operands need the same element type; use tagma::cast"); \
  static_assert(::tagma::diagnose::shapes_broadcast<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>,   \
                "TAGMA-E011 element-wise operation: the shapes do not broadcast");                               \
  static_assert(                                                                                                 \
      ::tagma::diagnose::numbers_fit<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>,                  \
      "TAGMA-E015 element-wise operation: the fraction of this number would be lost beside an integer tensor")

/// Two operands, handles or numbers, can be compared element by element.
#define TAGMA_NEEDS_COMPARABLE(A, B)                                                                           \
  TAGMA_NEEDS_HANDLES(A, B);                                                                                   \
  static_assert(::tagma::diagnose::comparable<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>,       \
                "TAGMA-E010 comparison: both operands need the same element type; use tagma::cast");           \
  static_assert(::tagma::diagnose::shapes_broadcast<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>, \
                "TAGMA-E011 comparison: the shapes do not broadcast");                                         \
  static_assert(::tagma::diagnose::numbers_fit<::tagma::detail::operand<A>, ::tagma::detail::operand<B>>,      \
                "TAGMA-E015 comparison: the fraction of this number would be lost beside an integer tensor")

/// Who takes expressions refuses what is none. Stands where only such a mistake gets, so that nothing else pays for it.
#define TAGMA_REFUSES_OPERAND(Who, ...)                                                            \
  static_assert(::tagma::diagnose::are_expressions<__VA_ARGS__>,                                   \
                "TAGMA-E176 " Who                                                                  \
                ": takes an expression: of what batch_norm returns for training that is .output, " \
                "and a tensor is fed to a placeholder")

/// Two specs whose last two axes are matrices, and matrices that can be multiplied.
#define TAGMA_NEEDS_MATRICES(Who, X, Y) \
  static_assert(::tagma::diagnose::are_matrices<X, Y>, "TAGMA-E013 " Who ": both operands need at least two axes")
#define TAGMA_NEEDS_PRODUCT(Who, X, Y, TransposeA, TransposeB)                                          \
  static_assert(::tagma::diagnose::inner_extents_agree<X, Y, TransposeA, TransposeB>,                   \
                "TAGMA-E012 " Who ": the columns of the first operand must be the rows of the second"); \
  static_assert(::tagma::diagnose::batch_extents_broadcast<X, Y>,                                       \
                "TAGMA-E013 " Who ": the leading axes do not broadcast")

/// Images and a filter, both as specs, with options.
#define TAGMA_NEEDS_FILTER(X, Filter, Options)                                                                       \
  static_assert(::tagma::diagnose::same_element_type<X, Filter>,                                                     \
                "TAGMA-E010 conv2d: images and filter need one element type");                                       \
  static_assert(::tagma::diagnose::is_image_batch<X> && ::tagma::diagnose::is_image_batch<Filter>,                   \
                "TAGMA-E120 conv2d: images need the axes [batch, height, width, channels], filters [height, width, " \
                "channels, filters]");                                                                               \
  static_assert(::tagma::diagnose::filter_has_elements<Filter>, "TAGMA-E123 conv2d: the filter has no elements");    \
  static_assert(::tagma::diagnose::conv_options_are_valid<Options>,                                                  \
                "TAGMA-E122 conv2d: strides, dilations and groups must be positive, paddings not negative");         \
  TAGMA_NEEDS_FLOATS(X)

/// Images and a filter that slides over them.
#define TAGMA_NEEDS_CONVOLUTION(X, Filter, Options)                                                                \
  TAGMA_NEEDS_FILTER(X, Filter, Options);                                                                          \
  if constexpr (::tagma::detail::is_filter<X, Filter, Options>) {                                                  \
    constexpr bool channels_fit = ::tagma::diagnose::filter_fits_channels<X, Filter, Options.groups>;              \
    static_assert(::tagma::diagnose::filter_fits_channels<X, Filter, Options.groups>,                              \
                  "TAGMA-E121 conv2d: the channels of the images must be those of the filter times the number of " \
                  "groups, and the groups must divide the filters");                                               \
    if constexpr (channels_fit)                                                                                    \
      static_assert(::tagma::diagnose::filter_fits_image<X, Filter, Options>,                                      \
                    "TAGMA-E123 conv2d: the filter is larger than the padded images");                             \
  }                                                                                                                \
  static_assert(true)

#endif
