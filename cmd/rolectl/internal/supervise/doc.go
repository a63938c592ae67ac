// Package supervise runs a command for no longer than a lease is believed in, whatever becomes of the process that holds the
// lease.
//
//	rolectl ──── deadlines, over a pipe ────▶ guard          the guard is rolectl once more, and leads the process group:
//	   │                                        │            the group cannot be mistaken for another as long as it lives
//	   └── TERM, KILL ──▶ process group ◀───────┘
//	                      guard, command, and what the command starts
//
// # Who is authoritative
//
// The lease: Lease.Left says for how much longer it is believed in. Before that has passed, nothing of the command runs any
// more. Deadlines are instants of a clock that all processes of a machine share and that counts the time it sleeps.
//
// # Promises
//
//   - TERM goes to the whole group when there is little left, KILL when there is hardly any; also while rolectl is stopped
//     (SIGSTOP, a debugger) or has been killed: then the guard does it.
//   - When the command ends, what it has left behind in its group is ended too, before Run returns.
//   - Run returns when nobody is left in the group but the dead.
//
// # Failures
//
// A process that leaves the group (setsid, a daemon) is not followed. Stopping rolectl and the guard together, or the whole
// machine, stops the one clock that could have noticed; what runs on afterwards does so until they run again. A guard that
// is killed takes the command with it. For all of that there are fencing tokens: the command has one in its environment.
//
// Files: lease.go what the holder says · run.go one run from start to end · guard.go rolectl's end of the guard ·
// guardian.go the guard itself · command.go the command · group_*.go who is in a process group.
package supervise
