// SPDX-License-Identifier: BSL-1.0
// Lists the operations of own_operations.hpp, for the files that use them.
#include "tagma/own_operations.hpp"

#include "programs/own_operations.hpp"

namespace {

const tagma::listed_operation<mine::log_cosh, float(float), double(double)> log_cosh_is_listed;
const tagma::listed_operation<mine::running_sum, float(float), double(double), int(int)> running_sum_is_listed;
const tagma::listed_operation<mine::halves, std::tuple<float, bool>(float)> halves_are_listed;
const tagma::listed_operation<mine::two_products, double(double, double, double, double)> products_are_listed;
const tagma::listed_operation<mine::counted, float(float)> counted_is_listed;
const tagma::listed_operation<mine::renamed> renamed_is_listed;

// What is wrong before `main` begins is said to whoever looks it up.
const tagma::listed_operation<mine::early, float(float)> early_is_listed;
const tagma::listed_operation<mine::early_later, float(float)> early_is_listed_again;

}  // namespace
