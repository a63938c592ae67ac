// Package supervise runs a command no longer than a lease is trusted, even if the process that
// holds the lease is stopped or killed.
//
// The guard, a second rolectl, starts the command, in a process group that the guard leads. rolectl
// tells the guard the deadlines over a pipe, and both send TERM and KILL. Both are subreapers
// (package offspring): a process that leaves the group stays a descendant of them, whichever of the
// two is killed.
//
// # Authority
//
// The lease decides: Lease.Left says how much longer it is trusted. When that time has passed, no
// process of the command runs. Deadlines are instants of a clock that all processes of a machine
// share and that also counts the time of a suspended machine.
//
// # Promises
//
//   - The command and all its descendants get TERM some time before the lease ends, and KILL
//     shortly before. If rolectl is stopped (SIGSTOP, a debugger) or killed, the guard sends both.
//   - When the command ends, the processes that it leaves behind are ended too, before Run returns.
//   - Run returns when no descendant of the command runs any more.
//
// # Failures
//
// If rolectl and the guard are both stopped, or the whole machine is, nothing can end the command
// until they run again; if both are killed, nothing does. A guard that is killed takes the command
// with it. A process that another one starts for the command (a container engine, systemd) is not
// followed. Without subreapers, as on macOS, only the process group is. Fencing tokens protect
// against all of this: the command has one in its environment.
package supervise
