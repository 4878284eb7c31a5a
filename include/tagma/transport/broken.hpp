// SPDX-License-Identifier: BSL-1.0
/// @file
/// Mistakes that tests make on purpose, to see that other tests find them. In programs there are none: TAGMA_BROKEN is
/// false unless TAGMA_BREAKABLE is defined, which only the tests of this folder do.

#ifndef TAGMA_TRANSPORT_BROKEN
#define TAGMA_TRANSPORT_BROKEN

#ifdef TAGMA_BREAKABLE
#include "tagma/transport/mistakes.hpp"
#define TAGMA_BROKEN(what) (::tagma::transport::mistake_made == ::tagma::transport::mistake::what)
#else
#define TAGMA_BROKEN(what) false
#endif

#endif
