// Package guard runs a program so that its roles are free a few milliseconds after it has died,
// also with a long TTL.
//
// Without a guard a crash is noticed when the lease of the process has stood still for its TTL. A
// guard is the parent of the process. It learns of the end from the kernel, ends the session in the
// bucket, and the next in line leads.
//
//	rolectl guard -- ./app --verbose
//
// is the same as a command, for systemd units and as the entry point of a container. The program
// needs no change: any process with a session of package roles or election tells its guard.
//
// [Serve] guards processes that it has not started, by a socket: several ones on a machine, or
// those of a pod to which it is a sidecar. The kernel says who has sent each packet, and the end of
// that process is seen on a pidfd. There a session is ended only when nobody is left in the cgroup
// or the PID namespace of the process, which is not the guard's own.
//
// # Promises
//
//   - The session is ended only when the program and all its descendants have ended. [Run] is their
//     subreaper, and has no child any more. A pipe that closes, a lost connection or a missed
//     heartbeat proves nothing.
//   - Only a lease is ended that the program has named, by compare-and-swap on exactly that lease.
//     A session that another process holds under the same instance is left alone.
//   - The record says killed, by guard: tasks of the process count as lost, as after any crash.
//   - If the evidence or the server is missing, nothing is written, and the TTL decides. So a guard
//     makes fail-over faster, and never makes it unsafe.
//
// # What is not promised
//
// Bytes that the program has sent before its end may still arrive: those in the buffer of a socket
// were read seconds later. So effects outside the bucket need the fencing token, as they do without
// a guard.
//
// A program that has others do its work (a container engine, a remote shell, systemd-run) is not
// seen to its end: these processes are not its descendants. Neither is one that joins the PID
// namespace of somebody else and leaves its parent there.
//
// A guard needs Linux. On other systems [Run] returns [ErrUnsupported].
package guard
