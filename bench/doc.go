// Package bench measures what the library promises: how fast a role is led again, and what a
// process costs.
//
//	go test -tags realtime -run '^$' -bench . ./bench
//
// The tag keeps them out of an ordinary go test ./..., which would link a server for no test.
//
// One operation of the fail-over benchmarks is a whole campaign of fail-overs, so a plain run is
// enough; figures are reported as metrics of their own, with the median, the 99th percentile (of
// less than 100 samples the largest) and their number. Nothing here asserts a time: what a machine
// does depends on what else it does. Where a figure depends on how late timers are, the lateness of
// this very run is reported beside it (overshoot-p99).
//
// The aims, on two cores:
//
//	Crash            the link of the leader is dropped → OnPromote elsewhere   p99 ≤ TTL + 50 ms + overshoot
//	Handover         the work has drained → OnPromote elsewhere, loopback      p50 ≤ 1 ms, p99 ≤ 5 ms
//	MassFailover     the session is killed → the last of N promotions          1,000: ≤ 50 ms; 10,000: ≤ 500 ms
//	IsLeader         against the reading of the clock in it                    ≤ 1.25 ×, 0 allocations
//	GuardAdmit       the same token again                                      ≤ 100 ns, 0 allocations
//	Heartbeats       writes per interval, for 1 and for 1,000 roles            1
//	Tasks            submit to outcome, file store, everything in one process  ≥ 25,000/s; three servers ≥ 10,000/s
//	TaskLatency      the same of one task at a time, idle                      p50 ≤ 250 µs, elsewhere 350 µs
//	Backlog, …Crash  promotion → handing out, with 100,000 open tasks          ≤ 1 s
//	Rerun            kill -9 of a worker → its tasks run elsewhere             ≤ TTL + 200 ms
//	FollowedRole     heap per role followed, goroutines                        ≤ 1 KiB, 0
//
// And without an aim: MassFailoverTogether (1,000 roles on stores that sync or do not, with claims
// in batches and without, in turn), Claim (takes part in a free role → leads it), ColdStart (a
// session in an empty place → it leads all its roles), LivedBucket (the same of one role, where
// many sessions have ended), RoleNames (a role is led and given up, under one name or fresh ones),
// Member (heap and goroutines of one more session in a process).
//
// Beside it: peers (a module of its own: other libraries at the same jobs), scale (costs over one
// axis at a time), proc and figures (parts as processes of their own; samples as rows), report
// (runs everything and writes docs/explanation/benchmarks.md).
package bench
