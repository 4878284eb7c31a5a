// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues of tuples: first in first out, shuffled, of tensors that are padded, by priority. The rules are TensorFlow's:
/// attempts to enqueue and to dequeue wait in two lines, and only the first of each line may do something; an attempt
/// of several elements moves them as there is room, or as they come. Here nothing is lost: what an attempt holds that
/// is cancelled, late or too large for a closed queue goes back to where it was.

#include <exception>
#include <initializer_list>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/random.hpp"
#include "tagma/ir/queue.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/queue_element.hpp"
#include "tagma/runtime/resource.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma::runtime {

/// An attempt to enqueue, to dequeue or to close. It is told once when it has ended, and may be begun again then.
class queue_attempt {
 public:
  queue_attempt() = default;
  queue_attempt(const queue_attempt&) = delete;
  queue_attempt& operator=(const queue_attempt&) = delete;

  /// What it has dequeued.
  queue_elements elements;

 protected:
  ~queue_attempt() = default;

 private:
  friend class queue;

  /// Told by any thread that uses the queue, also before the call that began it has returned. It may copy what it has
  /// dequeued: no lock is held.
  /// @param error nullptr if it did what it was to do
  virtual void ended(std::exception_ptr error) noexcept = 0;

  enum class what : unsigned char { enqueue, dequeue, close };
  what does_ = what::enqueue;
  bool waits_ = false;
  bool up_to_ = false;
  extent wanted_ = 0;
  queue_attempt* before_ = nullptr;
  queue_attempt* behind_ = nullptr;
  std::exception_ptr error_;  // until it is told
};

class queue final : public resource {
 public:
  /// @param components of each tuple; open extents are `dyn`
  /// Throws InvalidArgument for a minimum that is negative or not below the capacity.
  queue(std::string name, const queue_options& options, array_view<const tensor_spec> components);
  TAGMA_COLD ~queue() override {
    if (!is_list()) give_up_heap();
  }

  [[nodiscard]] const queue_options& options() const { return options_; }
  [[nodiscard]] array_view<const tensor_spec> components() const { return components_; }
  /// "FIFO queue 'examples'".
  [[nodiscard]] std::string text() const;

  /// Throws InvalidArgument that names both sides if this is not the queue that somebody else asks for.
  void check(const queue_options& other, array_view<const tensor_spec> components) const;
  /// Throws InvalidArgument if several elements may have no common shape, or more axes than tensors have.
  /// @param one whether it is a batch of one element
  void check_batches(bool one = false) const;

  /// Elements in it; those that an attempt of several holds do not count.
  [[nodiscard]] extent size();
  [[nodiscard]] bool is_closed();
  /// Attempts that wait: to enqueue or to close, and to dequeue.
  struct waiting_attempts {
    std::size_t adding = 0, taking = 0;
  };
  [[nodiscard]] waiting_attempts waiting();

  /// A tuple for `enqueue`, with copies of the tensors.
  /// @param priority of a priority queue; nullptr of others
  /// Throws InvalidArgument that says which component is not what the queue has, and for a priority that is missing or
  /// that nobody looks at.
  [[nodiscard]] queue_elements make(array_view<const raw_view> tensors, const std::int64_t* priority = nullptr);
  /// A tuple for each row of the tensors.
  /// @param priorities of a priority queue, one for each row; nullptr of others
  [[nodiscard]] queue_elements make_rows(array_view<const raw_view> tensors,
                                         const array_view<const std::int64_t>* priorities = nullptr);
  /// Keeps the memory of elements that nobody needs any more for others.
  void reuse(queue_elements&& elements) noexcept;
  /// Elements that were dequeued, and with which nobody can do anything, are the first again; of what has no order,
  /// some of it. Where there is no memory even for that, they are lost.
  void give_back(queue_elements&& elements) noexcept;

  /// @name Attempts
  /// `attempt` lives until it has ended. It ends with Cancelled if the queue is closed or it is cancelled, a dequeue
  /// with OutOfRange if a closed queue has too few elements.
  /// @{

  /// Adds elements, one after the other, as there is room.
  void enqueue(queue_attempt& attempt, queue_elements&& elements);
  /// Takes `count` elements; if `up_to`, those that are left where a closed queue has fewer, but at least one.
  /// Throws InvalidArgument for a negative count, and one that a priority queue cannot have at once.
  void dequeue(queue_attempt& attempt, extent count, bool up_to = false);
  /// Closes the queue behind the attempts to enqueue that wait already. Ends with Cancelled if it is closed.
  void close(queue_attempt& attempt);
  /// Closes it at once: what waits to enqueue or to close is cancelled. Does nothing the second time.
  void close_now();
  void left_container() override;
  /// Ends an attempt with Cancelled, unless it has ended.
  void cancel(queue_attempt& attempt);
  /// Returns when nobody is in `ended` of an attempt that has ended: then it may be destroyed.
  void settle() const;
  /// @}

 private:
  static constexpr extent most_spare = 256;

  /// Attempts in the order in which they came.
  struct line {
    queue_attempt* first = nullptr;
    queue_attempt* last = nullptr;

    void push(queue_attempt& a);
    void remove(queue_attempt& a);
  };

  /// Holds the lock, and tells the attempts that have ended meanwhile when it has given it up.
  class change {
   public:
    explicit change(queue& of) : queue_(of) { of.mutex_.lock(); }
    change(const change&) = delete;
    change& operator=(const change&) = delete;
    ~change();

   private:
    queue& queue_;
  };

  /// InvalidArgument with what this is in front.
  [[noreturn]] void refuse(std::initializer_list<text_part> parts) const;
  [[noreturn]] void refuse_other(std::string_view what, const text_part& own, const text_part& asked) const;
  [[noreturn]] void refuse_count(extent count) const;
  /// Of an attempt that has nothing to wait for.
  static void end_at_once(queue_attempt& attempt);
  [[noreturn]] void refuse_bytes(std::size_t bytes) const;
  /// An attempt takes its place in a line.
  void begin(line& of, queue_attempt& attempt);
  void check_count(std::size_t count) const;
  void check_priority(bool given) const;
  void check_component(std::size_t i, const raw_view& t, const shape& dims, std::string_view rows) const;
  [[noreturn]] void refuse_component(std::size_t i, const raw_view& t, const shape& dims, std::string_view rows) const;
  /// Adds a tuple with copies of tensors.
  void add_copy(queue_elements& to, array_view<const raw_view> tensors, std::int64_t priority);

  // What follows needs the lock.

  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_full() const { return options_.capacity >= 0 && held_ >= options_.capacity; }
  /// Elements that may leave.
  [[nodiscard]] extent available() const;

  /// Lets the first of both lines do what they can, until neither can do more.
  void flush();
  /// True if the attempt has ended.
  /// @param moved set if elements were
  bool write(queue_attempt& a, bool& moved);
  bool read(queue_attempt& a, bool& moved);

  void put(queue_element* e);
  [[nodiscard]] queue_element* take();
  void put_into_heap(queue_element* e);
  void give_up_heap();
  [[nodiscard]] queue_element* take_from_heap();
  /// What an attempt holds goes back to where it was.
  void put_back(queue_attempt& a);
  void put_back(queue_elements& elements);
  [[nodiscard]] static bool comes_before(const queue_element& a, const queue_element& b);
  void swap(extent a, extent b);

  /// An attempt has done what it was to do, or failed: what this is stands in front of why.
  /// @{
  void end(line& of, queue_attempt& a);
  void end(line& of, queue_attempt& a, status_code code, std::initializer_list<text_part> why) noexcept;
  /// @}
  void end_cancelled(line& of, queue_attempt& a);
  /// Of an attempt to close, or one to enqueue in a closed queue.
  void end_closing(queue_attempt& a);
  /// Of a dequeue of more elements than a closed queue has.
  void end_with_few(queue_attempt& a);

  const queue_options options_;
  heap_array<tensor_spec> components_;
  mutex mutex_;
  line writers_, readers_, ended_;
  atomic<int> telling_{0};              // threads that tell attempts how they ended
  bool closed_ = false, left_ = false;  // left: its container was reset
  extent held_ = 0;
  queue_elements list_;              // of those that keep their order
  heap_array<queue_element*> heap_;  // of others: in any order, or a binary heap
  queue_elements spare_;
  std::uint64_t arrivals_ = 0, draws_ = 0;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/queue.ipp"
#endif
