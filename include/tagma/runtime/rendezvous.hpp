// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where the parts of one run meet: one hands over a tensor under the number of an edge, another takes it.

#include <exception>
#include <map>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

/// One attempt to hand over or to take, which waits without a thread. It lives until it has ended.
class exchange_attempt {
 public:
  exchange_attempt() = default;
  exchange_attempt(const exchange_attempt&) = delete;
  exchange_attempt& operator=(const exchange_attempt&) = delete;

  /// The attempt is over. Called once, by any thread, without a lock of the rendezvous.
  /// @param error nullptr if the tensor has arrived
  virtual void ended(std::exception_ptr error) noexcept = 0;

 protected:
  ~exchange_attempt() = default;
};

/// Hands over a tensor, which stays as it is until the attempt has ended.
class send_attempt : public exchange_attempt {
 public:
  raw_view value{};  ///< what is handed over; of texts, with their characters

 protected:
  ~send_attempt() = default;
};

/// Takes a tensor.
class receive_attempt : public exchange_attempt {
 public:
  /// Where a tensor that has come shall be written: before any byte is there, or, of texts, when all are. Called once;
  /// throws what does not fit.
  [[nodiscard]] virtual std::byte* place(const tensor_spec& come) = 0;
  /// The characters that texts show which were written there. Called once then; they do not move.
  virtual void keep(std::vector<std::byte> characters) noexcept = 0;

 protected:
  ~receive_attempt() = default;
};

/// Bytes that a tensor has when it is handed over: of texts, eight for each, and the characters.
[[nodiscard]] std::size_t handed_over_bytes(const raw_view& value);

/// What connects the parts of one run. For several threads.
class rendezvous {
 public:
  virtual ~rendezvous() = default;

  /// Each edge is used once in a run.
  /// @param task the number of the other part
  /// @{
  virtual void send(std::int32_t edge, std::int32_t task, send_attempt& attempt) = 0;
  virtual void receive(std::int32_t edge, std::int32_t task, receive_attempt& attempt) = 0;
  /// @}
  /// Ends an attempt that waits, with Cancelled. One that does not wait any more ends soon by itself.
  virtual void cancel(std::int32_t edge, exchange_attempt& attempt) noexcept = 0;
};

/// The rendezvous of parts that run in one process: whoever comes second copies.
class local_rendezvous final : public rendezvous {
 public:
  ~local_rendezvous() override = default;

  void send(std::int32_t edge, std::int32_t task, send_attempt& attempt) override;
  void receive(std::int32_t edge, std::int32_t task, receive_attempt& attempt) override;
  void cancel(std::int32_t edge, exchange_attempt& attempt) noexcept override;
  /// Everything that waits, and that comes later, ends with this error.
  void abort(const error& why);
  /// Bytes that have passed.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  /// Who waits at an edge.
  struct side {
    send_attempt* sender = nullptr;
    receive_attempt* receiver = nullptr;
  };
  /// Leaves one side, or takes the other. Throws the error of `abort`.
  side meet(std::int32_t edge, const side& comes);
  void hand_over(const side& both) noexcept;

  mutable mutex mutex_;
  std::map<std::int32_t, side> waiting_;
  std::exception_ptr aborted_;
  std::int64_t bytes_ = 0;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/rendezvous.ipp"
#endif
