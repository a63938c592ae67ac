// Package metrics turns events into Prometheus metrics. A [Metrics] is an event.Sink: give it to a
// manager or to a session.
//
// # Names
//
// Every name below has the label bucket, and instance_id where [WithInstanceLabel] was given.
//
//	election_is_leader{role}                           1 while this process leads the role, else 0
//	election_epoch{role}                               epoch of the role's last known term
//	election_leader_since_timestamp_seconds{role}      when this process was promoted; absent while it does not lead
//	election_transitions_total{role,to}                promotions (to="leader") and demotions (to="follower")
//	election_acquire_attempts_total{role,outcome}      claims; outcome is won, refused or unknown
//	election_leader_duration_seconds{role}             histogram: how long ended terms have lasted
//	election_failover_duration_seconds{role}           histogram: last sign of the former leader to promotion
//	election_candidates{role}                          members that would lead the role, the leader included
//	election_stuck{role}                               1 while work of an ended term has not returned in time, else 0
//	election_ttl_seconds                               TTL of the session
//	election_failures_total{role,reason}               reason: see below; role is empty for the session's own
//	election_token_validation_failures_total{role}     validations that did not prove leadership
//	election_heartbeat_duration_seconds{outcome}       histogram: send to answer
//	election_last_heartbeat_timestamp_seconds          when the last acknowledged heartbeat was reported
//	election_connection_status                         1 while connected to NATS, else 0
//	leader_election_master_status{name}                the same as election_is_leader; only with [WithKubernetesNames]
//
//	assign_submitted_total, assign_assigned_total {namespace,kind}
//	assign_rejected_total{namespace,kind,reason}       assignments and frames that a worker has refused, frames that a
//	                                                   scheduler has
//	assign_completed_total{namespace,kind,outcome}
//	assign_reassigned_total{namespace,kind,cause}
//	assign_stale_results_total{namespace,kind}         late outcomes that were not accepted
//	assign_stuck_handlers_total{namespace,kind}        handlers that have not returned long after their context ended
//	assign_fenced_writes_total{namespace}              writes that the server has refused: a later scheduler rules
//	assign_progress_total{namespace,checkpoint}        reports of progress; checkpoint is yes or no
//	assign_ticks_total{namespace,result}               ticks of recurrences; result is fired, dropped or skipped
//	assign_dead_tasks_leaving_total{namespace,kind}    dead tasks that were reported, because they leave soon
//	assign_dead_tasks{namespace,kind}                  dead tasks that the stream keeps
//	assign_queue_depth, assign_in_flight {namespace}   tasks that are due and wait; tasks that a worker has
//	assign_oldest_waiting_seconds{namespace,kind}      for how long the task that waits longest has been due
//	assign_open_tasks{namespace,state}                 tasks without an outcome
//	assign_worker_slots{namespace,state}
//	assign_schedule_to_start_seconds, assign_run_seconds {namespace,kind}    histograms
//	assign_recovery_seconds{namespace}                 histogram: promotion until tasks are handed out
//
// The reasons of election_failures_total are session_lost, work (it ended before its context did),
// panic, stuck, heartbeat (no answer), claim (no answer), fence (reported by you with
// event.FenceRejected), record (not understood) and fault (being retried).
//
// # Promises
//
//   - The number of roles bounds the number of series. A process has series of the roles that it
//     takes part in, led or not, and they are removed when it leaves the role. A task's id is never
//     a label. Other processes fill in some labels (kind, reason,
//     outcome, cause, state). The first 64 values of each are kept; later values are counted as
//     "other".
//   - When a session is closed, its gauges are removed, so that no gauge reports a leader or a
//     queue that is gone. Counters and histograms stay, because rates need them.
//   - The code that emits an event measures its duration, around the call.
//
// # Failures
//
// [New] returns an error when one of the names is taken in the registry. Nothing is then
// registered. Two instances in one process that share a Metrics without [WithInstanceLabel]
// overwrite each other's gauges.
package metrics
