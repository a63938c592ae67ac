// Package exporter turns what an observer sees of a bucket into Prometheus metrics: the bucket's
// truth, as against what each process says about itself in package metrics.
//
// Every name has the label bucket.
//
//	roles_leader_info{role,leader}                        1; absent while nobody leads the role
//	roles_epoch{role}                                     epoch of the present term; absent while nobody holds the role
//	roles_vacant_seconds{role}                            for how long nobody has led, 0 while somebody leads
//	roles_candidates{role}                                members that would lead the role, the leader included
//	roles_waiting{role}                                   members that wait to lead another role; absent for none
//	roles_paused_seconds{role}                            for how long it has been paused for all; absent while it is not
//	roles_zone_drained_seconds{zone}                      for how long the zone has been drained; absent while it is not
//	roles_member_heartbeat_age_seconds{member,class}      age of the last heartbeat; class is candidate or worker
//	roles_member_ttl_seconds{member,class}                how old it may become
//	roles_doctor_findings{severity}                       findings of rolectl doctor: warning, critical and unknown
//	roles_stream_used_ratio{stream,limit}                 how much of a limit is used; limit is bytes or records
//	roles_view_age_seconds                                for how long what is seen may be old, 0 while it is not
//
// # Promises
//
//   - While the view is older than its bound, nothing but roles_view_age_seconds is shown: an old
//     picture never looks like a present one.
//   - Two exporters of one bucket show the same, but for the time that a record is under way.
//   - A role that was left cleanly, and that nobody contends for, has no roles_vacant_seconds: it
//     may no longer be used. Nor has one whose record cannot be read, since it may be led, or one
//     that is paused for all, which nobody is to lead.
//   - Findings and streams leave when they have not been looked at again in time.
package exporter
