// Command multi-role is the whole library at work in half a minute, on real input, with real
// faults.
//
//	go run ./examples/multi-role
//
// It starts a NATS server in this process (on loopback, open to this machine), three instances with
// a connection each, and a worker in a process of its own. The instances contend for three roles:
//
//	scheduler   hands out a task for each file of a tree; all instances and the worker hash them
//	metrics     scrapes the Prometheus endpoint of every member, and serves all of them as one
//	network     measures the round trip to every member
//
// The roles are spread over the instances. Then three faults come:
//
//   - The process of the worker is killed (SIGKILL) while it runs tasks. It has a guard, which ends
//     its session at once, and they run again elsewhere.
//   - The leader of the scheduler role vanishes: its network path drops every byte. It is not told,
//     and stops by itself when its lease has run out, before another instance leads. The next
//     leader adopts the tasks that run elsewhere.
//   - Another leader is stopped gracefully: it hands over when its work has returned.
//
// Every task is done nevertheless, and each digest is compared with one that is computed here.
//
// The largest files go first (priority). A task leaves checkpoints, and a rerun continues from
// there. The largest file gets a second task, a twin, which is cancelled while it runs. And once a
// second a recurring task takes stock of the tree: each second has one task, through all
// fail-overs.
//
// # Output
//
//   - tasks: every submitted task has exactly one outcome, with the right digest; reruns are
//     attempts beyond the first
//   - ticks: each second from the first to the last has one, through all fail-overs
//   - killed: the tasks that the worker ran when it was killed, the instances that ran them again,
//     and when the last one did: as soon as it had a free place for it
//   - fail-over: from the moment at which the leader vanished, or at which the work of a stopped
//     leader had returned, to the first line of the next leader's work
//   - overlaps: each Lead records its first and its last moment on the one monotonic clock of this
//     process; no two of them may share time in one role. Clocks of two processes cannot be
//     compared, so with several processes it is not known
//
// The exit status is 0 if nothing was lost, wrong or overlapped, and no instance or worker has
// ended by itself. A file that cannot be read, or is gone, is a failure that its outcome reports.
// It breaks no promise.
//
// With -nats it uses a server or cluster of yours. Several processes on one URL form one cluster,
// each with tasks of its own. They must see the same files. With -http it serves the live page of
// package dashboard about all of that, and -once=false keeps it there afterwards. The flag -help
// lists the rest.
//
// # The program
//
// These files are to be read in this order, and to be copied. They import public packages only.
//
//	instance.go    a role manager with its three roles, from its parts to the graceful end
//	worker.go      a process without roles, which runs tasks
//	guard.go       the parent of that process, for the case that it crashes
//	scheduler.go   tasks: the leader hands them out, every member runs them
//	checksum.go    a kind of task and its handler, with progress and checkpoints
//	inventory.go   a task that recurs, and a list of what became of it
//	network.go     a role with a loop as its work, and a part that is attached to the session
//	metrics.go     another role; the HTTP endpoint of a member
//	submit.go      submitting tasks and waiting for outcomes; cancelling
//
// Only main.go knows the stage (internal/stage). The stage starts the instances and the worker,
// does harm to them from outside, and reports what came of it.
package main
