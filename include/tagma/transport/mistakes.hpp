// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The mistakes that TAGMA_BROKEN knows.

#include <cstdint>

namespace tagma::transport {

enum class mistake : std::uint8_t {
  none,
  body_not_checked,     ///< the checksum of a body is not looked at
  chunk_not_checked,    ///< nor that of a chunk
  flags_not_checked,    ///< critical flags that are not known are let through
  credit_off_by_one,    ///< the sender uses one byte more than it has
  credit_forgotten,     ///< what a message used is never given back
  credit_believed,      ///< the receiver does not look at what the sender uses
  heartbeat_forgotten,  ///< no pings are sent
  loss_not_seen,        ///< silence is not noticed
  nonce_not_bound,      ///< the proof does not cover the nonce of who accepts
  one_label_for_both,   ///< the proofs of both ends are alike
  proof_believed,       ///< a wrong proof is taken
  offset_not_kept,      ///< a chunk is written where the transfer begins
  call_ended_twice,     ///< a late answer ends a call again
  call_never_ended,     ///< the deadline of a call is not looked at
  attempt_forgotten,    ///< nobody is told when bulk is free
  chunks_not_in_turns,  ///< one transfer goes before all others
  rejected_goes_on,     ///< the sender of bulk that was refused goes on sending
  room_not_told,        ///< `writable` is forgotten
  positions_believed,   ///< of the other end in shared memory
  // Of services of a cluster.
  answered_early,        ///< the answer of a run goes before the run is done
  wake_forgotten,        ///< a thread of a crew is not told that there is something to do
  one_thread_for_all,    ///< a crew has a thread, and no second one
  early_edge_dropped,    ///< a tensor that comes before it is asked for is not kept
  early_wish_forgotten,  ///< nor that somebody wants one that is not there yet
  link_not_made_again,   ///< a process that was lost is never looked for again
  loss_not_told,         ///< runs that concern a process that is lost go on
  lost_edges_not_told,   ///< those that wait for what was on its way when a connection was lost are not told
  end_of_run_ignored,    ///< a run that has failed elsewhere goes on
  forget_ignored,        ///< graphs stay that a client does not need any more
  graphs_stay,           ///< graphs stay whose client is gone
  done_again,            ///< a run that is asked for again is done again
  joined_not_seen,       ///< even while it is under way
  end_not_kept,          ///< even when its client has said that it has its end
  one_is_answered,       ///< of several who ask for a run, the first is answered
  new_server_taken,      ///< a client goes on with a server that was started anew
  lease_goes_on,         ///< a graph goes though its client has come back
  lease_at_once,         ///< a graph goes before its client can come back
  gate_is_open,          ///< runs go in while somebody has them wait
  gate_stays_shut,       ///< nobody is let in afterwards
  gate_changes_hands,    ///< two hold it at once
  run_not_stopped,       ///< a run that is over goes on waiting for what it waits for
  end_not_said,          ///< a client does not say that a run is over
  steps_not_told_apart,  ///< tensors of all runs have one key
  early_post_dropped,    ///< what is said before there is a connection is not kept
  container_forgotten,   ///< all sessions have the default container
  prefix_forgotten,      ///< sessions have each other's variables
  seed_forgotten,        ///< random numbers are those of the server
  asked_once,            ///< a run whose connection is lost is not asked for again
  one_loss_told,         ///< of several who wait for a run that is over, the first is told
  old_goes_first,        ///< checkpoints that are too many go before there is the new one
  index_in_place,        ///< an index is written where it belongs, not beside it and renamed
  commit_believed,       ///< a checkpoint counts whose index could not be written
};

inline mistake mistake_made = mistake::none;  ///< by one test at a time

}  // namespace tagma::transport
