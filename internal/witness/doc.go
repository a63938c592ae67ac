// Package witness sees the end of a process that this process has not started, and of all that may
// act for it.
//
// The process is known by a pidfd, which no other process ever gets. Its number says nothing once
// it has ended: the kernel gives it to others.
//
// # Evidence
//
// The end of the process is not enough: its children may hold what it held. So a process is gone
// only when nobody is left in its scope, which is one of these.
//
//   - Its PID namespace, if that is a child of ours: the kernel ends all of it with its first
//     process. That end is seen on a pidfd too.
//   - Its cgroup, if we are not in it: the kernel says when no process is in it and below it.
//   - Where the cgroup cannot be opened, as in a container beside it: all processes of our PID
//     namespace are asked for their cgroups. No process may be created meanwhile.
//
// Of any other process nothing is known: Watch returns an error, and the caller does nothing.
package witness
