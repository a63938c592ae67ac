// Package supervise runs a command no longer than a lease is trusted, even if the process that
// holds the lease is stopped or killed.
//
// The guard, a second rolectl, leads the process group of the command. The group keeps its number
// while the guard is alive. rolectl tells the guard the deadlines over a pipe, and both send TERM
// and KILL to the group.
//
// # Authority
//
// The lease decides: Lease.Left says how much longer it is trusted. When that time has passed, no
// process of the command runs. Deadlines are instants of a clock that all processes of a machine
// share and that also counts the time of a suspended machine.
//
// # Promises
//
//   - The whole group gets TERM some time before the lease ends, and KILL shortly before. If
//     rolectl is stopped (SIGSTOP, a debugger) or killed, the guard sends both.
//   - When the command ends, the processes that it leaves in its group are ended too, before Run
//     returns.
//   - Run returns when no process of the group runs any more.
//
// # Failures
//
// A process that leaves the group (setsid, a daemon) is not followed. If rolectl and the guard are
// both stopped, or the whole machine is, nothing can end the command until they run again. A killed
// guard takes the command with it. Fencing tokens protect against all of this: the command has one
// in its environment.
package supervise
